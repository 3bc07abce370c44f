/* Tables come into a map and leave it. */
#include <cstring>

#include "pg/arguments.hpp"
#include "pg/key/key.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/guard_trigger.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_rows.hpp"
#include "pg/map/map_table.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

/* Each slot is a partition: locks, plans and round trips grow with their number. */
constexpr int32 kMaxPartitions = 1024;

bool IsPerSlot(const char *kind)
{
	if (std::strcmp(kind, "per_slot") != 0 && std::strcmp(kind, "per_node") != 0)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("kind \"%s\" is not known", kind),
				errhint("The kinds are per_node and per_slot.")));
	return std::strcmp(kind, "per_slot") == 0;
}

Key ReadKey(Oid relation, const char *names)
{
	Relation opened = relation_open(relation, AccessShareLock);
	const Key key = ParseKey(opened, names);
	relation_close(opened, NoLock);
	return key;
}

std::span<const Oid> KeyTypes(const Key &key)
{
	auto *types = static_cast<Oid *>(palloc(key.columns * sizeof(Oid)));
	for (int i = 0; i < key.columns; ++i) {
		types[i] = key.column[i].type;
		if (OidIsValid(key.column[i].collation) &&
			!get_collation_isdeterministic(key.column[i].collation))
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							   errmsg("a key column of a map cannot have a nondeterministic "
									  "collation")));
	}
	return {types, static_cast<size_t>(key.columns)};
}

/* All tables of a map must give a key the same slot. */
void CheckKeyTypes(const MapEntry &map, std::span<const Oid> types)
{
	if (map.tables.empty())
		return;
	const MapTable &first = map.tables.front();
	const bool same = first.key_types.size() == types.size();
	for (size_t i = 0; same && i < types.size(); ++i)
		if (HashFunctionOf(first.key_types[i]) != HashFunctionOf(types[i]))
			ereport(
				ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						   errmsg("key type %s differs from %s, the key type of table %s of map "
								  "\"%s\"",
							   format_type_be(types[i]), format_type_be(first.key_types[i]),
							   first.relation, map.name)));
	if (!same)
		ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("the key has another number of columns than that of table %s of map \"%s\"",
					first.relation, map.name),
				errdetail("%zu against %zu.", types.size(), first.key_types.size())));
}

void InsertTable(const MapEntry &map, const MapTable &table)
{
	auto *datums = static_cast<Datum *>(palloc(table.key_types.size() * sizeof(Datum)));
	for (size_t i = 0; i < table.key_types.size(); ++i)
		datums[i] = ObjectIdGetDatum(table.key_types[i]);
	ArrayType *types = construct_array(
		datums, static_cast<int>(table.key_types.size()), OIDOID, sizeof(Oid), true, TYPALIGN_INT);
	RunOnCatalog("INSERT INTO shardkit.map_table (map, relation, key, key_types, kind, template)"
				 " VALUES ($1, $2, $3, $4::regtype[], $5, $6::regclass)",
		{SqlText(map.name), SqlText(table.relation), SqlText(table.key),
			{OIDARRAYOID, PointerGetDatum(types), false},
			SqlText(table.per_slot ? "per_slot" : "per_node"), SqlOid(table.template_table)});
}

/* One table a name, one kind a map: its tables move together. */
void CheckFitsMap(const MapEntry &map, const MapTable &table)
{
	for (const MapTable &other : map.tables) {
		if (std::strcmp(other.relation, table.relation) == 0)
			ereport(
				ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
						   errmsg("map \"%s\" has a table %s already", map.name, table.relation)));
		if (other.per_slot != table.per_slot)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							   errmsg("map \"%s\" has tables of kind %s", map.name,
								   other.per_slot ? "per_slot" : "per_node"),
							   errhint("All tables of a map are of one kind.")));
	}
	if (table.per_slot && map.slots > kMaxPartitions)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						   errmsg("map \"%s\" has %d slots; a table of kind per_slot can have at "
								  "most %d partitions",
							   map.name, map.slots, kMaxPartitions)));
	if (table.per_slot && std::strcmp(map.hash, "postgres") != 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						   errmsg("a table of kind per_slot needs the hash of PostgreSQL's "
								  "partitioning, not %s",
							   map.hash)));
}

Oid RelationNamed(const char *relation)
{
	List *names = NIL;
	(void)SplitIdentifierString(pstrdup(relation), '.', &names);
	const Oid schema = get_namespace_oid(static_cast<char *>(linitial(names)), true);
	return get_relname_relid(static_cast<char *>(llast(names)), schema);
}

bool HasServer(const MapEntry &map)
{
	for (const MapNode &node : map.nodes)
		if (node.server != nullptr)
			return true;
	return false;
}

[[noreturn]] void RaiseNoModel(const MapEntry &map, const MapTable &table)
{
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
					   table.per_slot ? errmsg("there is no table %s", table.relation)
									  : errmsg("no node of map \"%s\" has a table %s", map.name,
											table.relation),
					   errhint("Name a template to create it from.")));
	pg_unreachable();
}

/* For rows that are there: a move of a few slots reads them all unless it has an index. */
void OfferIndex(const MapEntry &map, const MapTable &table, const char *columns)
{
	ereport(NOTICE,
		(errmsg("moving some of the slots of table %s reads all rows of a node", table.relation),
			errhint("SELECT shardkit.index_slots(%s, %s) creates an index ON %s "
					"(shardkit.partition_slot(%d, %s)) on every node.",
				quote_literal_cstr(map.name), quote_literal_cstr(table.relation), table.relation,
				map.slots, columns)));
}

