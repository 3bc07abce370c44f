#include "pg/server/server_lock.hpp"

#include "pg/map/map_lock.hpp"
#include "pg/subtransaction.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

constexpr long kPauseMs = 50;

/*
 * Others queue behind a waiting mover: shortly at first, longer where readers overlap, and never
 * until a deadlock check. Until the subtransaction ends.
 */
void BoundQueue(int round)
{
	constexpr int kFirstMs = 50;
	constexpr int kMostDoublings = 10;
	const int longest = Max(10, Min(kFirstMs << Min(round, kMostDoublings), DeadlockTimeout / 2));
	(void)set_config_option("lock_timeout", psprintf("%d", longest), PGC_USERSET, PGC_S_SESSION,
		GUC_ACTION_SAVE, true, 0, false);
}

[[noreturn]] void RaiseOutOfPatience(const ServerMove &move, const Wanted &wanted)
{
	ereport(ERROR,
		(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			errmsg("slot %d of map \"%s\" did not move: %s is held by %s", move.slot, move.map,
				wanted.what, DescribeHolders(wanted.object, wanted.mode)),
			errdetail("The move waited for max_wait and changed nothing."),
			errhint("Call again when that transaction has ended, or give a longer max_wait.")));
}

} // namespace

LOCKTAG RelationObject(Oid relation)
{
	LOCKTAG object;
	SET_LOCKTAG_RELATION(object, MyDatabaseId, relation);
	return object;
}

bool LockWithin(const Wanted *wanted, int count, int *busy, int round)
{
	volatile bool got = true;
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		BoundQueue(round);
		(void)LockAcquire(&wanted[*busy].object, wanted[*busy].mode, false, false);
		for (int i = 0; i < count && got; ++i)
			if (i != *busy && !TryLock(wanted[i].object, wanted[i].mode)) {
				*busy = i;
				got = false;
			}
		if (got)
			CommitSubtransaction(sub);
		else
			AbortSubtransaction(sub);
	}
	PG_CATCH();
	{
		AbortAfterBusyLock(sub);
		got = false;
	}
	PG_END_TRY();
	AcceptInvalidationMessages();
	return got;
}

TimestampTz PatienceOf(const ServerMove &move)
{
	return TimestampTzPlusMilliseconds(GetCurrentTimestamp(), move.max_wait_ms);
}

void Doze(long milliseconds)
{
	InvalidateCatalogSnapshot();
	(void)WaitLatch(
		MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

void LockAllInRounds(const ServerMove &move, const Wanted *wanted, int count)
{
	const auto give_up = PatienceOf(move);
	int busy = 0;
	for (int round = 0; !LockWithin(wanted, count, &busy, round); ++round) {
		if (GetCurrentTimestamp() >= give_up)
			RaiseOutOfPatience(move, wanted[busy]);
		SPI_commit();
		Doze(kPauseMs);
	}
}

void LockAllWhileHolding(ServerMove &move, const Wanted *wanted, int count)
{
	const auto give_up = PatienceOf(move);
	LookForWaiters(move);
	int busy = 0;
	for (int round = 0; !LockWithin(wanted, count, &busy, round); ++round) {
		if (GetCurrentTimestamp() >= give_up)
			RaiseOutOfPatience(move, wanted[busy]);
		Doze(kPauseMs);
		LookForWaiters(move);
	}
}

void Commit()
{
	if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
		(void)set_config_option("synchronous_commit", "on", PGC_USERSET, PGC_S_SESSION,
			GUC_ACTION_LOCAL, true, 0, false);
	SPI_commit();
}

void LookForWaiters(const ServerMove &move)
{
	for (int i = 0; i < move.tables_count; ++i) {
		const auto &table = move.tables[i];
		const auto object = RelationObject(table.partition);
		if (!LockHasWaiters(&object, ShareUpdateExclusiveLock, false))
			continue;
		ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				errmsg("slot %d of map \"%s\" did not move: another session waits for table %s",
					move.slot, move.map, Qualified(table.partition_schema, table.partition_name)),
				errdetail("The move gave way and changed nothing."), errhint("Call again.")));
	}
}

/* For the session, so that it outlasts the commits between the steps; an error gives it back. */
bool HoldMoveObject(const LOCKTAG &object)
{
	constexpr int kTries = 10;
	for (int i = 0; i < kTries; ++i) {
		if (LockAcquire(&object, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL)
			return true;
		Doze(10);
	}
	return false;
}

} // namespace shardkit
