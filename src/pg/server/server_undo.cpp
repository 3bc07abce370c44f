/*
 * Takes a try away again. Only what bears the try's own number is dropped, and only while the log
 * says that it has not been swapped in.
 */
#include "pg/map/catalog.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"
#include "pg/subtransaction.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* The try's relation on the coordinator; attached it would be a partition, and stays. */
void DropFreshRelation(const ServerTable &table)
{
	const Oid schema = get_namespace_oid(table.new_schema, true);
	const Oid fresh = OidIsValid(schema) ? get_relname_relid(table.fresh_name, schema) : InvalidOid;
	if (!OidIsValid(fresh))
		return;
	if (get_rel_relispartition(fresh))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						   errmsg("table %s is a partition although its move was not finished",
							   Qualified(table.new_schema, table.fresh_name))));
	RunAsCaller(psprintf("DROP %s %s",
		get_rel_relkind(fresh) == RELKIND_FOREIGN_TABLE ? "FOREIGN TABLE" : "TABLE",
		Qualified(table.new_schema, table.fresh_name)));
}

/* With a mark of our own: a copy of this coordinator that is behind us stays away from now on. */
void DropRemoteTable(const ServerMove &move, const ServerTable &table)
{
	if (IsReferred(table.to))
		ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("a partition stands for table %s of server \"%s\" although its move was not "
					   "finished",
					Qualified(table.to), table.to.server)));
	auto *link = OpenLink(table.to.server, false);
	Ask(link, "BEGIN");
	HoldSlot(link, move.map, move.slot);
	if (AskText(link, psprintf("SELECT to_regnamespace(%s)::text",
						  quote_literal_cstr(QuoteName(table.to.schema)))) != nullptr) {
		TakeMark(link, table.to.schema, move.map, move.epoch, move.mark);
		Ask(link, psprintf("DROP TABLE IF EXISTS %s", Qualified(table.to)));
	}
	Ask(link, "COMMIT");
	CloseLink(link);
}

void UndoTable(const ServerMove &move, const ServerTable &table)
{
	if (!TryDropFence(table.partition_schema, table.partition_name))
		ereport(NOTICE, (errmsg("the fence on table %s stays for now, and lets every write through",
							 Qualified(table.partition_schema, table.partition_name)),
							errdetail("A reader holds the table."),
							errhint("CALL shardkit.resume_moves(%s) takes it away later.",
								quote_literal_cstr(move.map))));
	DropFreshRelation(table);
	if (table.to.server != nullptr)
		DropRemoteTable(move, table);
}

} // namespace

/* DROP TRIGGER meets readers; while one keeps the table it is not waited for. */
bool TryDropFence(const char *schema_name, const char *name)
{
	constexpr int kRounds = 10;
	const Oid schema = get_namespace_oid(schema_name, true);
	const Oid partition = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
	if (!OidIsValid(partition) || !HasFence(partition))
		return true;
	const Wanted wanted = {RelationObject(partition), AccessExclusiveLock, name};
	for (int round = 0; round < kRounds; ++round) {
		int busy = 0;
		if (LockWithin(&wanted, 1, &busy, round)) {
			DropFence(schema_name, name);
			return true;
		}
		Doze(50);
	}
	return false;
}

/*
 * In a subtransaction, so that a server which cannot be reached leaves the log as it is. False, with
 * the reason as a warning: resume_moves has to come back. Not committed here.
 */
bool UndoMove(const ServerMove &move, const char *reason)
{
	volatile bool undone = true;
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		for (int i = 0; i < move.tables_count; ++i) {
			UndoTable(move, move.tables[i]);
			SetMoveState(move.tables[i].id, "undone", reason, true);
		}
		RunOnCatalog("UPDATE shardkit.slot_map SET moving_to = NULL WHERE map = $1 AND slot = $2",
			{SqlText(move.map), SqlInt(move.slot)});
		CommitSubtransaction(sub);
	}
	PG_CATCH();
	{
		auto *error = AbortAfterError(sub);
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		ereport(WARNING,
			(errmsg("the move of slot %d of map \"%s\" is not undone yet", move.slot, move.map),
				errdetail_internal("%s", error->message),
				errhint("CALL shardkit.resume_moves(%s) when the cause is gone.",
					quote_literal_cstr(move.map))));
		FreeErrorData(error);
		undone = false;
	}
	PG_END_TRY();
	return undone;
}

} // namespace shardkit
