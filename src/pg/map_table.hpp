/* Tables of a map. */
#ifndef SHARDKIT_PG_MAP_TABLE_HPP
#define SHARDKIT_PG_MAP_TABLE_HPP

#include "pg/map_cache.hpp"

namespace shardkit
{

/*
 * Creates the table on the node like its template where it is missing, else checks shape and rows
 * of the one that is there; puts the guards on it. As the current user; SPI must be connected.
 */
void CreateNodeTable(const MapEntry &map, const MapTable &table, const MapNode &node);

} // namespace shardkit

#endif
