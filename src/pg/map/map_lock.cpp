#include "pg/map/map_lock.hpp"

#include "pg/map/catalog.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

constexpr long kPollMicroseconds = 10000;

LOCKTAG ObjectOf(Oid table, int32 map, int32 sub_object)
{
	LOCKTAG object;
	SET_LOCKTAG_OBJECT(
		object, MyDatabaseId, table, static_cast<Oid>(map), static_cast<uint16>(sub_object));
	return object;
}

} // namespace

LOCKTAG MapObject(int32 map)
{
	return ObjectOf(FindCatalog().map, map, 0);
}

LOCKTAG MoveObject(int32 map, int32 slot)
{
	return ObjectOf(FindCatalog().move_log, map, slot + 1);
}

LOCKTAG OwnerObject(int32 map, int32 slot)
{
	return ObjectOf(FindCatalog().slot_map, map, slot + 1);
}

bool TryLock(const LOCKTAG &object, LOCKMODE mode)
{
	const bool got = LockAcquire(&object, mode, false, true) != LOCKACQUIRE_NOT_AVAIL;
	if (got)
		AcceptInvalidationMessages();
	return got;
}

void WaitForLock(const LOCKTAG &object, LOCKMODE mode)
{
	(void)LockAcquire(&object, mode, false, false);
	AcceptInvalidationMessages();
}

bool TryLockFor(const LOCKTAG &object, LOCKMODE mode, int milliseconds)
{
	const TimestampTz start = GetCurrentTimestamp();
	while (!TryLock(object, mode)) {
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), milliseconds))
			return false;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(kPollMicroseconds);
	}
	return true;
}

bool HoldsLock(const LOCKTAG &object, LOCKMODE mode)
{
	return HoldsLockExactly(object, mode);
}

bool IsLockedByOthers(const LOCKTAG &object, LOCKMODE mode)
{
	int count = 0;
	(void)GetLockConflicts(&object, mode, &count);
	return count > 0;
}

char *DescribeHolders(const LOCKTAG &object, LOCKMODE mode)
{
	int count = 0;
	const VirtualTransactionId *holders = GetLockConflicts(&object, mode, &count);
	StringInfoData pids;
	initStringInfo(&pids);
	int running = 0;
	for (int i = 0; i < count; ++i) {
		const int pid = ProcessOf(holders[i]);
		if (pid != 0)
			appendStringInfo(&pids, "%s%d", running++ > 0 ? ", " : "", pid);
	}
	if (running == 0)
		return pstrdup(count > 0 ? "a prepared transaction" : "a process that has ended");
	return psprintf("%s %s", running == 1 ? "process" : "processes", pids.data);
}

} // namespace shardkit
