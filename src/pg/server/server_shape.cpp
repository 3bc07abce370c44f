/*
 * Tables described as text: to compare them across servers, and to make one like another. All names
 * are qualified, since every session that is asked has pg_catalog as its search_path.
 */
#include "pg/map/catalog.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* "a"."b" COLLATE part where it is not the type's own. */
constexpr const char *kCollation =
	"CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || (SELECT format('%I.%I', "
	"n.nspname, o.collname) FROM pg_collation o JOIN pg_namespace n ON n.oid = o.collnamespace "
	"WHERE o.oid = a.attcollation) ELSE '' END";

int CompareNames(const void *left, const void *right)
{
	return strcmp(
		*static_cast<const char *const *>(left), *static_cast<const char *const *>(right));
}

} // namespace

/* The first value of the answer; nullptr: NULL or no row. */
const char *AskText(Link *link, const char *query)
{
	if (link != nullptr) {
		const auto answer = Ask(link, query);
		return answer.rows == 0 ? nullptr : answer.At(0, 0);
	}
	RunAsCaller(query);
	bool null = false;
	if (SPI_tuptable == nullptr || SPI_processed == 0)
		return nullptr;
	(void)SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
	return null ? nullptr : SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

/* Equal texts: rows go from one to the other in binary form, by column name. */
const char *ShapeOf(Link *link, const char *table)
{
	return AskText(
		link, psprintf("SELECT string_agg(format('%%I %%s%%s%%s', a.attname, "
					   "format_type(a.atttypid, a.atttypmod), %s, CASE WHEN a.attgenerated <> '' "
					   "THEN ' GENERATED' ELSE '' END), ', ' ORDER BY a.attname COLLATE \"C\") "
					   "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
					   "WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped",
				  kCollation, quote_literal_cstr(table)));
}

/* What stands between the brackets of CREATE TABLE for a table like that one. */
const char *ColumnsDdl(Link *link, const char *table, bool with_defaults)
{
	const char *literal = quote_literal_cstr(table);
	const char *columns = AskText(link,
		psprintf("SELECT string_agg(format('%%I %%s%%s%%s%%s', a.attname, "
				 "format_type(a.atttypid, a.atttypmod), %s, "
				 "CASE WHEN a.attgenerated = 's' THEN format(' GENERATED ALWAYS AS (%%s) STORED', "
				 "pg_get_expr(d.adbin, d.adrelid)) WHEN %s AND d.adbin IS NOT NULL "
				 "THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END, "
				 "CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END), ', ' ORDER BY a.attnum) "
				 "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
				 "LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
				 "WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped",
			kCollation, with_defaults ? "true" : "false", literal));
	/* The check that keeps a slot's rows in their table is made anew for each table. */
	const char *checks = AskText(
		link, psprintf("SELECT string_agg(format(', CONSTRAINT %%I %%s', conname, "
					   "pg_get_constraintdef(oid)), '' ORDER BY conname) FROM pg_constraint "
					   "WHERE conrelid = %s::regclass AND contype = 'c' "
					   "AND pg_get_constraintdef(oid) NOT LIKE '%%satisfies_hash_partition(%%'",
				  literal));
	if (columns == nullptr)
		ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("table %s has no columns", table)));
	return psprintf("%s%s", columns, checks == nullptr ? "" : checks);
}

CopyColumns ColumnsOf(Oid relation)
{
	CopyColumns columns = {};
	auto *opened = table_open(relation, AccessShareLock);
	auto *shape = RelationGetDescr(opened);
	columns.names =
		static_cast<const char **>(palloc0(sizeof(char *) * static_cast<Size>(shape->natts + 1)));
	for (int i = 0; i < shape->natts; ++i) {
		const auto *attribute = TupleDescAttr(shape, i);
		if (!attribute->attisdropped && attribute->attgenerated == '\0')
			columns.names[columns.count++] = pstrdup(NameStr(attribute->attname));
	}
	table_close(opened, AccessShareLock);
	qsort(columns.names, static_cast<size_t>(columns.count), sizeof(char *), CompareNames);
	return columns;
}

/* COPY of these columns, binary; direction: TO STDOUT or FROM STDIN. */
char *CopyStatement(const Side &side, const CopyColumns &columns, const char *direction)
{
	StringInfoData text;
	initStringInfo(&text);
	appendStringInfo(&text, "COPY %s (", Qualified(side));
	for (int i = 0; i < columns.count; ++i)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", QuoteName(columns.names[i]));
	appendStringInfo(&text, ") %s (FORMAT binary)", direction);
	return text.data;
}

namespace
{

std::uint64_t HalfOf(const char *digits)
{
	std::uint64_t half = 0;
	for (int i = 0; i < 16; ++i) {
		const char digit = digits[i];
		half =
			half << 4 | static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
	}
	return half;
}

} // namespace

/* A sum from the text of its count and its fingerprint; of what is none, nothing. */
RowSum SumFromText(const char *rows, const char *fingerprint)
{
	RowSum sum = {};
	if (rows == nullptr || fingerprint == nullptr || strlen(fingerprint) != kFingerprintDigits)
		return sum;
	sum.rows = static_cast<std::uint64_t>(pg_strtoint64(rows));
	sum.fingerprint = {.low = HalfOf(fingerprint + 16), .high = HalfOf(fingerprint)};
	return sum;
}

} // namespace shardkit
