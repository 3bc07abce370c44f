#include "pg/map/map_slots.hpp"

#include "core/place/deal.hpp"
#include "pg/arguments.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_rows.hpp"
#include "pg/map/map_table.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace shardkit
{

std::span<const int32> DealtOwners(const MapEntry &map, std::span<const int32> order)
{
	const size_t nodes = order.size();
	const auto weights = static_cast<double *>(palloc(nodes * sizeof(double) + 1));
	const auto owned = static_cast<int32 *>(palloc0(map.nodes.size() * sizeof(int32) + 1));
	const auto held = static_cast<int32 *>(palloc(nodes * sizeof(int32) + 1));
	const auto given = static_cast<int32 *>(palloc(nodes * sizeof(int32) + 1));
	for (const int32 owner : map.owners)
		if (owner != kNoNode)
			++owned[owner];
	bool any = false;
	for (size_t i = 0; i < nodes; ++i) {
		const MapNode &node = map.nodes[order[i]];
		weights[i] = node.draining ? 0 : node.weight;
		held[i] = owned[order[i]];
		any = any || !node.draining;
	}
	const std::span<int32> owners = CopyOwners(map);
	if (!any)
		return owners;

	Deal({weights, nodes}, {held, nodes}, map.slots, {given, nodes});
	size_t current = 0;
	for (int32 &owner : owners) {
		if (owner != kNoNode)
			continue;
		while (given[current] == 0)
			++current;
		owner = order[current];
		--given[current];
	}
	return owners;
}

namespace
{

void CheckFree(const MapEntry &map, int32 slot)
{
	CheckSlotOfMap(map, slot);
	if (map.owners[slot] != kNoNode)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("slot %d of map \"%s\" is owned by node \"%s\"", slot, map.name,
							   OwnerName(map, slot)),
						   errhint("CALL shardkit.move_rows to give it to another node.")));
}

} // namespace

} // namespace shardkit

SHARDKIT_FUNCTION(shardkit_assign_slots)
Datum shardkit_assign_slots(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const std::span<int32> slots = IntArrayArgument(fcinfo, 1, "slots");
	const char *node = TextArgument(fcinfo, 2, "node");
	if (slots.empty())
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no slots were named")));
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	const int32 owner = GetNode(map, node);
	const std::span<int32> owners = CopyOwners(map);
	for (const int32 slot : slots) {
		CheckFree(map, slot);
		owners[slot] = owner;
	}
	CheckRowsOfNewOwners(map, owners);
	StringInfo change = BeginChange("assign_slots");
	AddText(change, "node", node);
	const int64 epoch = ChangeOwners(map, change, owners);
	CreatePartitions(map);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

SHARDKIT_FUNCTION(shardkit_deal_slots)
Datum shardkit_deal_slots(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	auto *order = static_cast<int32 *>(palloc(map.nodes.size() * sizeof(int32) + 1));
	bool any = false;
	for (size_t i = 0; i < map.nodes.size(); ++i) {
		order[i] = static_cast<int32>(i);
		any = any || !map.nodes[i].draining;
	}
	if (!any)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("map \"%s\" has no active node", map.name),
						   errhint("Call shardkit.add_node first.")));
	const std::span<const int32> owners = DealtOwners(map, {order, map.nodes.size()});
	CheckRowsOfNewOwners(map, owners);
	const int64 epoch = ChangeOwners(map, BeginChange("deal_slots"), owners);
	CreatePartitions(map);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}
