/* From a hash to the shard or node that owns it. */
#include "core/place/jump.hpp"
#include "core/place/reduce.hpp"

#include "pg/pg.hpp"
#include "pg/place/layout_build.hpp"
#include "pg/place/layout_cache.hpp"
#include "pg/place/layout_value.hpp"

namespace
{

using shardkit::CompiledLayout;
using shardkit::DecidingArgument;

constexpr DecidingArgument kLayoutArgument[] = {{0, true}};
constexpr DecidingArgument kRingArguments[] = {{1, true}, {2, false}, {3, true}};
constexpr DecidingArgument kRendezvousArguments[] = {{1, true}, {2, true}};

void CheckShards(int32 shards)
{
	if (shards < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("number of shards must be at least 1, not %d", shards)));
}

uint64 HashArgument(FunctionCallInfo fcinfo, int argument)
{
	return static_cast<uint64>(PG_GETARG_INT64(argument));
}

} // namespace

SHARDKIT_FUNCTION(shardkit_modulo)
Datum shardkit_modulo(PG_FUNCTION_ARGS)
{
	const auto hash = static_cast<uint64>(PG_GETARG_INT64(0));
	const int32 shards = PG_GETARG_INT32(1);
	CheckShards(shards);
	PG_RETURN_INT32(static_cast<int32>(hash % static_cast<uint64>(shards)));
}

SHARDKIT_FUNCTION(shardkit_jump)
Datum shardkit_jump(PG_FUNCTION_ARGS)
{
	const auto hash = static_cast<uint64>(PG_GETARG_INT64(0));
	const int32 shards = PG_GETARG_INT32(1);
	CheckShards(shards);
	PG_RETURN_INT32(shardkit::Jump(hash, shards));
}

SHARDKIT_FUNCTION(shardkit_ring)
Datum shardkit_ring(PG_FUNCTION_ARGS)
{
	return shardkit::AnswerOwner(fcinfo, HashArgument(fcinfo, 0), kRingArguments,
		shardkit::BuildRing,
		[](const CompiledLayout &layout, uint64 hash) { return Locate(RingOf(layout), hash); });
}

SHARDKIT_FUNCTION(shardkit_rendezvous)
Datum shardkit_rendezvous(PG_FUNCTION_ARGS)
{
	const std::span<const DecidingArgument> deciding = kRendezvousArguments;
	const auto given = static_cast<std::size_t>(PG_NARGS() - 1);
	return shardkit::AnswerOwner(fcinfo, HashArgument(fcinfo, 0), deciding.first(given),
		shardkit::BuildRendezvous,
		[](const CompiledLayout &layout, uint64 hash) { return ElectIn(layout, hash); });
}

SHARDKIT_FUNCTION(shardkit_place)
Datum shardkit_place(PG_FUNCTION_ARGS)
{
	return shardkit::AnswerOwner(
		fcinfo, HashArgument(fcinfo, 1), kLayoutArgument, nullptr, shardkit::Place);
}
