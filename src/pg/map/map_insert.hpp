/* The row of a new map. */
#ifndef SHARDKIT_PG_MAP_INSERT_HPP
#define SHARDKIT_PG_MAP_INSERT_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/*
 * Checks that the current user may create a map and the arguments, and writes the map and its
 * slots, without owners. The first entry of the history, still to come, makes its epoch epoch + 1.
 */
void InsertMap(const char *name, int32 slots, const char *hash, int64 epoch);

} // namespace shardkit

#endif
