/* The hash of a map: PostgreSQL's row hash, or one that a router outside of the server uses. */
#ifndef SHARDKIT_PG_MAP_HASH_HPP
#define SHARDKIT_PG_MAP_HASH_HPP

#include <span>

#include "core/place/algorithm.hpp"
#include "pg/key/key_hash.hpp"

namespace shardkit
{

struct MapHasher {
	KeyHasher *rows; /* hash 'postgres'; nullptr: the others, over the key's text */
	int columns;
	Algorithm algorithm;
	bool has_function;
	FmgrInfo function;
	FmgrInfo output;
};

/*
 * What is stored in map.hash: 'postgres', an algorithm of hash64, or an IMMUTABLE function
 * 'app.route(text)' that returns bigint, written with its schema. An error if it is none of these.
 */
char *CheckedMapHash(const char *hash);

/* An error if the hash cannot be that of a key of these types. */
void CheckHashTakes(const char *hash, std::span<const Oid> types);

MapHasher *MakeMapHasher(
	MemoryContext memory, const char *hash, std::span<const Oid> types, const Oid *collations);

/* An error for a NULL: only the row hash has a value for it. */
uint64 HashKeyText(MapHasher &hasher, Datum value, bool null);

inline uint64 HashMapKey(MapHasher &hasher, const Datum *values, const bool *nulls)
{
	if (hasher.rows != nullptr)
		return HashKey(*hasher.rows, values, nulls);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a key has at least one column */
	return HashKeyText(hasher, values[0], nulls[0]);
}

} // namespace shardkit

#endif
