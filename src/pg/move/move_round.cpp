#include <algorithm>

#include "pg/map/catalog.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/move/move.hpp"
#include "pg/move/move_lock.hpp"
#include "pg/move/move_progress.hpp"
#include "pg/subtransaction.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "storage/latch.h"
#include "utils/wait_event.h"
}

namespace shardkit
{

namespace
{

enum class Outcome { kMoved, kBusy, kChanged };

/*
 * What one round leaves to the next: which locks are needed, as far as was known when the last
 * transaction ended, and the one that was busy.
 */
struct Waiting {
	MemoryContext memory;
	std::span<NeededLock> needed;
	int awaited; /* place in needed, or -1 */
	bool timed_out;
	const char *holders; /* of the awaited lock, when it was found busy */
	int64 rows;
};

std::span<NeededLock> Keep(const Waiting &waiting, std::span<const NeededLock> locks)
{
	auto *copy = static_cast<NeededLock *>(MemoryContextAlloc(waiting.memory, locks.size_bytes()));
	std::ranges::copy(locks, copy);
	return {copy, locks.size()};
}

std::span<MoveTable> ReadTables(const MapEntry &map, const MoveBatch &batch)
{
	return batch.per_slot ? ReadMovePartitions(map, batch) : ReadMoveTables(map, batch);
}

void NoteBusy(Waiting &waiting, std::size_t place)
{
	const NeededLock &lock = waiting.needed[place];
	waiting.awaited = static_cast<int>(place);
	waiting.holders = MemoryContextStrdup(waiting.memory, DescribeHolders(lock.object, lock.mode));
}

/* False: one was busy. Then they are all that is known to be needed. */
bool TakeParents(const MapEntry &map, Waiting &waiting)
{
	waiting.needed = Keep(waiting, ParentLocks(map));
	for (std::size_t i = 0; i < waiting.needed.size(); ++i)
		if (!TryLock(waiting.needed[i].object, waiting.needed[i].mode)) {
			NoteBusy(waiting, i);
			return false;
		}
	return true;
}

/* The locks' names are looked up in a transaction of their own: nothing is looked up in a wait. */
void LookUpLocks(const Move &move, const MoveBatch &batch, Waiting &waiting)
{
	AcceptInvalidationMessages();
	const MapEntry &map = GetMap(move.map);
	MemoryContextReset(waiting.memory);
	waiting.holders = nullptr;
	waiting.awaited = -1;
	if (batch.per_slot && !TakeParents(map, waiting))
		return;
	const auto needed = NeededLocks(map, batch, ReadTables(map, batch));
	waiting.needed = Keep(waiting, needed);
}

/* False: one was busy. The awaited lock has its turn in the queue, the others are only tried. */
bool TakeLocks(Waiting &waiting)
{
	if (waiting.awaited >= 0) {
		const NeededLock lock = waiting.needed[static_cast<std::size_t>(waiting.awaited)];
		if (!TryLock(lock.object, lock.mode)) {
			waiting.timed_out = true;
			NoteBusy(waiting, static_cast<std::size_t>(waiting.awaited));
			/* A snapshot left over from a look-up would hold back others meanwhile. */
			InvalidateCatalogSnapshot();
			WaitForLock(lock.object, lock.mode);
			waiting.timed_out = false;
		}
	}
	for (std::size_t i = 0; i < waiting.needed.size(); ++i) {
		const NeededLock &lock = waiting.needed[i];
		if (static_cast<int>(i) != waiting.awaited && !TryLock(lock.object, lock.mode)) {
			NoteBusy(waiting, i);
			return false;
		}
	}
	return true;
}

/* Whether the batch still stands as it was looked up: tables and owners may have changed. */
bool StillStands(const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables,
	const Waiting &waiting)
{
	for (const int32 slot : batch.slots) {
		const auto place = static_cast<std::size_t>(slot);
		const char *owner = place < map.owners.size() ? OwnerName(map, slot) : nullptr;
		if (owner == nullptr || strcmp(owner, batch.from) != 0 || map.moving_to[place] != kNoNode)
			ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("slot %d of map \"%s\" has changed owner meanwhile", slot, map.name),
					errhint("Plan and move again.")));
	}
	return std::ranges::equal(NeededLocks(map, batch, tables), waiting.needed);
}