void AddPerNode(const MapEntry &map, MapTable &table)
{
	const bool adopts = OidIsValid(ModelOf(map, {.relation = table.relation,
													.key = table.key,
													.per_slot = false,
													.template_table = InvalidOid,
													.key_types = {}}));
	const Oid model = OidIsValid(table.template_table) ? table.template_table : ModelOf(map, table);
	if (!OidIsValid(model))
		RaiseNoModel(map, table);
	const Key key = ReadKey(model, table.key);
	table.key_types = KeyTypes(key);
	CheckKeyTypes(map, table.key_types);
	InsertTable(map, table);
	for (const MapNode &node : map.nodes)
		CreateNodeTable(map, table, node, true);
	if (adopts)
		OfferIndex(map, table, KeyColumnList(model, key, ""));
}

void AddPerSlot(const MapEntry &map, MapTable &table)
{
	Oid parent = RelationNamed(table.relation);
	const Oid model = OidIsValid(table.template_table) ? table.template_table : parent;
	if (!OidIsValid(model))
		RaiseNoModel(map, table);
	const Key key = ReadKey(model, table.key);
	const char *columns = KeyColumnList(model, key, "");
	table.key_types = KeyTypes(key);
	CheckKeyTypes(map, table.key_types);
	InsertTable(map, table);
	if (!OidIsValid(parent)) {
		RunAsCaller("SELECT shardkit_internal.create_partitioned_table($1, $2, "
					"$3::pg_catalog.regclass, $4)",
			{SqlText(table.relation), SqlText(columns), SqlOid(model),
				{BOOLOID, BoolGetDatum(!HasServer(map)), false}});
		parent = RelationNamed(table.relation);
	}
	RunAsCaller("SELECT shardkit_internal.check_partitioned_table($1, $2::pg_catalog.regclass, $3)",
		{SqlText(map.name), SqlOid(parent), SqlText(columns)});
	for (const MapNode &node : map.nodes)
		CreateNodeTable(map, table, node);
	RunAsCaller("SELECT shardkit_internal.adopt_remote_tables($1, $2)",
		{SqlText(map.name), SqlText(table.relation)});
	RunAsCaller("SELECT shardkit_internal.create_partitions($1, $2)",
		{SqlText(map.name), SqlText(table.relation)});
}

/* Sequences of a temporary one would go with the session, and the defaults that draw from them. */
void CheckTemplate(Oid model)
{
	if (!OidIsValid(model))
		return;
	if (get_rel_name(model) == nullptr)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						   errmsg("there is no table with OID %u to serve as a template", model)));
	if (get_rel_persistence(model) == RELPERSISTENCE_TEMP)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						   errmsg("template \"%s\" is a temporary table", get_rel_name(model))));
}

} // namespace

SHARDKIT_FUNCTION(shardkit_add_table)
Datum shardkit_add_table(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *relation = TextArgument(fcinfo, 1, "relation");
	const char *key = TextArgument(fcinfo, 2, "key");
	const char *kind = TextArgument(fcinfo, 3, "kind");
	const Oid model = PG_ARGISNULL(4) ? InvalidOid : PG_GETARG_OID(4);
	const bool per_slot = IsPerSlot(kind);
	MapTable table = {.relation = NormalName(relation, per_slot),
		.key = key,
		.per_slot = per_slot,
		.template_table = model,
		.key_types = {}};
	CheckTemplate(model);
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	CheckFitsMap(map, table);
	if (per_slot)
		AddPerSlot(map, table);
	else
		AddPerNode(map, table);

	StringInfo change = BeginChange("add_table");
	AddText(change, "relation", table.relation);
	AddText(change, "key", key);
	AddText(change, "kind", kind);
	const int64 epoch = LogChange(map, change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

/* Tables and rows stay, without their guards. */
SHARDKIT_FUNCTION(shardkit_remove_table)
Datum shardkit_remove_table(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *relation = TextArgument(fcinfo, 1, "relation");
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	const MapTable &table = GetTable(map, relation);
	CheckNoUnfinishedMove(map, nullptr, table.relation);
	for (const MapNode &node : map.nodes)
		DropGuards(table, node);
	RunOnCatalog("DELETE FROM shardkit.map_table WHERE map = $1 AND relation = $2",
		{SqlText(map.name), SqlText(table.relation)});
	StringInfo change = BeginChange("remove_table");
	AddText(change, "relation", table.relation);
	const int64 epoch = LogChange(map, change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

/* What verify_map prints where a table, its guards or its partitions are missing. */
SHARDKIT_FUNCTION(shardkit_repair_table)
Datum shardkit_repair_table(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *relation = TextArgument(fcinfo, 1, "relation");
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	const MapTable &table = GetTable(map, relation);
	for (const MapNode &node : map.nodes)
		CreateNodeTable(map, table, node);
	/* Rows that were lost with the table are for others to bring back. */
	for (const MapNode &node : map.nodes)
		CreateForeignKeys(map, node, true);
	if (table.per_slot) {
		RunAsCaller("SELECT shardkit_internal.adopt_remote_tables($1, $2)",
			{SqlText(map.name), SqlText(table.relation)});
		CreatePartitions(map);
	}
	SPI_finish();
	PG_RETURN_VOID();
}
