/* The row hash of PostgreSQL's hash partitioning. */
#ifndef SHARDKIT_PG_KEY_HASH_HPP
#define SHARDKIT_PG_KEY_HASH_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* The server allows no wider partition key. */
constexpr int kMaxKeyColumns = PARTITION_MAX_KEYS;

/* Ready calls of the columns' hash functions: nothing is looked up per row. */
struct KeyHasher {
	int columns;
	FunctionCallInfo calls[kMaxKeyColumns];
};

/* The extended hash function of a type's default hash operator class; an error if it has none. */
Oid HashFunctionOf(Oid type);

/* Lives in context, as do the hash functions' own caches. */
KeyHasher *MakeKeyHasher(
	MemoryContext context, int columns, const Oid *functions, const Oid *collations);

/* With a hash-partitioned table's own operator classes and collations. */
KeyHasher *MakeKeyHasher(MemoryContext context, PartitionKey key);

/* The hash, to be read as unsigned; a NULL column adds nothing to it. */
inline uint64 HashKey(const KeyHasher &hasher, const Datum *values, const bool *nulls)
{
	uint64 hash = 0;
	for (int column = 0; column < hasher.columns; ++column) {
		if (nulls[column])
			continue;
		FunctionCallInfo call = hasher.calls[column];
		call->args[0].value = values[column];
		call->isnull = false;
		hash = hash_combine64(hash, DatumGetUInt64(FunctionCallInvoke(call)));
	}
	return hash;
}

} // namespace shardkit

#endif
