/*
 * Where tests break a move: SET shardkit.pause_after = 'copy' makes the session's own move stand
 * still after that step, for as long as another session holds the advisory lock (kClass, 2). That
 * it stands there is seen by the advisory lock (kClass, 1).
 */
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

constexpr uint32 kClass = 0x736b6974;

LOCKTAG Advisory(uint32 number)
{
	LOCKTAG object;
	SET_LOCKTAG_ADVISORY(object, MyDatabaseId, kClass, number, 2);
	return object;
}

} // namespace

void PauseAfter(const char *step)
{
	const char *wanted = GetConfigOption("shardkit.pause_after", true, false);
	if (wanted == nullptr || strcmp(wanted, step) != 0)
		return;
	const auto here = Advisory(1);
	const auto gate = Advisory(2);
	(void)LockAcquire(&here, ShareLock, true, false);
	while (LockAcquire(&gate, ShareLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		Doze(10);
	LockRelease(&gate, ShareLock, true);
	LockRelease(&here, ShareLock, true);
}

} // namespace shardkit