Outcome Round(Move &move, const MoveBatch &batch, Waiting &waiting)
{
	BoundLockWaits();
	if (!TakeLocks(waiting))
		return Outcome::kBusy;
	AcceptInvalidationMessages();
	const MapEntry &map = GetMap(move.map);
	const auto tables = ReadTables(map, batch);
	if (!StillStands(map, batch, tables, waiting))
		return Outcome::kChanged;
	waiting.rows = batch.per_slot ? MovePartitionsUnderLocks(move, batch, tables)
								  : MoveUnderLocks(move, batch, tables);
	NoteTables(move, tables);
	return Outcome::kMoved;
}

/*
 * A round in a subtransaction: locks taken in vain are released by rolling it back, and a wait that
 * lasts too long ends in an error, which means busy.
 */
Outcome TryRound(Move &move, const MoveBatch &batch, Waiting &waiting)
{
	volatile Outcome outcome = Outcome::kBusy;
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		outcome = Round(move, batch, waiting);
		if (outcome == Outcome::kMoved)
			CommitSubtransaction(sub);
		else
			AbortSubtransaction(sub);
	}
	PG_CATCH();
	{
		AbortAfterBusyLock(sub);
	}
	PG_END_TRY();
	return outcome;
}

[[noreturn]] void GiveUp(const Move &move, const MoveBatch &batch, const Waiting &waiting)
{
	const char *object =
		waiting.awaited < 0
			? psprintf("map \"%s\"", move.map)
			: DescribeObject(waiting.needed[static_cast<std::size_t>(waiting.awaited)], move.map);
	ereport(ERROR,
		(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			errmsg(
				"gave up moving slots of map \"%s\" from node \"%s\" to node \"%s\": %s is locked "
				"by %s",
				move.map, batch.from, batch.to, object,
				waiting.holders == nullptr ? "others" : waiting.holders),
			errdetail("Nothing of this batch was moved.%s",
				move.atomic ? " The transaction kept its own locks while it waited." : ""),
			errhint("pg_stat_activity shows what that process does. Move again when it is done, or "
					"with a larger max_wait.")));
	pg_unreachable();
}

/* Lets those who queued behind the mover go first. */
void Pause()
{
	(void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, WaitMilliseconds(),
		PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

} // namespace

void CheckTransaction()
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				errmsg(
					"rows cannot be moved in a transaction of isolation level repeatable read or "
					"serializable"),
				errhint("SET default_transaction_isolation = 'read committed' and call again.")));
	PreventCommandIfReadOnly("shardkit.move_rows");
}

int64 MoveWhenFree(Move &move, const MoveBatch &batch)
{
	MemoryContext batch_memory =
		AllocSetContextCreate(move.memory, "shardkit batch", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(batch_memory);
	Waiting waiting{};
	waiting.memory = AllocSetContextCreate(batch_memory, "shardkit waiting", ALLOCSET_SMALL_SIZES);
	const auto movers = MoveObjects(GetMap(move.map), batch);
	LookUpLocks(move, batch, waiting);
	LockMoveObjects(move, movers);
	const TimestampTz deadline = GetCurrentTimestamp() + move.max_wait;
	for (;;) {
		CHECK_FOR_INTERRUPTS();
		ReportPhase(Phase::kWaiting);
		/* Ends the transaction with its snapshot: what follows begins with a wait. */
		if (!move.atomic)
			SPI_commit();
		if (waiting.timed_out)
			Pause();
		CheckTransaction();
		const Outcome outcome = TryRound(move, batch, waiting);
		if (outcome == Outcome::kMoved)
			break;
		if (GetCurrentTimestamp() >= deadline)
			GiveUp(move, batch, waiting);
		if (outcome == Outcome::kChanged)
			LookUpLocks(move, batch, waiting);
	}
	const int64 rows = waiting.rows;
	if (!move.atomic)
		SPI_commit();
	UnlockMoveObjects(move, movers);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(batch_memory);
	return rows;
}

} // namespace shardkit
