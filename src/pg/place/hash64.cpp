/* Named hashes of text and bytes. */
#include "core/place/valkey_slot.hpp"

#include "pg/pg.hpp"
#include "pg/place/digest.hpp"
#include "pg/place/layout_value.hpp"

using shardkit::BytesOf;

SHARDKIT_FUNCTION(shardkit_hash64)
Datum shardkit_hash64(PG_FUNCTION_ARGS)
{
	const auto algorithm = shardkit::AlgorithmNamed(BytesOf(PG_GETARG_VARLENA_PP(1)));
	PG_RETURN_INT64(
		static_cast<int64>(shardkit::Hash64(algorithm, BytesOf(PG_GETARG_VARLENA_PP(0)))));
}

SHARDKIT_FUNCTION(shardkit_valkey_slot)
Datum shardkit_valkey_slot(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(shardkit::ValkeySlot(BytesOf(PG_GETARG_VARLENA_PP(0))));
}
