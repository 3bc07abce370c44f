/*
 * Locks of maps and slots: objects of the server's lock manager, so that pg_locks shows them, they
 * end with the transaction and the deadlock check knows them.
 *
 * classid is the OID of a catalog table, objid the map's id, objsubid the slot + 1, or 0.
 */
#ifndef SHARDKIT_PG_MAP_LOCK_HPP
#define SHARDKIT_PG_MAP_LOCK_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/* Commands that change the map: EXCLUSIVE; movers: ROW SHARE. */
LOCKTAG MapObject(int32 map);

/* Who carries the slot at the moment: EXCLUSIVE. */
LOCKTAG MoveObject(int32 map, int32 slot);

/* The slot's owner stays as it is: ROW EXCLUSIVE; it changes: EXCLUSIVE. */
LOCKTAG OwnerObject(int32 map, int32 slot);

/* Held until the end of the transaction. */
bool TryLock(const LOCKTAG &object, LOCKMODE mode);

/* Waits as long as the lock_timeout in force lets it. */
void WaitForLock(const LOCKTAG &object, LOCKMODE mode);

/* Tries again and again without queueing; false after milliseconds. */
bool TryLockFor(const LOCKTAG &object, LOCKMODE mode, int milliseconds);

bool HoldsLock(const LOCKTAG &object, LOCKMODE mode);

/* Does somebody else hold the object in a mode that conflicts with this one? Takes nothing. */
bool IsLockedByOthers(const LOCKTAG &object, LOCKMODE mode);

/* "process 4711", "processes 4711, 4712", or "a prepared transaction". */
char *DescribeHolders(const LOCKTAG &object, LOCKMODE mode);

} // namespace shardkit

#endif
