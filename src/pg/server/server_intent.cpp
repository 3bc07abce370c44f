/* Step 1: what is about to happen is written down and committed, then left as a mark on the servers. */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"
#include "pg/subtransaction.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

void WriteTable(const ServerMove &move, const ServerTable &table, int64 epoch)
{
	RunOnCatalog(
		"INSERT INTO shardkit.move_log (id, map, slot, relation, from_node, to_node, state, epoch) "
		"VALUES ($1, $2, $3, $4, $5, $6, 'intent', $7)",
		{SqlBigint(table.id), SqlText(move.map), SqlInt(move.slot), SqlText(table.relation),
			SqlText(move.from_node), SqlText(move.to_node), SqlBigint(epoch)});
	RunOnCatalog("INSERT INTO shardkit.server_move (id, partition_schema, partition_name, "
				 "new_schema, fresh_name, kept_name, from_server, from_schema, from_table, "
				 "to_server, to_schema, to_table) "
				 "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
		{SqlBigint(table.id), SqlName(table.partition_schema), SqlName(table.partition_name),
			SqlName(table.new_schema), SqlName(table.fresh_name), SqlName(table.kept_name),
			SqlName(table.from.server), SqlText(table.from.schema), SqlText(table.from.table),
			SqlName(table.to.server), SqlText(table.to.schema), SqlText(table.to.table)});
}

void CheckNothingUnfinished(const ServerMove &move)
{
	if (RunOnCatalog("SELECT FROM shardkit.move_log WHERE map = $1 AND slot = $2 "
					 "AND finished_at IS NULL",
			{SqlText(move.map), SqlInt(move.slot)}) > 0)
		ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("an earlier move of slot %d of map \"%s\" is not finished", move.slot,
					move.map),
				errhint("CALL shardkit.resume_moves(%s) first.", quote_literal_cstr(move.map))));
}

/* A node of the map that lies on a server but has no part in this move. */
struct Bystander {
	const char *server;
	const char *schema;
	Link *link;
};

/* nullptr, with a warning, where the server cannot be reached: it has no part in the move. */
Link *OpenBystander(const char *server)
{
	Link *volatile link = nullptr;
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		link = OpenLink(server, true);
		CommitSubtransaction(sub);
	}
	PG_CATCH();
	{
		auto *error = AbortAfterError(sub);
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		ereport(WARNING,
			(errmsg("server \"%s\" was not asked whether another copy of this database has used it",
				 server),
				errdetail_internal("%s", error->message)));
		FreeErrorData(error);
		link = nullptr;
	}
	PG_END_TRY();
	return link;
}

bool HasPart(const ServerMove &move, const char *server)
{
	const auto same = [server](const char *other) {
		return other != nullptr && strcmp(other, server) == 0;
	};
	return same(move.from_server) || same(move.to_server);
}

/* Every other server of the map, so that a copy of the coordinator is seen wherever it moves next. */
Bystander *OpenBystanders(const ServerMove &move, int *count)
{
	const auto &map = GetMap(move.map);
	auto *all = static_cast<Bystander *>(palloc0(sizeof(Bystander) * (map.nodes.size() + 1)));
	int others = 0;
	for (const auto &node : map.nodes)
		if (node.server != nullptr && !HasPart(move, node.server))
			all[others++] = {pstrdup(node.server), pstrdup(node.schema), nullptr};
	/* The map's entry is not looked at any more: what fails here ends a subtransaction. */
	for (int i = 0; i < others; ++i) {
		auto *link = OpenBystander(all[i].server);
		if (link != nullptr &&
			AskText(link, psprintf("SELECT to_regnamespace(%s)::text",
							  quote_literal_cstr(QuoteName(all[i].schema)))) != nullptr)
			all[(*count)++] = {all[i].server, all[i].schema, link};
		else if (link != nullptr)
			CloseLink(link);
	}
	return all;
}

void MarkSides(const ServerMove &move, int64 epoch)
{
	const auto &table = move.tables[0];
	if (move.from_server != nullptr)
		TakeMark(move.source, table.from.schema, move.map, epoch, move.mark);
	if (move.to_server != nullptr) {
		EnsureSchema(move.target, table.to.schema);
		TakeMark(move.target, table.to.schema, move.map, epoch, move.mark);
	}
}

} // namespace

void WriteIntent(ServerMove &move)
{
	int bystanders_count = 0;
	auto *bystanders = OpenBystanders(move, &bystanders_count);
	for (int i = 0; i < bystanders_count; ++i)
		CheckMark(bystanders[i].link, bystanders[i].schema, move.map);
	CheckMarks(move);

	const Wanted map_lock = {MapObject(move.map_id), RowShareLock, "the map"};
	LockAllInRounds(move, &map_lock, 1);
	CheckNothingUnfinished(move);
	move.mark = NewMark();
	auto *change = BeginChange("move_begins");
	AddNumber(change, "slot", move.slot);
	AddText(change, "from", move.from_node);
	AddText(change, "to", move.to_node);
	AddText(change, "mark", move.mark);
	const int64 epoch = LogChange(GetMap(move.map), change);
	for (int i = 0; i < move.tables_count; ++i)
		WriteTable(move, move.tables[i], epoch);
	RunOnCatalog("UPDATE shardkit.slot_map SET moving_to = $3 WHERE map = $1 AND slot = $2",
		{SqlText(move.map), SqlInt(move.slot), SqlText(move.to_node)});
	Commit();

	MarkSides(move, epoch);
	for (int i = 0; i < bystanders_count; ++i) {
		TakeMark(bystanders[i].link, bystanders[i].schema, move.map, epoch, move.mark);
		CloseLink(bystanders[i].link);
	}
	for (int i = 0; i < move.tables_count; ++i)
		if (move.to_server != nullptr)
			CreateRemoteTable(move, move.tables[i]);
}

} // namespace shardkit
