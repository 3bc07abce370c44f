#include "pg/map/map_table.hpp"

#include <cstring>

#include "pg/map/catalog.hpp"
#include "pg/map/guard_trigger.hpp"
#include "pg/map/map_rows.hpp"
#include "pg/quote.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_inherits.h"
}

namespace shardkit
{

namespace
{

/* The name alone, without quotes. */
const char *BareName(const char *relation)
{
	List *names = NIL;
	(void)SplitIdentifierString(pstrdup(relation), '.', &names);
	return static_cast<char *>(llast(names));
}

char *ResultText(int column)
{
	bool null = false;
	const Datum value = ResultDatum(&null, 0, column);
	return null ? pstrdup("") : TextDatumGetCString(value);
}

/* Rows must be able to pass between the nodes' tables. */
void CheckShape(Oid relation, Oid model)
{
	if (relation == model || !OidIsValid(model))
		return;
	if (RunAsCaller(
			"SELECT problem, fix FROM shardkit_internal.column_differences($1::pg_catalog.regclass,"
			" $2::pg_catalog.regclass)",
			{SqlOid(relation), SqlOid(model)}) == 0)
		return;
	ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
					   errmsg("table %s differs from %s: %s", QualifiedName(relation),
						   QualifiedName(model), ResultText(1)),
					   errhint("%s", ResultText(2))));
}

/* Rows of children, and rows of a view, would pass the guard by. */
void CheckIsPlainTable(Oid relation)
{
	Relation opened = relation_open(relation, AccessShareLock);
	const bool plain = opened->rd_rel->relkind == RELKIND_RELATION &&
					   opened->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
	/* relhassubclass outlives the last child. */
	const bool has_children =
		opened->rd_rel->relhassubclass && find_inheritance_children(relation, NoLock) != NIL;
	const bool alone = !has_children && !opened->rd_rel->relispartition;
	relation_close(opened, NoLock);
	if (!plain)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						   errmsg("%s is not an ordinary table", QualifiedName(relation)),
						   errhint("A table of kind per_node is an ordinary table; a "
								   "hash-partitioned one can be of kind per_slot.")));
	if (!alone)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						   errmsg("table %s has inheritance children or is a partition",
							   QualifiedName(relation)),
						   errhint("Detach it first.")));
}

bool IsEnum(Oid type)
{
	for (Oid element = type; OidIsValid(element); element = get_element_type(getBaseType(element)))
		if (get_typtype(getBaseType(element)) == TYPTYPE_ENUM)
			return true;
	return false;
}

/* A foreign partition must hash its key like this server, and forbids keys on the parent. */
void CheckServerPartitions(const MapTable &table, const MapNode &node)
{
	for (const Oid type : table.key_types)
		if (IsEnum(type))
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							   errmsg("table %s has a key of the enum type %s, which every server "
									  "hashes in its own way",
								   table.relation, format_type_be(type)),
							   errhint("Use a text column as key, or local nodes.")));
	if (RunAsCaller("SELECT FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique",
			{SqlText(table.relation)}) > 0)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("table %s has a primary key or unique index, so that node \"%s\" "
								  "cannot hold foreign partitions of it",
							   table.relation, node.name),
						   errhint("Drop it on the partitioned table; each partition's own table "
								   "keeps or gets one.")));
}

void CreateMissing(const MapEntry &map, const MapTable &table, const MapNode &node)
{
	const Oid model = ModelOf(map, table);
	if (!OidIsValid(model))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						   errmsg("no node of map \"%s\" has a table %s", map.name, table.relation),
						   errhint("Name a template to create it from.")));
	RunAsCaller("SELECT shardkit_internal.create_table_like($1, $2, $3::pg_catalog.regclass)",
		{SqlName(node.schema), SqlName(BareName(table.relation)), SqlOid(model)});
}

} // namespace

const char *NormalName(const char *relation, bool per_slot)
{
	List *names = NIL;
	const bool valid = SplitIdentifierString(pstrdup(relation), '.', &names) && names != NIL;
	if (!valid || list_length(names) > (per_slot ? 2 : 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME),
						   errmsg("\"%s\" is not a table name%s", relation,
							   per_slot ? "" : " without a schema"),
						   per_slot ? 0
									: errhint("The table has this name in every node's schema; "
											  "quote it as in SQL.")));
	char *name = static_cast<char *>(llast(names));
	if (!per_slot)
		return pstrdup(QuoteName(name));
	char *schema = list_length(names) == 2 ? static_cast<char *>(linitial(names)) : nullptr;
	RangeVar *range = makeRangeVar(schema, name, -1);
	const Oid found = RangeVarGetRelid(range, NoLock, true);
	return OidIsValid(found)
			   ? QualifiedName(found)
			   : QuoteName(get_namespace_name(RangeVarGetCreationNamespace(range)), name);
}

const MapTable &GetTable(const MapEntry &map, const char *relation)
{
	const bool per_slot = !map.tables.empty() && map.tables.front().per_slot;
	const char *name = NormalName(relation, per_slot);
	for (const MapTable &table : map.tables)
		if (std::strcmp(table.relation, name) == 0)
			return table;
	ereport(ERROR,
		(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("map \"%s\" has no table %s", map.name, name),
			errhint("SELECT * FROM shardkit.map_table lists the tables.")));
	pg_unreachable();
}

/*
 * The tables that are there have been altered together since, the template perhaps not: it serves
 * only until the first is made.
 */
Oid ModelOf(const MapEntry &map, const MapTable &table, const MapNode *node)
{
	for (const MapNode &other : map.nodes)
		if (const Oid found = NodeTableOid(table, other); &other != node && OidIsValid(found))
			return found;
	return OidIsValid(table.template_table) && get_rel_name(table.template_table) != nullptr
			   ? table.template_table
			   : InvalidOid;
}

void CreateNodeTable(
	const MapEntry &map, const MapTable &table, const MapNode &node, bool by_template)
{
	if (table.per_slot) {
		if (node.server != nullptr)
			CheckServerPartitions(table, node);
		return;
	}
	if (node.server != nullptr)
		ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("node \"%s\" has a server; tables of kind per_node are local", node.name)));
	const bool is_there = OidIsValid(NodeTableOid(table, node));
	if (!is_there)
		CreateMissing(map, table, node);
	const Oid relation = NodeTableOid(table, node);
	CheckIsPlainTable(relation);
	CheckRowsOfTable(map, table, static_cast<int32>(&node - map.nodes.data()));
	if (is_there) {
		const Oid other = ModelOf(map, table, by_template ? nullptr : &node);
		const bool template_rules = by_template && OidIsValid(table.template_table);
		CheckShape(relation, template_rules || !OidIsValid(other) ? table.template_table : other);
	}
	CreateGuards(map, table, node, relation);
}

void CreateForeignKeys(const MapEntry &map, const MapNode &node, bool may_fail)
{
	for (const MapTable &table : map.tables) {
		const Oid relation = NodeTableOid(table, node);
		const Oid model = ModelOf(map, table, &node);
		if (OidIsValid(relation) && OidIsValid(model))
			RunAsCaller("SELECT shardkit_internal.add_foreign_keys($1::pg_catalog.regclass,"
						" $2::pg_catalog.regclass, $3)",
				{SqlOid(relation), SqlOid(model), {BOOLOID, BoolGetDatum(may_fail), false}});
	}
}

void CreatePartitions(const MapEntry &map)
{
	for (const MapTable &table : map.tables)
		if (table.per_slot)
			RunAsCaller("SELECT shardkit_internal.create_partitions($1, $2)",
				{SqlText(map.name), SqlText(table.relation)});
}

} // namespace shardkit
