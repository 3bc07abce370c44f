/* Tables of a map. */
#ifndef SHARDKIT_PG_MAP_TABLE_HPP
#define SHARDKIT_PG_MAP_TABLE_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/*
 * Kind per_node: creates the table on the node like its model where it is missing, else checks
 * shape and rows of the one that is there; puts the guards on it. Kind per_slot: checks that the
 * node can hold partitions. As the current user; SPI must be connected. by_template: what is there
 * must be like the template, else like the tables of the other nodes.
 */
void CreateNodeTable(
	const MapEntry &map, const MapTable &table, const MapNode &node, bool by_template = false);

/* Once all tables are on the node: their foreign keys to each other. */
void CreateForeignKeys(const MapEntry &map, const MapNode &node, bool may_fail = false);

/* Kind per_slot: makes the partitions of slots that have an owner and no partition. */
void CreatePartitions(const MapEntry &map);

/* What a table on a node is made like: another node's, or the template, or InvalidOid. */
Oid ModelOf(const MapEntry &map, const MapTable &table, const MapNode *node = nullptr);

/* As in SQL; written back the way QuoteName writes it. Kind per_node: one name. */
const char *NormalName(const char *relation, bool per_slot);

/* The table in the map, or an error. relation as in SQL, for tables of this map's kind. */
const MapTable &GetTable(const MapEntry &map, const char *relation);

} // namespace shardkit

#endif
