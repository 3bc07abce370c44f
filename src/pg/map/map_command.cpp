#include "pg/arguments.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/guard_trigger.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_insert.hpp"
#include "pg/map/map_node.hpp"
#include "pg/map/map_slots.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

void AddNodeNames(StringInfo change, std::span<char *> nodes)
{
	appendStringInfoString(change, ", \"nodes\": [");
	for (size_t i = 0; i < nodes.size(); ++i) {
		appendStringInfoString(change, i > 0 ? ", " : "");
		escape_json(change, nodes[i]);
	}
	appendStringInfoChar(change, ']');
}

int64 CreateMap(const char *name, int32 slots, std::span<char *> nodes, const char *hash)
{
	InsertMap(name, slots, hash, 0);
	for (const char *node : nodes)
		InsertListedNode(GetMap(name), {.name = node,
										   .name_text = 0,
										   .schema = node,
										   .server = nullptr,
										   .weight = 1,
										   .draining = false});
	const MapEntry &map = GetMap(name);
	StringInfo change = BeginChange("create_map");
	AddNumber(change, "slots", slots);
	AddText(change, "hash", hash);
	AddNodeNames(change, nodes);

	auto *order = static_cast<int32 *>(palloc(nodes.size() * sizeof(int32) + 1));
	for (size_t i = 0; i < nodes.size(); ++i)
		order[i] = GetNode(map, nodes[i]);
	return ChangeOwners(map, change, DealtOwners(map, {order, nodes.size()}));
}

} // namespace

SHARDKIT_FUNCTION(shardkit_create_map)
Datum shardkit_create_map(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const int32 slots = IntArgument(fcinfo, 1, "slots");
	const std::span<char *> nodes = TextArrayArgument(fcinfo, 2, "nodes");
	const char *hash = TextArgument(fcinfo, 3, "hash");
	SPI_connect();
	const int64 epoch = CreateMap(name, slots, nodes, hash);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

/* Tables and rows stay; the guards go, since nothing could tell them who owns a row. */
SHARDKIT_FUNCTION(shardkit_drop_map)
Datum shardkit_drop_map(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	CheckNoUnfinishedMove(map, nullptr, nullptr);
	DropAllGuards(map, nullptr);
	for (const char *table : {"map_log", "move_log", "slot_map", "map_table", "node"})
		RunOnCatalog(
			psprintf("DELETE FROM shardkit.%s WHERE map = $1", table), {SqlText(map.name)});
	RunOnCatalog("DELETE FROM shardkit.map WHERE name = $1", {SqlText(map.name)});
	SPI_finish();
	PG_RETURN_VOID();
}

SHARDKIT_FUNCTION(shardkit_map_changed)
Datum shardkit_map_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						   errmsg("map_changed must be called as a trigger")));
	CacheInvalidateRelcacheByRelid(FindCatalog().map);
	return PointerGetDatum(nullptr);
}
