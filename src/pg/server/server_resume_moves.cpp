/* CALL resume_moves(map): everything of a map that was broken off. */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/server/server_command.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

using namespace shardkit;

bool shardkit::IsAtomicCall(FunctionCallInfo fcinfo)
{
	return fcinfo->context == nullptr || !IsA(fcinfo->context, CallContext) ||
		   castNode(CallContext, fcinfo->context)->atomic;
}

int64 shardkit::Milliseconds(const Interval *interval)
{
	constexpr int64 kMsPerDay = 24 * 3600 * 1000;
	const int64 total = interval->time / 1000 + kMsPerDay * (interval->day + 30 * interval->month);
	constexpr int64 kMostMs = 1000 * kMsPerDay;
	return Min(Max(int64{0}, total), kMostMs);
}

void shardkit::TryResumeSlot(
	const char *map_name, int32 slot, int64 max_wait_ms, const char *reason)
{
	const auto memory = CurrentMemoryContext;
	const auto object = MoveObject(GetMap(map_name).id, slot);
	PG_TRY();
	{
		(void)ResumeSlot(map_name, slot, max_wait_ms, reason);
		LockRelease(&object, ExclusiveLock, true);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		auto *error = CopyErrorData();
		FlushErrorState();
		/* Gives the move object back, and closes the connections. */
		SPI_rollback();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		ereport(
			WARNING, (errmsg("the move of slot %d of map \"%s\" cannot be finished or undone yet",
						  slot, map_name),
						 errdetail_internal("%s", error->message),
						 errhint("CALL shardkit.resume_moves(%s) when the cause is gone.",
							 quote_literal_cstr(map_name))));
	}
	PG_END_TRY();
}

namespace
{

/* Fences that an undone move could not take away from under a reader. */
void SweepFences(const MapEntry &map)
{
	const uint64 count = RunAsCaller(
		"SELECT n.nspname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
		"JOIN pg_namespace n ON n.oid = c.relnamespace WHERE t.tgname = 'shardkit_fence' "
		"AND t.tgfoid = 'shardkit.fence'::regproc "
		"AND split_part(encode(t.tgargs, 'escape'), E'\\\\000', 1) = $1 "
		"AND NOT EXISTS (SELECT FROM shardkit.move_log l JOIN shardkit.map m ON m.name = l.map "
		"WHERE m.id::text = $1 AND l.finished_at IS NULL "
		"AND l.slot::text = split_part(encode(t.tgargs, 'escape'), E'\\\\000', 2))",
		{SqlText(psprintf("%d", map.id))});
	auto **names = static_cast<char **>(palloc0(sizeof(char *) * (2 * count + 1)));
	for (uint64 i = 0; i < count; ++i) {
		names[2 * i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
		names[2 * i + 1] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2);
	}
	for (uint64 i = 0; i < count; ++i) {
		if (!TryDropFence(names[2 * i], names[2 * i + 1]))
			ereport(
				NOTICE, (errmsg("the fence on table %s stays for now, and lets every write through",
							Qualified(names[2 * i], names[2 * i + 1]))));
		Commit();
	}
}

int32 *UnfinishedSlots(const char *map, uint64 *count)
{
	*count = RunOnCatalog(
		"SELECT l.slot FROM shardkit.move_log l JOIN shardkit.server_move s ON s.id = l.id "
		"WHERE l.map = $1 AND l.finished_at IS NULL GROUP BY l.slot ORDER BY l.slot",
		{SqlText(map)});
	auto *slots = static_cast<int32 *>(palloc(sizeof(int32) * (*count + 1)));
	bool null = false;
	for (uint64 i = 0; i < *count; ++i)
		slots[i] = DatumGetInt32(ResultDatum(&null, static_cast<int>(i)));
	return slots;
}

void ResumeMoves(const char *map_name, int64 max_wait_ms)
{
	uint64 count = 0;
	CheckMapOwner(GetMap(map_name));
	CheckMapIsAtHome(GetMap(map_name));
	const auto *slots = UnfinishedSlots(map_name, &count);
	for (uint64 i = 0; i < count; ++i) {
		const auto object = MoveObject(GetMap(map_name).id, slots[i]);
		if (!HoldMoveObject(object)) {
			ereport(NOTICE, (errmsg("slot %d of map \"%s\" is being moved by %s", slots[i],
								map_name, DescribeHolders(object, ExclusiveLock))));
			continue;
		}
		TryResumeSlot(map_name, slots[i], max_wait_ms, "broken off, and undone by resume_moves");
	}
	SweepFences(GetMap(map_name));
}

} // namespace

SHARDKIT_FUNCTION(shardkit_resume_moves)
Datum shardkit_resume_moves(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("map and max_wait must not be null")));
	CheckMayCommit(IsAtomicCall(fcinfo), "resume_moves");
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	ResumeMoves(text_to_cstring(PG_GETARG_TEXT_PP(0)), Milliseconds(PG_GETARG_INTERVAL_P(1)));
	SPI_finish();
	PG_RETURN_VOID();
}
