/* Shardkit's own tables, and the one way in which they are written. */
#ifndef SHARDKIT_PG_CATALOG_HPP
#define SHARDKIT_PG_CATALOG_HPP

#include <initializer_list>

#include "pg/pg.hpp"

namespace shardkit
{

struct Catalog {
	Oid owner;
	Oid map;
	Oid node;
	Oid slot_map;
	Oid map_table;
	Oid map_log;
	Oid move_log;
};

/* An error where the extension is not installed. Costs a few syscache look-ups. */
Catalog FindCatalog();

/* An argument of a statement. */
struct SqlValue {
	Oid type;
	Datum value;
	bool null;
};

SqlValue SqlText(const char *text); /* nullptr: NULL */
SqlValue SqlName(const char *name);
SqlValue SqlInt(int32 value);
SqlValue SqlBigint(int64 value);
SqlValue SqlFloat(double value);
SqlValue SqlOid(Oid value); /* InvalidOid: NULL */

/*
 * Runs one statement as the owner of the catalog, with search_path pg_catalog, and returns the
 * number of rows; those returned are in SPI_tuptable. SPI must be connected. The caller has checked
 * by now what the user may do: nothing that SQL can call hands a statement through to here.
 */
uint64 RunOnCatalog(const char *statement, std::initializer_list<SqlValue> values);

/* The same as the current user. */
uint64 RunAsCaller(const char *statement, std::initializer_list<SqlValue> values = {});

/* A column of a row of the last statement; NULL where there is no such row. */
Datum ResultDatum(bool *null, int row = 0, int column = 1);

/* schema.table as SQL text. */
char *QualifiedName(Oid relation);

} // namespace shardkit

#endif
