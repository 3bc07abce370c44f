#include "pg/move/move_progress.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
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

enum Parameter {
	kMap,
	kSlotsTotal,
	kSlotsDone,
	kRelation,
	kPhase,
	kRows,
	kBytes,
	kStarted,
	kCount
};

/* As for pg_stat_activity. */
bool MaySee(Oid user)
{
	return has_privs_of_role(GetUserId(), user) ||
		   has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

bool moving = false;
int64 numbers[kCount];

/* The server forgets a command's progress with every subtransaction that it rolls back. */
void Report(Parameter parameter, int64 number)
{
	if (!moving)
		return;
	numbers[parameter] = number;
	if (MyBEEntry->st_progress_command == kMoveCommand) {
		pgstat_progress_update_param(parameter, number);
		return;
	}
	pgstat_progress_start_command(kMoveCommand, InvalidOid);
	for (int i = 0; i < kCount; ++i)
		pgstat_progress_update_param(i, numbers[i]);
}

} // namespace

void BeginProgress(int32 map_id, int64 slots_total)
{
	moving = true;
	memset(numbers, 0, sizeof numbers);
	numbers[kSlotsTotal] = slots_total;
	numbers[kStarted] = GetCurrentTimestamp();
	pgstat_progress_end_command();
	Report(kMap, map_id);
}

void EndProgress()
{
	moving = false;
	pgstat_progress_end_command();
}

void ReportPhase(Phase phase)
{
	Report(kPhase, static_cast<int64>(phase));
}

void ReportTable(Oid relation)
{
	Report(kRelation, relation);
}

void ReportRows(int64 rows, int64 bytes)
{
	Report(kRows, numbers[kRows] + rows);
	Report(kBytes, numbers[kBytes] + bytes);
}

void ReportSlots(int64 slots_done)
{
	Report(kSlotsDone, slots_done);
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
		const int64 *seen = backend->st_progress_param;
		Datum values[] = {Int32GetDatum(backend->st_procpid),
			Int32GetDatum(static_cast<int32>(seen[kMap])), Int64GetDatum(seen[kSlotsTotal]),
			Int64GetDatum(seen[kSlotsDone]), ObjectIdGetDatum(static_cast<Oid>(seen[kRelation])),
			Int64GetDatum(seen[kPhase]), Int64GetDatum(seen[kRows]), Int64GetDatum(seen[kBytes]),
			TimestampTzGetDatum(seen[kStarted])};
		bool nulls[lengthof(values)] = {};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return Datum{0};
}
