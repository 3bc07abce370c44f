#include "pg/map/guard_trigger.hpp"

#include <cstring>

#include "pg/key/key.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/map_hash.hpp"
#include "pg/map/map_rows.hpp"
#include "pg/quote.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

/* In byte order behind most names, so that they run behind the user's AFTER triggers' names. */
constexpr const char *kInsertTrigger = "shardkit_guard_insert";
constexpr const char *kUpdateTrigger = "shardkit_guard_update";

/*
 * Is the type's equality one of the server's own? A trigger's WHEN looks it up by search_path, and
 * a dump does so again: with another one the guard runs for every update.
 */
bool HasServerEquality(Oid type)
{
	const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
	return get_func_namespace(get_opcode(entry->eq_opr)) == PG_CATALOG_NAMESPACE;
}

/* " WHEN (OLD.a IS DISTINCT FROM NEW.a OR ...)"; not UPDATE OF, since a trigger may change it too.
 */
char *WhenKeyChanges(Oid relation, const Key &key)
{
	StringInfoData when;
	initStringInfo(&when);
	for (int i = 0; i < key.columns; ++i) {
		if (!HasServerEquality(key.column[i].type))
			return pstrdup("");
		const char *column = QuoteName(get_attname(relation, key.column[i].number, false));
		appendStringInfo(
			&when, "%sOLD.%s IS DISTINCT FROM NEW.%s", i > 0 ? " OR " : " WHEN (", column, column);
	}
	appendStringInfoChar(&when, ')');
	return when.data;
}

/* condition is about pg_trigger AS t. */
void DropGuardsWhere(const char *condition, std::initializer_list<SqlValue> values)
{
	const uint64 found = RunAsCaller(
		psprintf("SELECT t.tgname, t.tgrelid FROM pg_trigger AS t"
				 " WHERE t.tgfoid = 'shardkit.guard()'::regprocedure AND t.tgparentid = 0 AND %s",
			condition),
		values);
	const SPITupleTable *rows = SPI_tuptable;
	for (uint64 row = 0; row < found; ++row) {
		bool null = false;
		const HeapTuple tuple = rows->vals[row];
		const char *trigger = SPI_getvalue(tuple, rows->tupdesc, 1);
		const Oid relation = DatumGetObjectId(SPI_getbinval(tuple, rows->tupdesc, 2, &null));
		RunAsCaller(psprintf(
			"DROP TRIGGER IF EXISTS %s ON %s", QuoteName(trigger), QualifiedName(relation)));
	}
}

std::span<const Oid> KeyTypes(const Key &key)
{
	auto *types = static_cast<Oid *>(palloc(key.columns * sizeof(Oid)));
	for (int i = 0; i < key.columns; ++i)
		types[i] = key.column[i].type;
	return {types, static_cast<size_t>(key.columns)};
}

void CreateGuard(
	Oid relation, const char *trigger, const char *event, const char *when, const char *arguments)
{
	const char *table = QualifiedName(relation);
	RunAsCaller(psprintf("CREATE OR REPLACE TRIGGER %s AFTER %s ON %s FOR EACH ROW%s"
						 " EXECUTE FUNCTION shardkit.guard(%s)",
		trigger, event, table, when, arguments));
	RunAsCaller(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", table, trigger));
}

} // namespace

void CreateGuards(const MapEntry &map, const MapTable &table, const MapNode &node, Oid relation)
{
	Relation opened = relation_open(relation, AccessShareLock);
	const Key key = ParseKey(opened, table.key);
	const char *when = WhenKeyChanges(relation, key);
	CheckHashTakes(map.hash, KeyTypes(key));
	relation_close(opened, NoLock);
	const char *arguments = psprintf("%s, %s, %s", quote_literal_cstr(map.name),
		quote_literal_cstr(node.name), quote_literal_cstr(table.key));
	CreateGuard(relation, kInsertTrigger, "INSERT", "", arguments);
	CreateGuard(relation, kUpdateTrigger, "UPDATE", when, arguments);
}

void DropGuards(const MapTable &table, const MapNode &node)
{
	const Oid relation = NodeTableOid(table, node);
	if (OidIsValid(relation))
		DropGuardsWhere("t.tgrelid = $1", {SqlOid(relation)});
}

void DropAllGuards(const MapEntry &map, const char *node)
{
	/* Arguments lie one behind the other, each with a zero byte at its end. */
	const SqlValue map_bytes = SqlText(map.name);
	const SqlValue node_bytes = SqlText(node);
	DropGuardsWhere("position(convert_to($1, getdatabaseencoding()) || decode('00', 'hex')"
					" || coalesce(convert_to($2, getdatabaseencoding()) || decode('00', 'hex'), '')"
					" IN t.tgargs) = 1",
		{map_bytes, node_bytes});
}

} // namespace shardkit
