/* Steps 3 and 4: the rows, and the wait for everyone who could still look past them. */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/move/move_progress.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

void Watch(void *context, const RowSum &)
{
	LookForWaiters(*static_cast<ServerMove *>(context));
}

/* What a stream has brought so far; progress is told what is new. */
struct Copying {
	ServerMove *move;
	RowSum reported;
};

void WatchCopy(void *context, const RowSum &so_far)
{
	auto *copying = static_cast<Copying *>(context);
	ReportRows(static_cast<int64>(so_far.rows - copying->reported.rows),
		static_cast<int64>(so_far.bytes - copying->reported.bytes));
	copying->reported = so_far;
	LookForWaiters(*copying->move);
}

/* What was read before the locks still holds. */
void CheckUnchanged(const ServerMove &move)
{
	const auto &map = GetMap(move.map);
	const auto *owner = OwnerName(map, move.slot);
	bool same = map.id == move.map_id && owner != nullptr && strcmp(owner, move.from_node) == 0;
	for (int i = 0; same && i < move.tables_count; ++i) {
		const auto &table = move.tables[i];
		same = PartitionOfSlot(table.parent, move.slots, move.slot) == table.partition;
	}
	if (!same)
		ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("slot %d of map \"%s\" has changed under the move", move.slot, move.map),
				errhint("Call again.")));
}

void CheckShapes(const ServerMove &move)
{
	for (int i = 0; i < move.tables_count; ++i) {
		const auto &table = move.tables[i];
		const char *parent =
			ShapeOf(nullptr, Qualified(get_namespace_name(get_rel_namespace(table.parent)),
								 get_rel_name(table.parent)));
		const char *from = ShapeOf(move.source, Qualified(table.from));
		const char *to = ShapeOf(move.target, Qualified(table.to));
		if (parent == nullptr || from == nullptr || to == nullptr || strcmp(parent, from) != 0 ||
			strcmp(parent, to) != 0)
			ereport(
				ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						   errmsg("table %s has another shape on a node than on the coordinator",
							   table.relation),
						   errdetail("Coordinator: %s; source: %s; target: %s.",
							   parent == nullptr ? "none" : parent, from == nullptr ? "none" : from,
							   to == nullptr ? "none" : to),
						   errhint("Give the tables the same columns, then call again.")));
	}
}

const char *RemoteHolders(const ServerMove &move, const ServerTable &table)
{
	const char *holders = AskText(move.source,
		psprintf(
			"SELECT string_agg(DISTINCT l.pid::text, ', ') FROM pg_locks l "
			"WHERE l.relation = to_regclass(%s) AND l.granted AND l.pid <> pg_backend_pid() "
			"AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
			quote_literal_cstr(Qualified(table.from))));
	return holders == nullptr ? "a session that has ended" : holders;
}

/*
 * SHARE over there until the swap: a commit that a killed session left on its way, and whoever
 * writes past the coordinator, is waited for and then kept out.
 */
void LockSource(ServerMove &move)
{
	const auto give_up = PatienceOf(move);
	for (;;) {
		const char *failure = nullptr;
		const ServerTable *busy = nullptr;
		Ask(move.source, "BEGIN");
		HoldSlot(move.source, move.map, move.slot);
		for (int i = 0; i < move.tables_count && failure == nullptr; ++i) {
			busy = &move.tables[i];
			failure = Try(
				move.source, psprintf("LOCK TABLE ONLY %s IN SHARE MODE", Qualified(busy->from)));
		}
		if (failure == nullptr)
			return;
		Ask(move.source, "ROLLBACK");
		if (strcmp(failure, "55P03") != 0 || GetCurrentTimestamp() >= give_up)
			ereport(ERROR,
				(errcode(MAKE_SQLSTATE(failure[0], failure[1], failure[2], failure[3], failure[4])),
					errmsg(
						"slot %d of map \"%s\" did not move: table %s of server \"%s\" cannot be "
						"locked",
						move.slot, move.map, Qualified(busy->from), move.from_server),
					errdetail("Processes there that hold it: %s.", RemoteHolders(move, *busy)),
					errhint("Call again when they have ended.")));
		LookForWaiters(move);
		Doze(100);
	}
}

void LookWhileWaiting(void *context)
{
	LookForWaiters(*static_cast<ServerMove *>(context));
}

/* Users come first in long waits too: for an index over there, or an aggregate. */
void WatchLinks(ServerMove &move, bool watch)
{
	for (auto *link : {move.source, move.target}) {
		link->on_wait = watch ? LookWhileWaiting : nullptr;
		link->wait_context = &move;
	}
}

