/* A move to or from a server, as the mover's commands call it. */
#ifndef SHARDKIT_PG_SERVER_COMMAND_HPP
#define SHARDKIT_PG_SERVER_COMMAND_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* Is it called where it cannot commit? */
bool IsAtomicCall(FunctionCallInfo fcinfo);

/* At least nothing, at most 1000 days. */
int64 Milliseconds(const Interval *interval);

/* An error where command cannot commit, or its transactions would see with frozen snapshots. */
void CheckMayCommit(bool atomic, const char *command);

/*
 * Moves one slot with all its tables; SPI is connected, and not atomic. Commits several times.
 * Returns the rows moved.
 */
int64 MoveServerSlot(const char *map, int32 slot, const char *to_node, int64 max_wait_ms);

} // namespace shardkit

#endif
