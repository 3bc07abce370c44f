#include "pg/map/map_key.hpp"

#include <algorithm>

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

bool IsNamed(const MapEntry &map, const text *name)
{
	const size_t length = VARSIZE_ANY_EXHDR(name);
	return strncmp(map.name, VARDATA_ANY(name), length) == 0 && map.name[length] == '\0';
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
	Oid types[kMaxKeyColumns];
	Oid collations[kMaxKeyColumns];
	for (int i = 0; i < columns; ++i) {
		types[i] = lookup.converter == nullptr ? KeyArgumentType(lookup.arguments, i)
											   : map.tables.front().key_types[i];
		collations[i] = get_typcollation(types[i]);
	}
	lookup.hasher =
		MakeMapHasher(lookup.memory, map.hash, {types, static_cast<size_t>(columns)}, collations);
}

/* Text could be any type: 42 and '42' would get different slots. */
[[noreturn]] void RaiseNoKeyType(const MapEntry &map)
{
	ereport(
		ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
				   errmsg("the key type of map \"%s\" is not known yet", map.name),
				   errdetail("The map has no table whose key could tell it."),
				   errhint("Cast the key to its type, or write VARIADIC ARRAY['...'] for a text "
						   "key.")));
	pg_unreachable();
}

/* A key given as text is read as an untyped literal would be. */
void Describe(FunctionCallInfo fcinfo, Lookup &lookup, int first, bool as_text)
{
	DescribeKeyArguments(fcinfo, first, lookup.arguments);
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
		key.nulls[0] = PG_ARGISNULL(lookup.arguments.first);
		key.values[0] = key.nulls[0] ? Datum{0} : PG_GETARG_DATUM(lookup.arguments.first);
	} else if (!ReadKeyArguments(fcinfo, lookup.arguments, key))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the key must not be null"),
						   errhint("Give an array with one element for each key column.")));
}

} // namespace

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

const MapEntry &MapOf(FunctionCallInfo fcinfo, Lookup &lookup)
{
	const text *name = PG_GETARG_TEXT_PP(0);
	if (!BeginsStatement(lookup.mark) && lookup.map != nullptr && IsNamed(*lookup.map, name))
		return *lookup.map;

	/* A loop of statements keeps what it has prepared for as long as no map changes. */
	const MapEntry *before = lookup.map;
	const uint64 generation = MapGeneration();
	lookup.map = nullptr;
	const MapEntry &map = GetMap(text_to_cstring(name));
	if (&map != before || generation != lookup.generation)
		lookup.hasher = nullptr;
	lookup.map = &map;
	lookup.generation = generation;
	return map;
}

int32 SlotOf(FunctionCallInfo fcinfo, Lookup &lookup, const MapEntry &map, int first, bool as_text)
{
	if (!lookup.is_described)
		Describe(fcinfo, lookup, first, as_text);
	KeyValues key;
	ReadKey(fcinfo, lookup, as_text, key);
	if (lookup.hasher == nullptr || lookup.hasher->columns != key.columns) {
		MemoryContextReset(lookup.memory);
		lookup.hasher = nullptr;
		lookup.converter = nullptr;
		if (HasKeyTypes(map))
			PrepareConverter(lookup, map);
		else if (as_text && strcmp(map.hash, "postgres") == 0)
			RaiseNoKeyType(map);
		if (lookup.converter != nullptr)
			ConvertKey(*lookup.converter, key);
		PrepareHasher(lookup, map, key.columns);
	} else if (lookup.converter != nullptr)
		ConvertKey(*lookup.converter, key);
	return SlotOfHash(map, HashMapKey(*lookup.hasher, key.values, key.nulls));
}

} // namespace shardkit
