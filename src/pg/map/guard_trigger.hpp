/* The guard's triggers on a node's table: made, found, removed. */
#ifndef SHARDKIT_PG_GUARD_TRIGGER_HPP
#define SHARDKIT_PG_GUARD_TRIGGER_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/*
 * Puts both triggers of the guard on relation, ENABLE ALWAYS, in place of any that are there. As
 * the current user; SPI must be connected, and relation be locked against writers.
 */
void CreateGuards(const MapEntry &map, const MapTable &table, const MapNode &node, Oid relation);

/* Takes them off the node's table, if it is there. */
void DropGuards(const MapTable &table, const MapNode &node);

/*
 * Takes every guard of the map (nullptr) or of one node off, wherever its table is by now: one in a
 * renamed schema would refuse all rows for ever.
 */
void DropAllGuards(const MapEntry &map, const char *node);

} // namespace shardkit

#endif
