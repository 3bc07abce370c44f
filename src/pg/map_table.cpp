#include "pg/map_table.hpp"

#include <cstring>

#include "pg/arguments.hpp"
#include "pg/catalog.hpp"
#include "pg/guard_trigger.hpp"
#include "pg/key.hpp"
#include "pg/map_change.hpp"
#include "pg/map_rows.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace shardkit
{

namespace
{

char *NodeTableName(const MapTable &table, const MapNode &node)
{
	return psprintf("%s.%s", quote_identifier(node.schema), table.relation);
}

/* As in SQL, one name; written back the way quote_identifier writes it. */
const char *NormalName(const char *relation)
{
	List *names = NIL;
	if (!SplitIdentifierString(pstrdup(relation), '.', &names) || list_length(names) != 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME),
						   errmsg("\"%s\" is not a table name without a schema", relation),
						   errhint("The table has this name in every node's schema; quote it as in "
								   "SQL.")));
	return pstrdup(quote_identifier(static_cast<char *>(linitial(names))));
}

/* The types of the key's columns. */
std::span<const Oid> KeyTypes(Oid relation, const char *names)
{
	Relation opened = relation_open(relation, AccessShareLock);
	const Key key = ParseKey(opened, names);
	relation_close(opened, NoLock);
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
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						   errmsg("the key has %zu columns, that of table %s of map \"%s\" has %zu",
							   types.size(), first.relation, map.name, first.key_types.size())));
}

/* The template, or else the first table of that name on a node. */
Oid ModelOf(const MapEntry &map, const MapTable &table)
{
	if (OidIsValid(table.template_table) && get_rel_name(table.template_table) != nullptr)
		return table.template_table;
	for (const MapNode &node : map.nodes)
		if (const Oid found = NodeTableOid(table, node); OidIsValid(found))
			return found;
	return InvalidOid;
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

/* A table has one guard: it can belong to one map. */
void CheckIsNew(const MapEntry &map, const char *relation)
{
	for (const MapTable &table : map.tables)
		if (std::strcmp(table.relation, relation) == 0)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
							   errmsg("map \"%s\" has a table %s already", map.name, relation)));
}

int32 NumberOf(const MapEntry &map, const MapNode &node)
{
	return static_cast<int32>(&node - map.nodes.data());
}

} // namespace

void CreateNodeTable(const MapEntry &map, const MapTable &table, const MapNode &node)
{
	if (node.server != nullptr)
		ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("node \"%s\" has a server; tables of kind per_node are local", node.name)));
	if (!OidIsValid(NodeTableOid(table, node))) {
		const Oid model = ModelOf(map, table);
		if (!OidIsValid(model))
			ereport(
				ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						   errmsg("no node of map \"%s\" has a table %s", map.name, table.relation),
						   errhint("Name a template to create it from.")));
		RunAsCaller(psprintf("CREATE TABLE %s (LIKE %s INCLUDING ALL)", NodeTableName(table, node),
			QualifiedName(model)));
	}
	CheckRowsOfTable(map, table, NumberOf(map, node));
	CreateGuards(map, table, node, NodeTableOid(table, node));
}

} // namespace shardkit

SHARDKIT_FUNCTION(shardkit_add_table)
Datum shardkit_add_table(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *relation = NormalName(TextArgument(fcinfo, 1, "relation"));
	const char *key = TextArgument(fcinfo, 2, "key");
	const char *kind = TextArgument(fcinfo, 3, "kind");
	const Oid model = PG_ARGISNULL(4) ? InvalidOid : PG_GETARG_OID(4);
	if (std::strcmp(kind, "per_node") != 0)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("kind \"%s\" is not known", kind),
				errhint("The kinds are per_node and per_slot.")));
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	CheckIsNew(map, relation);
	MapTable table = {.relation = relation,
		.key = key,
		.per_slot = false,
		.template_table = model,
		.key_types = {}};
	const Oid shape = ModelOf(map, table);
	if (!OidIsValid(shape))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						   errmsg("no node of map \"%s\" has a table %s", name, relation),
						   errhint("Name a template to create it from.")));
	table.key_types = KeyTypes(shape, key);
	CheckKeyTypes(map, table.key_types);
	InsertTable(map, table);
	for (const MapNode &node : map.nodes)
		CreateNodeTable(map, table, node);

	StringInfo change = BeginChange("add_table");
	AddText(change, "relation", relation);
	AddText(change, "key", key);
	AddText(change, "kind", kind);
	const int64 epoch = LogChange(map, change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}
