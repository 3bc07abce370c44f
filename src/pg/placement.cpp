#include "core/jump.hpp"

#include "pg/pg.hpp"

namespace
{

void CheckShards(int32 shards)
{
	if (shards < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("number of shards must be at least 1, not %d", shards)));
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
