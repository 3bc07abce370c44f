#include "pg/map/catalog.hpp"
#include "pg/quote.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

constexpr int kMaxValues = 12;

[[noreturn]] void RaiseNotInstalled()
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					   errmsg("extension shardkit is not installed in this database"),
					   errhint("Run CREATE EXTENSION shardkit.")));
	pg_unreachable();
}

Oid TableOf(Oid schema, const char *name)
{
	const Oid table = get_relname_relid(name, schema);
	if (!OidIsValid(table))
		RaiseNotInstalled();
	return table;
}

/* Those who may write the catalog are its owner, whoever owns the extension by now. */
Oid OwnerOf(Oid table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	if (!HeapTupleIsValid(tuple))
		RaiseNotInstalled();
	const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

void SetForStatement(const char *name, const char *value)
{
	(void)set_config_option(
		name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * A name in a statement of ours means what it says, whatever the caller's search_path, and rows
 * that a policy would hide are an error, not missing; a definition that is compared reads the same
 * whatever the session quotes.
 */
uint64 Run(const char *statement, std::initializer_list<SqlValue> values)
{
	Oid types[kMaxValues];
	Datum datums[kMaxValues];
	char nulls[kMaxValues];
	int count = 0;
	Assert(values.size() <= kMaxValues);
	for (const SqlValue &value : values) {
		types[count] = value.type;
		datums[count] = value.value;
		nulls[count++] = value.null ? 'n' : ' ';
	}

	const int nest_level = NewGUCNestLevel();
	SetForStatement("search_path", "pg_catalog, pg_temp");
	SetForStatement("row_security", "off");
	SetForStatement("quote_all_identifiers", "off");
	const int result = SPI_execute_with_args(statement, count, types, datums, nulls, false, 0);
	if (result < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						   errmsg("statement failed: %s", SPI_result_code_string(result)),
						   errdetail_internal("%s", statement)));
	AtEOXact_GUC(true, nest_level);
	return SPI_processed;
}

} // namespace

Catalog FindCatalog()
{
	const Oid schema = get_namespace_oid("shardkit", true);
	if (!OidIsValid(schema))
		RaiseNotInstalled();
	Catalog catalog;
	catalog.map = TableOf(schema, "map");
	catalog.node = TableOf(schema, "node");
	catalog.slot_map = TableOf(schema, "slot_map");
	catalog.map_table = TableOf(schema, "map_table");
	catalog.map_log = TableOf(schema, "map_log");
	catalog.move_log = TableOf(schema, "move_log");
	catalog.owner = OwnerOf(catalog.map);
	return catalog;
}

SqlValue SqlText(const char *text)
{
	return {TEXTOID, text == nullptr ? Datum{0} : CStringGetTextDatum(text), text == nullptr};
}

SqlValue SqlName(const char *name)
{
	if (name == nullptr)
		return {NAMEOID, 0, true};
	auto *copy = static_cast<Name>(palloc0(NAMEDATALEN));
	namestrcpy(copy, name);
	return {NAMEOID, NameGetDatum(copy), false};
}

SqlValue SqlInt(int32 value)
{
	return {INT4OID, Int32GetDatum(value), false};
}

SqlValue SqlBigint(int64 value)
{
	return {INT8OID, Int64GetDatum(value), false};
}

SqlValue SqlFloat(double value)
{
	return {FLOAT8OID, Float8GetDatum(value), false};
}

SqlValue SqlOid(Oid value)
{
	return {OIDOID, ObjectIdGetDatum(value), !OidIsValid(value)};
}

uint64 RunOnCatalog(const char *statement, std::initializer_list<SqlValue> values)
{
	const Oid owner = FindCatalog().owner;
	Oid user = InvalidOid;
	int context = 0;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(owner, context | SECURITY_LOCAL_USERID_CHANGE);
	const uint64 rows = Run(statement, values);
	SetUserIdAndSecContext(user, context);
	return rows;
}

uint64 RunAsCaller(const char *statement, std::initializer_list<SqlValue> values)
{
	return Run(statement, values);
}

Datum ResultDatum(bool *null, int row, int column)
{
	if (SPI_tuptable == nullptr || static_cast<uint64>(row) >= SPI_tuptable->numvals) {
		*null = true;
		return 0;
	}
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, null);
}

char *QualifiedName(Oid relation)
{
	return QuoteName(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

} // namespace shardkit
