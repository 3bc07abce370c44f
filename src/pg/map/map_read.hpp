/* Reads a map from the catalog tables. */
#ifndef SHARDKIT_PG_MAP_READ_HPP
#define SHARDKIT_PG_MAP_READ_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/* All in memory; nullptr if there is no such map. Every row is of one and the same snapshot. */
MapEntry *ReadMap(const char *name, MemoryContext memory);

/* The owner of a slot as of a snapshot; nullptr: none. */
const char *ReadOwner(const char *map, int32 slot, Snapshot snapshot);

} // namespace shardkit

#endif
