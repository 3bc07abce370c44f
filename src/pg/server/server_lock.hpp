/* How a mover between servers waits: in short rounds, and for nobody who waits for it. */
#ifndef SHARDKIT_PG_SERVER_LOCK_HPP
#define SHARDKIT_PG_SERVER_LOCK_HPP

#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

LOCKTAG RelationObject(Oid relation);

/* The end of a phase's patience. */
TimestampTz PatienceOf(const ServerMove &move);

/* Sleeps a moment; interrupts are served. */
void Doze(long milliseconds);

struct Wanted {
	LOCKTAG object;
	LOCKMODE mode;
	const char *what;
};

/*
 * Takes all locks or none: queues for wanted[busy] for a moment below deadlock_timeout that grows
 * with the rounds, tries the others without waiting; if one is not free, busy is that one.
 */
bool LockWithin(const Wanted *wanted, int count, int *busy, int round);

/* The same in rounds that are transactions of their own; ends in the one that holds all. */
void LockAllInRounds(const ServerMove &move, const Wanted *wanted, int count);

/* The same while others are kept; gives the move up for anybody who waits for those. */
void LockAllWhileHolding(ServerMove &move, const Wanted *wanted, int count);

/* Commits, with the commit on disk and wherever synchronous_standby_names wants it. */
void Commit();

/* For the session, so that it outlasts commits; an error gives it back. False: not free. */
bool HoldMoveObject(const LOCKTAG &object);

/* An error if a session waits for one of the locks that the copy holds. */
void LookForWaiters(const ServerMove &move);

} // namespace shardkit

#endif
