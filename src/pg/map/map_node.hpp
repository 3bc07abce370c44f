/* Nodes of a map: schemas, with or without a server. */
#ifndef SHARDKIT_PG_MAP_NODE_HPP
#define SHARDKIT_PG_MAP_NODE_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/* An error unless name is 1 to 255 bytes long; what is "map" or "node". */
void CheckName(const char *what, const char *name);

/*
 * Checks the node, creates its schema as the caller if it is missing, and writes its row. No entry
 * of the history, no tables.
 */
void InsertNode(const MapEntry &map, const MapNode &node);

/* The same for a map that is being made, whose nodes come from one list. */
void InsertListedNode(const MapEntry &map, const MapNode &node);

} // namespace shardkit

#endif