/* With shardkit over there the rows need not come here; "": it is not there. */
const char *Aggregate(ServerMove &move, const ServerTable &table)
{
	if (AskText(move.target,
			"SELECT 'here' FROM pg_extension WHERE extname = 'shardkit' AND to_regprocedure("
			"'shardkit.fingerprint(record)') IS NOT NULL") == nullptr)
		return "";
	StringInfoData query;
	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT count(*), shardkit.fingerprint(r) FROM (SELECT ");
	for (int i = 0; i < table.columns.count; ++i)
		appendStringInfo(&query, "%s%s", i > 0 ? ", " : "", QuoteName(table.columns.names[i]));
	appendStringInfo(&query, " FROM ONLY %s) AS r", Qualified(table.to));
	return query.data;
}

/* The rows as they are stored on the target now. */
RowSum ReadBack(ServerMove &move, const ServerTable &table)
{
	if (const char *query = Aggregate(move, table); query[0] != '\0') {
		const auto answer = Ask(move.target, query);
		return SumFromText(answer.At(0, 0), answer.At(0, 1));
	}
	return ReadRows(move.target, CopyStatement(table.to, table.columns, "TO STDOUT"), table.columns,
		{Watch, &move});
}

void CompareStored(ServerMove &move, ServerTable &table)
{
	table.stored = ReadBack(move, table);
	if (!SameRows(table.stored, table.sum))
		ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
				errmsg(
					"slot %d of map \"%s\" did not move: the target holds other rows of table %s "
					"than the source",
					move.slot, move.map, table.relation),
				errdetail(UINT64_FORMAT " rows left, " UINT64_FORMAT " are there.", table.sum.rows,
					table.stored.rows),
				errhint("A trigger, rule or default on the target changes rows, or a type has "
						"another binary form there.")));
}

/* From here to the end of the move: a copy of this coordinator that comes now waits, and is late. */
void HoldTarget(ServerMove &move)
{
	Ask(move.target, "BEGIN");
	HoldSlot(move.target, move.map, move.slot);
}

} // namespace

/* In the transaction that lasts to the swap. Its move object is the session's already. */
void LockForCopy(ServerMove &move)
{
	const auto count = static_cast<Size>(move.tables_count);
	auto *wanted = static_cast<Wanted *>(palloc0(sizeof(Wanted) * (count + 2)));
	wanted[0] = {MapObject(move.map_id), RowShareLock, "the map"};
	wanted[1] = {OwnerObject(move.map_id, move.slot), ExclusiveLock, "the slot's owner"};
	for (int i = 0; i < move.tables_count; ++i)
		wanted[i + 2] = {RelationObject(move.tables[i].partition), ShareRowExclusiveLock,
			psprintf("table %s",
				Qualified(move.tables[i].partition_schema, move.tables[i].partition_name))};
	LockAllInRounds(move, wanted, move.tables_count + 2);
	/* All writers who had passed the fence have ended. Readers of the table never met us. */
	for (int i = 0; i < move.tables_count; ++i) {
		const auto object = RelationObject(move.tables[i].partition);
		(void)LockAcquire(&object, ShareUpdateExclusiveLock, false, false);
		LockRelease(&object, ShareRowExclusiveLock, false);
	}
	CheckUnchanged(move);
}

void CopySlot(ServerMove &move)
{
	CheckShapes(move);
	WatchLinks(move, true);
	if (move.from_server != nullptr)
		LockSource(move);
	InvalidateCatalogSnapshot();
	Ask(move.target, "BEGIN");
	if (move.to_server != nullptr)
		HoldSlot(move.target, move.map, move.slot);
	ReportPhase(Phase::kMoving);
	for (int i = 0; i < move.tables_count; ++i) {
		auto &table = move.tables[i];
		Copying copying = {&move, {}};
		ReportTable(table.partition);
		table.sum = StreamRows(move.source, CopyStatement(table.from, table.columns, "TO STDOUT"),
			move.target, CopyStatement(table.to, table.columns, "FROM STDIN"), table.columns,
			{WatchCopy, &copying});
		WatchCopy(&copying, table.sum);
		CreateIndexes(move, table);
		Ask(move.target, psprintf("ANALYZE %s", Qualified(table.to)));
	}
	Ask(move.target, "COMMIT");
}

/* Still the servers' last mover, and both connections alive. */
void CheckMarks(const ServerMove &move)
{
	if (move.from_server != nullptr)
		CheckMark(move.source, move.tables[0].from.schema, move.map);
	if (move.to_server != nullptr)
		CheckMark(move.target, move.tables[0].to.schema, move.map);
}

/*
 * Every transaction that runs now may hold, or be about to use, a snapshot of the target from before
 * its commit: postgres_fdw keeps one a server and transaction. They are waited for, idle ones too.
 */
void Settle(ServerMove &move)
{
	int count = 0;
	const auto *running = GetCurrentVirtualXIDs(
		InvalidTransactionId, false, false, PROC_IN_VACUUM | PROC_IS_AUTOVACUUM, &count);
	ReportPhase(Phase::kChecking);
	for (int i = 0; i < move.tables_count; ++i)
		CompareStored(move, move.tables[i]);
	ReportPhase(Phase::kWaiting);
	if (move.to_server != nullptr)
		HoldTarget(move);
	const auto give_up = PatienceOf(move);
	for (int i = 0; i < count; ++i)
		while (!VirtualXactLock(running[i], false)) {
			LookForWaiters(move);
			if (GetCurrentTimestamp() >= give_up)
				ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
						errmsg("slot %d of map \"%s\" did not move: process %d has been in a "
							   "transaction since before the rows arrived",
							move.slot, move.map, ProcessOf(running[i])),
						errdetail("It might not see them; the move waited for max_wait and changed "
								  "nothing."),
						errhint("Call again when that transaction has ended, or give a longer "
								"max_wait.")));
			Doze(20);
		}
	WatchLinks(move, false);
}

} // namespace shardkit
