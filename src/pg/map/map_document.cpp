#include "pg/arguments.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_insert.hpp"
#include "pg/map/map_node.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

constexpr int32 kFormat = 1;

/* The rows of the last statement, kept while others run. */
struct Rows {
	const SPITupleTable *table;
	uint64 count;
};

Rows Select(const char *statement, std::initializer_list<SqlValue> values)
{
	const uint64 count = RunAsCaller(statement, values);
	return {SPI_tuptable, count};
}

char *Text(const Rows &rows, uint64 row, int column)
{
	return SPI_getvalue(rows.table->vals[row], rows.table->tupdesc, column);
}

Datum Value(const Rows &rows, uint64 row, int column, const char *what)
{
	bool null = false;
	const Datum value = SPI_getbinval(rows.table->vals[row], rows.table->tupdesc, column, &null);
	if (null)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("the document of a map lacks %s", what),
						   errhint("shardkit.export_map shows its form.")));
	return value;
}

const char *RequiredText(const Rows &rows, uint64 row, int column, const char *what)
{
	(void)Value(rows, row, column, what);
	return Text(rows, row, column);
}

/* The map's name. */
const char *ImportHead(const SqlValue &document)
{
	const Rows head = Select("SELECT $1 ->> 'map', ($1 ->> 'slots')::int,"
							 " coalesce($1 ->> 'hash', 'postgres'),"
							 " coalesce(($1 ->> 'epoch')::bigint, 0),"
							 " coalesce(($1 ->> 'format')::int, 1)",
		{document});
	const int32 format = DatumGetInt32(Value(head, 0, 5, "format"));
	if (format != kFormat)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						   errmsg("format %d of a map's document is not known", format)));
	const int64 epoch = DatumGetInt64(Value(head, 0, 4, "epoch"));
	if (epoch < 0)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epoch must not be negative")));
	const char *name = RequiredText(head, 0, 1, "map");
	InsertMap(name, DatumGetInt32(Value(head, 0, 2, "slots")), Text(head, 0, 3), epoch);
	return name;
}

void ImportNodes(const char *name, const SqlValue &document)
{
	const Rows nodes = Select("SELECT name, coalesce(schema, name), server, coalesce(weight, 1),"
							  " coalesce(state, 'active') = 'draining',"
							  " coalesce(state, 'active') IN ('active', 'draining')"
							  " FROM jsonb_to_recordset($1 -> 'nodes') AS node(name text,"
							  " schema text, server text, weight float8, state text)",
		{document});
	for (uint64 row = 0; row < nodes.count; ++row) {
		if (!DatumGetBool(Value(nodes, row, 6, "state")))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							   errmsg("a node's state is active or draining")));
		InsertListedNode(
			GetMap(name), {.name = RequiredText(nodes, row, 1, "a node's name"),
							  .name_text = 0,
							  .schema = Text(nodes, row, 2),
							  .server = Text(nodes, row, 3),
							  .weight = DatumGetFloat8(Value(nodes, row, 4, "weight")),
							  .draining = DatumGetBool(Value(nodes, row, 5, "state"))});
	}
}

void TakeSlot(const MapEntry &map, std::span<int32> owners, int32 slot, int32 node)
{
	CheckSlotOfMap(map, slot);
	if (owners[slot] != kNoNode)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("slot %d has two owners in the document", slot)));
	owners[slot] = node;
}

