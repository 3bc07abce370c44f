/* The commands: one slot from or to a server, and what is to be done after something broke. */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/server/server_command.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"
#include "pg/subtransaction.hpp"

#include "pg/server/remote_pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
#include "nodes/parsenodes.h"
}

using namespace shardkit;

namespace
{

constexpr int64 kUndoWaitMs = 2000;

} // namespace

/* The steps commit: no transaction block of the caller's, no function, no frozen snapshot. */
void shardkit::CheckMayCommit(bool atomic, const char *command)
{
	if (atomic)
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
						   errmsg("%s commits, and cannot run inside a transaction block", command),
						   errhint("CALL it on its own.")));
	if (XactIsoLevel >= XACT_REPEATABLE_READ || DefaultXactIsoLevel >= XACT_REPEATABLE_READ)
		ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
						   errmsg("%s needs transactions that are READ COMMITTED", command),
						   errhint("SET default_transaction_isolation = 'read committed'.")));
}

namespace
{

/* The first of what would stop the move, with what cures it. */
void CheckHazards(const ServerMove &move)
{
	if (RunAsCaller("SELECT object, problem, fix FROM shardkit.server_move_hazards($1, $2, $3) "
					"WHERE severity = 'error' LIMIT 1",
			{SqlText(move.map), SqlInt(move.slot), SqlText(move.to_node)}) == 0)
		return;
	const auto text = [](int column) {
		return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
	};
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					   errmsg("slot %d of map \"%s\" cannot move to node \"%s\": %s: %s", move.slot,
						   move.map, move.to_node, text(1), text(2)),
					   errhint("%s", text(3))));
}

void TakeSteps(ServerMove &move)
{
	InSubtransaction([&move] { CheckHazards(move); });
	move.source = OpenLink(move.from_server, true);
	move.target = OpenLink(move.to_server, true);
	WriteIntent(move);
	PauseAfter("intent");
	RaiseFence(move);
	PauseAfter("fence");
	LockForCopy(move);
	CopySlot(move);
	PauseAfter("copy");
	Settle(move);
	PauseAfter("settle");
	Swap(move);
	Commit();
}

/* The error, in this call's memory, if the steps did not reach their end. */
ErrorData *TrySteps(ServerMove &move)
{
	ErrorData *volatile error = nullptr;
	const auto memory = CurrentMemoryContext;
	PG_TRY();
	{
		TakeSteps(move);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		error = CopyErrorData();
		FlushErrorState();
		/* Gives back all locks, the session's too, and closes the connections. */
		SPI_rollback();
	}
	PG_END_TRY();
	return error;
}

void WarnOldStay(const ServerMove &move, const char *reason)
{
	ereport(WARNING, (errmsg("slot %d of map \"%s\" has moved, but its old rows stay for now",
						  move.slot, move.map),
						 errdetail_internal("%s", reason),
						 errhint("CALL shardkit.resume_moves(%s) when the cause is gone.",
							 quote_literal_cstr(move.map))));
}

/* The move has happened: what fails now is a warning. False: the session's locks are given back. */
bool FinishDropping(ServerMove &move)
{
	volatile bool went_well = true;
	const auto memory = CurrentMemoryContext;
	PG_TRY();
	{
		PauseAfter("swap");
		if (!DropOldSide(move))
			WarnOldStay(move, "They are in use, or have changed; shardkit.move_log tells more.");
		CloseLink(move.source);
		CloseLink(move.target);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		auto *error = CopyErrorData();
		FlushErrorState();
		SPI_rollback();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		WarnOldStay(move, error->message);
		went_well = false;
	}
	PG_END_TRY();
	PauseAfter("drop");
	return went_well;
}

} // namespace

int64 shardkit::MoveServerSlot(
	const char *map_name, int32 slot, const char *to_node, int64 max_wait_ms)
{
	ServerMove move = {};
	move.max_wait_ms = max_wait_ms;
	const auto &map = GetMap(map_name);
	CheckMapOwner(map);
	if (slot < 0 || slot >= map.slots)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("map \"%s\" has slots 0 to %d, not %d", map_name, map.slots - 1, slot)));
	const auto object = MoveObject(map.id, slot);
	if (!HoldMoveObject(object))
		ereport(
			ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
					   errmsg("slot %d of map \"%s\" is being moved by %s", slot, map_name,
						   DescribeHolders(object, ExclusiveLock)),
					   errhint("Wait for that move to end, or cancel it with pg_cancel_backend.")));
	ReadServerMove(move, map_name, slot, to_node);
	if (strcmp(move.from_node, move.to_node) == 0 || move.tables_count == 0) {
		LockRelease(&object, ExclusiveLock, true);
		return 0;
	}
	if (auto *error = TrySteps(move); error != nullptr) {
		if (HoldMoveObject(object))
			TryResumeSlot(map_name, slot, kUndoWaitMs, error->message);
		ReThrowError(error);
	}
	int64 rows = 0;
	for (int i = 0; i < move.tables_count; ++i)
		rows += static_cast<int64>(move.tables[i].sum.rows);
	if (FinishDropping(move))
		LockRelease(&object, ExclusiveLock, true);
	return rows;
}

SHARDKIT_FUNCTION(shardkit_move_server_slot)
Datum shardkit_move_server_slot(PG_FUNCTION_ARGS)
{
	for (int i = 0; i < 4; ++i)
		if (PG_ARGISNULL(i))
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							   errmsg("map, slot, node and max_wait must not be null")));
	CheckMayCommit(IsAtomicCall(fcinfo), "a move between servers");
	TupleDesc shape = nullptr;
	if (get_call_result_type(fcinfo, nullptr, &shape) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	Datum rows =
		Int64GetDatum(MoveServerSlot(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_INT32(1),
			text_to_cstring(PG_GETARG_TEXT_PP(2)), Milliseconds(PG_GETARG_INTERVAL_P(3))));
	SPI_finish();
	bool null = false;
	if (get_call_result_type(fcinfo, nullptr, &shape) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(shape, &rows, &null)));
}
