/* From the arguments of an SQL function, a map's name and a key, to the key's slot. */
#ifndef SHARDKIT_PG_MAP_KEY_HPP
#define SHARDKIT_PG_MAP_KEY_HPP

#include "pg/key/key_arguments.hpp"
#include "pg/key/key_convert.hpp"
#include "pg/map/map_cache.hpp"
#include "pg/map/map_hash.hpp"

namespace shardkit
{

/* What a call keeps from row to row. */
struct Lookup {
	StatementMark mark;
	const MapEntry *map;
	uint64 generation;    /* of map */
	MemoryContext memory; /* of all that depends on the map */
	KeyArguments arguments;
	KeyConverter *converter; /* nullptr: the map has no table yet, so that any type will do */
	MapHasher *hasher;
	bool is_described;
};

/* Kept in fn_extra. */
Lookup &LookupOf(FunctionCallInfo fcinfo);

/*
 * The map that argument 0 names, which is not NULL: one version of it in a statement, looked up
 * again where the statement or the name is a new one.
 */
const MapEntry &MapOf(FunctionCallInfo fcinfo, Lookup &lookup);

/* The slot of the key in the arguments from first on; as_text: one text, read as a literal is. */
int32 SlotOf(FunctionCallInfo fcinfo, Lookup &lookup, const MapEntry &map, int first, bool as_text);

} // namespace shardkit

#endif
