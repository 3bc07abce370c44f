#include "pg/move/move_progress.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "utils/backend_progress.h"
}

namespace shardkit
{

namespace
{

/*
 * A mover's numbers travel in the slot that every backend has in shared memory for the progress of
 * VACUUM and the like, so that nothing needs to be preloaded. No view of the server shows a command
 * of this number.
 */
constexpr auto kMoveCommand = static_cast<ProgressCommandType>(0x5348);

enum Parameter { kMap, kSlotsTotal, kSlotsDone, kRelation, kPhase, kRows, kBytes, kStarted };

/* As for pg_stat_activity. */
bool MaySee(Oid user)
{
	return has_privs_of_role(GetUserId(), user) ||
		   has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

int64 rows_done = 0;
int64 bytes_done = 0;

} // namespace

void BeginProgress(int32 map_id, int64 slots_total)
{
	pgstat_progress_start_command(kMoveCommand, InvalidOid);
	pgstat_progress_update_param(kMap, map_id);
	pgstat_progress_update_param(kSlotsTotal, slots_total);
	pgstat_progress_update_param(kStarted, GetCurrentTimestamp());
	rows_done = 0;
	bytes_done = 0;
}

void EndProgress()
{
	pgstat_progress_end_command();
}

void ReportPhase(Phase phase)
{
	pgstat_progress_update_param(kPhase, static_cast<int64>(phase));
}

void ReportTable(Oid relation)
{
	pgstat_progress_update_param(kRelation, relation);
}

void ReportRows(int64 rows, int64 bytes)
{
	rows_done += rows;
	bytes_done += bytes;
	pgstat_progress_update_param(kRows, rows_done);
	pgstat_progress_update_param(kBytes, bytes_done);
}

void ReportSlots(int64 slots_done)
{
	pgstat_progress_update_param(kSlotsDone, slots_done);
}

} // namespace shardkit

/* (pid, map id, slots_total, slots_done, relation, phase, rows, bytes, started) of each mover. */
SHARDKIT_FUNCTION(shardkit_move_progress)
Datum shardkit_move_progress(PG_FUNCTION_ARGS)
{
	using namespace shardkit;
	InitMaterializedSRF(fcinfo, 0);
	auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
	const int backends = pgstat_fetch_stat_numbackends();
	for (int i = 1; i <= backends; ++i) {
		const PgBackendStatus *backend = BackendStatusAt(i);
		if (backend == nullptr || backend->st_progress_command != kMoveCommand ||
			backend->st_databaseid != MyDatabaseId || !MaySee(backend->st_userid))
			continue;
		const int64 *numbers = backend->st_progress_param;
		Datum values[] = {Int32GetDatum(backend->st_procpid),
			Int32GetDatum(static_cast<int32>(numbers[kMap])), Int64GetDatum(numbers[kSlotsTotal]),
			Int64GetDatum(numbers[kSlotsDone]),
			ObjectIdGetDatum(static_cast<Oid>(numbers[kRelation])), Int64GetDatum(numbers[kPhase]),
			Int64GetDatum(numbers[kRows]), Int64GetDatum(numbers[kBytes]),
			TimestampTzGetDatum(numbers[kStarted])};
		bool nulls[lengthof(values)] = {};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return Datum{0};
}
