/*
 * The locks of a batch, and how a mover waits for them.
 *
 * It waits for one lock at a time, holding none that a user can wait for, and no snapshot; all
 * others it tries without waiting. So no user's transaction is deadlocked by a mover.
 */
#ifndef SHARDKIT_PG_MOVE_LOCK_HPP
#define SHARDKIT_PG_MOVE_LOCK_HPP

#include "pg/move/move.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

struct NeededLock {
	LOCKTAG object;
	LOCKMODE mode;

	friend bool operator==(const NeededLock &left, const NeededLock &right)
	{
		return memcmp(&left.object, &right.object, sizeof(LOCKTAG)) == 0 && left.mode == right.mode;
	}
};

/* A partition is found through its parent, which is read: the parents of a per_slot map. */
std::span<NeededLock> ParentLocks(const MapEntry &map);

/* All but the slots' move objects: the map, the tables on both nodes, the slots' owner objects. */
std::span<NeededLock> NeededLocks(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables);

/* The slots' move objects: only movers ask for them. */
std::span<NeededLock> MoveObjects(const MapEntry &map, const MoveBatch &batch);

/*
 * Takes them within 100 ms, or raises the error that names the other mover. They are kept from
 * round to round, so that no other mover slips in: for the session, whose locks the server drops
 * with the transaction that fails; inside a caller's transaction block for that transaction.
 */
void LockMoveObjects(const Move &move, std::span<const NeededLock> objects);
void UnlockMoveObjects(const Move &move, std::span<const NeededLock> objects);

/* "table a.orders", "slot 17", "map orders". */
char *DescribeObject(const NeededLock &lock, const char *map);

/* How long one wait in the lock manager's queue may be, in milliseconds. */
int WaitMilliseconds();

/* Bounds every wait for a lock by that time, until the subtransaction ends. */
void BoundLockWaits();

} // namespace shardkit

#endif
