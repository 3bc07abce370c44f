#include "pg/map/map_key.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

Datum SlotResult(FunctionCallInfo fcinfo, bool as_text)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	Lookup &lookup = LookupOf(fcinfo);
	const MapEntry &map = MapOf(fcinfo, lookup);
	PG_RETURN_INT32(SlotOf(fcinfo, lookup, map, 1, as_text));
}

Datum NodeResult(FunctionCallInfo fcinfo, bool as_text)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	Lookup &lookup = LookupOf(fcinfo);
	const MapEntry &map = MapOf(fcinfo, lookup);
	const int32 node = map.owners[SlotOf(fcinfo, lookup, map, 1, as_text)];
	if (node == kNoNode)
		PG_RETURN_NULL();
	return map.nodes[node].name_text;
}

} // namespace

SHARDKIT_FUNCTION(shardkit_slot_of)
Datum shardkit_slot_of(PG_FUNCTION_ARGS)
{
	return SlotResult(fcinfo, false);
}

SHARDKIT_FUNCTION(shardkit_slot_of_text)
Datum shardkit_slot_of_text(PG_FUNCTION_ARGS)
{
	return SlotResult(fcinfo, true);
}

SHARDKIT_FUNCTION(shardkit_node_of)
Datum shardkit_node_of(PG_FUNCTION_ARGS)
{
	return NodeResult(fcinfo, false);
}

SHARDKIT_FUNCTION(shardkit_node_of_text)
Datum shardkit_node_of_text(PG_FUNCTION_ARGS)
{
	return NodeResult(fcinfo, true);
}

SHARDKIT_FUNCTION(shardkit_slot_node)
Datum shardkit_slot_node(PG_FUNCTION_ARGS)
{
	const MapEntry &map = MapOf(fcinfo, LookupOf(fcinfo));
	const int32 slot = PG_GETARG_INT32(1);
	CheckSlotOfMap(map, slot);
	const int32 node = map.owners[slot];
	if (node == kNoNode)
		PG_RETURN_NULL();
	return map.nodes[node].name_text;
}

SHARDKIT_FUNCTION(shardkit_map_epoch)
Datum shardkit_map_epoch(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(MapOf(fcinfo, LookupOf(fcinfo)).epoch);
}
