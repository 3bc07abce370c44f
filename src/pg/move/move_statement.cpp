#include "pg/move/move_statement.hpp"

#include "pg/key/key.hpp"
#include "pg/map/catalog.hpp"
#include "pg/quote.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_attribute.h"
}

namespace shardkit
{

namespace
{

enum class Columns { kStorable, kAll };

/* Names of columns behind a prefix; those that can be inserted, or all that hold a value. */
char *ColumnList(Oid table, Columns which, const char *prefix)
{
	StringInfoData list;
	initStringInfo(&list);
	Relation relation = table_open(table, NoLock);
	TupleDesc shape = RelationGetDescr(relation);
	for (int i = 0; i < shape->natts; ++i) {
		const FormData_pg_attribute &column = *TupleDescAttr(shape, i);
		const bool wanted =
			which == Columns::kStorable ? column.attgenerated == '\0' : !IsVirtualColumn(column);
		if (column.attisdropped || !wanted)
			continue;
		appendStringInfo(
			&list, "%s%s%s", list.len == 0 ? "" : ", ", prefix, QuoteName(NameStr(column.attname)));
	}
	table_close(relation, NoLock);
	return list.data;
}

char *KeyList(const MoveTable &table, const char *prefix)
{
	Relation relation = table_open(table.source, NoLock);
	const Key key = ParseKey(relation, table.key);
	char *list = KeyColumnList(table.source, key, prefix);
	table_close(relation, NoLock);
	return list;
}

/* The name in 'app.route(text)', a router's own function; nullptr: the name of an algorithm. */
char *FunctionIn(const char *hash)
{
	const char *parenthesis = strrchr(hash, '(');
	return parenthesis == nullptr ? nullptr : pnstrdup(hash, static_cast<Size>(parenthesis - hash));
}

} // namespace

char *TableInStatement(Oid table)
{
	const char *schema = get_namespace_name(get_rel_namespace(table));
	const char *name = QuoteName(schema, get_rel_name(table));
	const bool whole = get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE;
	return psprintf("%s%s", whole ? "" : "ONLY ", name);
}

char *SlotExpression(const MapEntry &map, const MoveTable &table, const char *alias)
{
	const char *prefix = psprintf("%s.", alias);
	const char *key = KeyList(table, prefix);
	if (strcmp(map.hash, "postgres") == 0)
		return psprintf("shardkit.partition_slot(%d, %s)", map.slots, key);
	if (const char *function = FunctionIn(map.hash); function != nullptr)
		return psprintf("shardkit.modulo(%s((%s)::pg_catalog.text), %d)", function, key, map.slots);
	return psprintf("shardkit.modulo(shardkit.hash64((%s)::pg_catalog.text, %s), %d)", key,
		quote_literal_cstr(map.hash), map.slots);
}

char *CopyStatement(const MapEntry &map, const MoveTable &table)
{
	const char *schema = get_namespace_name(get_rel_namespace(table.target));
	return psprintf("INSERT INTO %s AS t (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s AS s"
					" WHERE %s OPERATOR(pg_catalog.=) ANY ($1) RETURNING %s, %s",
		QuoteName(schema, get_rel_name(table.target)),
		ColumnList(table.source, Columns::kStorable, ""),
		ColumnList(table.source, Columns::kStorable, "s."), TableInStatement(table.source),
		SlotExpression(map, table, "s"), SlotExpression(map, table, "t"),
		ColumnList(table.target, Columns::kAll, "t."));
}

char *ReadStatement(const MapEntry &map, const MoveTable &table)
{
	return psprintf("SELECT %s, %s FROM %s AS t WHERE %s OPERATOR(pg_catalog.=) ANY ($1)",
		SlotExpression(map, table, "t"), ColumnList(table.target, Columns::kAll, "t."),
		TableInStatement(table.target), SlotExpression(map, table, "t"));
}

char *DeleteStatement(const MapEntry &map, const MoveTable &table)
{
	return psprintf("DELETE FROM %s AS s WHERE %s OPERATOR(pg_catalog.=) ANY ($1) RETURNING %s, %s",
		TableInStatement(table.source), SlotExpression(map, table, "s"),
		SlotExpression(map, table, "s"), ColumnList(table.source, Columns::kAll, "s."));
}

} // namespace shardkit