/* A slot alone is a number, a run of slots [first, last]. */
std::span<const int32> ReadOwners(const MapEntry &map, const SqlValue &document)
{
	const Rows runs =
		Select("SELECT owner.node, (run ->> 0)::int, (run ->> 1)::int, jsonb_array_length(run)"
			   " FROM jsonb_to_recordset($1 -> 'owners') AS owner(node text, slots jsonb),"
			   " jsonb_array_elements(owner.slots) AS part(part),"
			   " LATERAL (SELECT CASE jsonb_typeof(part) WHEN 'array' THEN part"
			   " ELSE jsonb_build_array(part, part) END) AS run(run)",
			{document});
	const std::span<int32> owners = CopyOwners(map);
	for (uint64 row = 0; row < runs.count; ++row) {
		const int32 node = GetNode(map, RequiredText(runs, row, 1, "an owner's node"));
		const int32 first = DatumGetInt32(Value(runs, row, 2, "a slot"));
		const int32 last = DatumGetInt32(Value(runs, row, 3, "a slot"));
		CheckSlotOfMap(map, first);
		CheckSlotOfMap(map, last);
		if (first > last || DatumGetInt32(Value(runs, row, 4, "a slot")) != 2)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							   errmsg("a run of slots is [first, last], the smaller one first")));
		for (int32 slot = first; slot <= last; ++slot)
			TakeSlot(map, owners, slot, node);
	}
	return owners;
}

/* Whoever exported the map hashed these keys: here they must get the same slots. */
void CheckSamples(const MapEntry &map, const SqlValue &document)
{
	const Rows samples = Select(
		"SELECT (SELECT string_agg(quote_nullable(value) || '::' || format_type(type::regtype,"
		" NULL), ', ') FROM unnest(sample.key, sample.types) AS pair(value, type)), sample.slot"
		" FROM jsonb_to_recordset(coalesce($1 -> 'samples', '[]'))"
		" AS sample(key text[], types text[], slot int)",
		{document});
	/* Without tables the map does not know the key's type yet, as which text has to be read. */
	const bool is_row_hash = strcmp(map.hash, "postgres") == 0;
	for (uint64 row = 0; row < samples.count; ++row) {
		CHECK_FOR_INTERRUPTS();
		const char *key = RequiredText(samples, row, 1, "a sample's key");
		const int32 expected = DatumGetInt32(Value(samples, row, 2, "a sample's slot"));
		const Rows here =
			Select(is_row_hash ? psprintf("SELECT shardkit.partition_slot($2, %s), $1", key)
							   : psprintf("SELECT shardkit.slot_of($1, %s), $2", key),
				{SqlText(map.name), SqlInt(map.slots)});
		const int32 found = DatumGetInt32(Value(here, 0, 1, "a slot"));
		if (found != expected)
			ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
					errmsg("key %s has slot %d here, but %d in the document", key, found, expected),
					errhint("The map was made with another hash.")));
	}
}

} // namespace

SHARDKIT_FUNCTION(shardkit_import_map)
Datum shardkit_import_map(PG_FUNCTION_ARGS)
{
	CheckNotNull(fcinfo, 0, "document");
	const SqlValue document = {JSONBOID, PG_GETARG_DATUM(0), false};
	SPI_connect();
	const char *name = ImportHead(document);
	ImportNodes(name, document);
	const MapEntry &map = GetMap(name);
	const std::span<const int32> owners = ReadOwners(map, document);
	CheckSamples(map, document);
	StringInfo change = BeginChange("import_map");
	AddNumber(change, "slots", map.slots);
	const int64 epoch = ChangeOwners(map, change, owners);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

SHARDKIT_FUNCTION(shardkit_adopt_map)
Datum shardkit_adopt_map(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name, true);
	const bool is_orphan = !OidIsValid(get_role_oid(map.owner, true));
	const char *owner = is_orphan ? GetUserNameFromId(GetUserId(), false) : map.owner;
	RunOnCatalog("UPDATE shardkit.map SET system_identifier = $2, database_oid = $3, owner = $4"
				 " WHERE name = $1",
		{SqlText(name), SqlBigint(static_cast<int64>(GetSystemIdentifier())), SqlOid(MyDatabaseId),
			SqlName(owner)});
	StringInfo change = BeginChange("adopt_map");
	AddText(change, "owner", owner);
	const int64 epoch = LogChange(map, change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}
