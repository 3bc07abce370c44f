/* Rows that lie in a map's per_node tables, checked against who owns their slots. */
#ifndef SHARDKIT_PG_MAP_ROWS_HPP
#define SHARDKIT_PG_MAP_ROWS_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/* The table of that name in the node's schema, or InvalidOid. */
Oid NodeTableOid(const MapTable &table, const MapNode &node);

/*
 * An error if a table of a node holds rows of slots that owners gives to another node and that had
 * no owner before. Locks the tables SHARE ROW EXCLUSIVE, so that it stays true, and looks with a
 * snapshot newer than the locks. As the current user; SPI must be connected.
 */
void CheckRowsOfNewOwners(const MapEntry &map, std::span<const int32> owners);

/* The same for one table and every slot that another node owns. */
void CheckRowsOfTable(const MapEntry &map, const MapTable &table, int32 node);

} // namespace shardkit

#endif
