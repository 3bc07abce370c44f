/*
 * Step 2: a row trigger on the partition that moves. While a mover holds the slot's move object it
 * refuses; once nobody does, the old owner is the owner still and it lets through.
 */
#include "pg/map/catalog.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"
#include "pg/subtransaction.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

constexpr const char *kFence = "shardkit_fence";

const char *AlterWord(const char *qualified)
{
	const auto kind =
		AskText(nullptr, psprintf("SELECT relkind FROM pg_class WHERE oid = %s::regclass",
							 quote_literal_cstr(qualified)));
	return kind != nullptr && kind[0] == RELKIND_FOREIGN_TABLE ? "FOREIGN TABLE" : "TABLE";
}

void CreateFence(const ServerMove &move, const ServerTable &table)
{
	const char *partition = Qualified(table.partition_schema, table.partition_name);
	RunAsCaller(psprintf("CREATE OR REPLACE TRIGGER %s BEFORE INSERT OR UPDATE OR DELETE ON %s "
						 "FOR EACH ROW EXECUTE FUNCTION shardkit.fence('%d', '%d')",
		kFence, partition, move.map_id, move.slot));
	RunAsCaller(
		psprintf("ALTER %s %s ENABLE ALWAYS TRIGGER %s", AlterWord(partition), partition, kFence));
}

} // namespace

/* Where the partitions are locked no writer without the trigger is left. Committed. */
void RaiseFence(ServerMove &move)
{
	const auto count = static_cast<Size>(move.tables_count);
	auto *wanted = static_cast<Wanted *>(palloc0(sizeof(Wanted) * (count + 1)));
	wanted[0] = {MapObject(move.map_id), RowShareLock, "the map"};
	for (int i = 0; i < move.tables_count; ++i)
		wanted[i + 1] = {RelationObject(move.tables[i].partition), ShareRowExclusiveLock,
			psprintf("table %s",
				Qualified(move.tables[i].partition_schema, move.tables[i].partition_name))};
	LockAllInRounds(move, wanted, move.tables_count + 1);
	InSubtransaction([&move] {
		for (int i = 0; i < move.tables_count; ++i) {
			CreateFreshRelation(move, move.tables[i]);
			CreateFence(move, move.tables[i]);
			SetMoveState(move.tables[i].id, "fenced", nullptr, false);
		}
	});
	Commit();
}

bool HasFence(Oid relation)
{
	return AskText(
			   nullptr, psprintf("SELECT 1 FROM pg_trigger WHERE tgname = '%s' AND tgrelid = %u",
							kFence, relation)) != nullptr;
}

/* No error where it is not there. */
void DropFence(const char *schema, const char *name)
{
	RunAsCaller(psprintf("DROP TRIGGER IF EXISTS %s ON %s", kFence, Qualified(schema, name)));
}

void SetMoveState(int64 id, const char *state, const char *error, bool finished)
{
	RunOnCatalog("UPDATE shardkit.move_log SET state = $2, error = $3, finished_at = "
				 "CASE WHEN $4 = 1 THEN clock_timestamp() END WHERE id = $1",
		{SqlBigint(id), SqlText(state), SqlText(error), SqlInt(finished ? 1 : 0)});
}

} // namespace shardkit

using namespace shardkit;

namespace
{

int32 Argument(const Trigger *trigger, int at)
{
	if (trigger->tgnargs != 2)
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						   errmsg("trigger \"%s\" needs a map and a slot", trigger->tgname)));
	return pg_strtoint32(trigger->tgargs[at]);
}

} // namespace

SHARDKIT_FUNCTION(shardkit_fence)
Datum shardkit_fence(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						   errmsg("this function is called by a trigger only")));
	const auto *call = reinterpret_cast<TriggerData *>(fcinfo->context);
	const int32 map = Argument(call->tg_trigger, 0);
	const int32 slot = Argument(call->tg_trigger, 1);
	if (slot < 0 || slot >= kMaxSlots)
		ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("no slot %d", slot)));
	const auto object = MoveObject(map, slot);
	/* The weakest mode that a mover's EXCLUSIVE keeps off; other writers do not meet. */
	if (LockAcquire(&object, RowShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("slot %d is in transit to another node", slot),
				errdetail("Its rows are being moved by %s.", DescribeHolders(object, RowShareLock)),
				errhint("Retry the transaction.")));
	LockRelease(&object, RowShareLock, false);
	return PointerGetDatum(
		TRIGGER_FIRED_BY_UPDATE(call->tg_event) ? call->tg_newtuple : call->tg_trigtuple);
}

SHARDKIT_FUNCTION(shardkit_moved_away)
Datum shardkit_moved_away(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						   errmsg("this function is called by a trigger only")));
	const auto *call = reinterpret_cast<TriggerData *>(fcinfo->context);
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					   errmsg("the rows of table \"%s\" have moved to another node",
						   RelationGetRelationName(call->tg_relation)),
					   errhint("Retry the transaction through the partitioned table.")));
	return PointerGetDatum(nullptr);
}
