#include "pg/arguments.hpp"
#include "pg/key_arguments.hpp"
#include "pg/key_convert.hpp"
#include "pg/map_cache.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

/* What a call of slot_of or node_of keeps from row to row. */
struct Lookup {
	StatementMark mark;
	const MapEntry *map;
	MemoryContext memory; /* of all that depends on the map */
	KeyArguments arguments;
	KeyConverter *converter; /* nullptr: the map has no table yet, so that any type will do */
	KeyHasher *hasher;
	bool is_described;
};

Lookup &LookupOf(FunctionCallInfo fcinfo)
{
	auto *lookup = static_cast<Lookup *>(fcinfo->flinfo->fn_extra);
	if (lookup == nullptr) {
		lookup =
			static_cast<Lookup *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Lookup)));
		lookup->memory = AllocSetContextCreate(
			fcinfo->flinfo->fn_mcxt, "shardkit look-up", ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = lookup;
	}
	return *lookup;
}

bool IsNamed(const MapEntry &map, const text *name)
{
	const size_t length = VARSIZE_ANY_EXHDR(name);
	return strncmp(map.name, VARDATA_ANY(name), length) == 0 && map.name[length] == '\0';
}

/* The map of this statement, looked up again where the statement or the name is a new one. */
const MapEntry &MapOf(FunctionCallInfo fcinfo, Lookup &lookup)
{
	const text *name = PG_GETARG_TEXT_PP(0);
	if (BeginsStatement(lookup.mark) || lookup.map == nullptr || !IsNamed(*lookup.map, name)) {
		lookup.map = nullptr;
		lookup.hasher = nullptr;
		lookup.map = &GetMap(text_to_cstring(name));
	}
	return *lookup.map;
}

/* Converts to the key types of the map's tables, which all hash alike. */
void PrepareConverter(Lookup &lookup, const MapEntry &map)
{
	const std::span<const Oid> types = map.tables.front().key_types;
	int32 typmods[kMaxKeyColumns];
	std::fill_n(typmods, kMaxKeyColumns, -1);
	lookup.converter =
		static_cast<KeyConverter *>(MemoryContextAllocZero(lookup.memory, sizeof(KeyConverter)));
	PrepareKeyConverter(*lookup.converter, lookup.memory, lookup.arguments,
		static_cast<int>(types.size()), types.data(), typmods, psprintf("map \"%s\"", map.name));
}

void PrepareHasher(Lookup &lookup, const MapEntry &map, int columns)
{
	Oid functions[kMaxKeyColumns];
	Oid collations[kMaxKeyColumns];
	for (int i = 0; i < columns; ++i) {
		const Oid type = lookup.converter == nullptr ? KeyArgumentType(lookup.arguments, i)
													 : map.tables.front().key_types[i];
		functions[i] = HashFunctionOf(type);
		collations[i] = get_typcollation(type);
	}
	lookup.hasher = MakeKeyHasher(lookup.memory, columns, functions, collations);
}

/* A key given as text is read as an untyped literal would be. */
void Describe(FunctionCallInfo fcinfo, Lookup &lookup, bool as_text)
{
	DescribeKeyArguments(fcinfo, 1, lookup.arguments);
	if (as_text)
		lookup.arguments.types[0] = UNKNOWNOID;
	lookup.is_described = true;
}

/* A catalog damaged by hand must not lead past the arrays' ends. */
bool HasKeyTypes(const MapEntry &map)
{
	const size_t columns = map.tables.empty() ? 0 : map.tables.front().key_types.size();
	return columns > 0 && columns <= kMaxKeyColumns;
}

void ReadKey(FunctionCallInfo fcinfo, const Lookup &lookup, bool as_text, KeyValues &key)
{
	if (as_text) {
		key.columns = 1;
		key.nulls[0] = PG_ARGISNULL(1);
		key.values[0] = key.nulls[0] ? Datum{0} : PG_GETARG_DATUM(1);
	} else if (!ReadKeyArguments(fcinfo, lookup.arguments, key))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the key must not be null"),
						   errhint("Give an array with one element for each key column.")));
}

int32 SlotOf(FunctionCallInfo fcinfo, Lookup &lookup, const MapEntry &map, bool as_text)
{
	if (!lookup.is_described)
		Describe(fcinfo, lookup, as_text);
	KeyValues key;
	ReadKey(fcinfo, lookup, as_text, key);
	if (lookup.hasher == nullptr || lookup.hasher->columns != key.columns) {
		MemoryContextReset(lookup.memory);
		lookup.hasher = nullptr;
		lookup.converter = nullptr;
		if (HasKeyTypes(map))
			PrepareConverter(lookup, map);
		if (lookup.converter != nullptr)
			ConvertKey(*lookup.converter, key);
		PrepareHasher(lookup, map, key.columns);
	} else if (lookup.converter != nullptr)
		ConvertKey(*lookup.converter, key);
	const uint64 hash = HashKey(*lookup.hasher, key.values, key.nulls);
	return static_cast<int32>(hash % static_cast<uint64>(map.slots));
}

Datum SlotResult(FunctionCallInfo fcinfo, bool as_text)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	Lookup &lookup = LookupOf(fcinfo);
	const MapEntry &map = MapOf(fcinfo, lookup);
	PG_RETURN_INT32(SlotOf(fcinfo, lookup, map, as_text));
}

Datum NodeResult(FunctionCallInfo fcinfo, bool as_text)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	Lookup &lookup = LookupOf(fcinfo);
	const MapEntry &map = MapOf(fcinfo, lookup);
	const int32 node = map.owners[SlotOf(fcinfo, lookup, map, as_text)];
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
