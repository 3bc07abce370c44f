#include "pg/move/move_check.hpp"

#include <algorithm>

#include "pg/map/catalog.hpp"
#include "pg/move/move_statement.hpp"
#include "pg/move/move_stream.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

char *TextColumn(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/*
 * For each foreign key of the table (of_child), or to it: its name, the table at the other end, the
 * condition that joins child c and parent p, and the condition that a row of c refers at all. One
 * to a partitioned table stands once more in the catalog for each partition: a row needs only one.
 */
constexpr const char *kForeignKeys =
	"SELECT k.conname::text, (CASE WHEN $2 THEN k.confrelid ELSE k.conrelid END)::oid,"
	" string_agg(format('p.%I OPERATOR(%I.%s) c.%I', pa.attname, n.nspname, o.oprname,"
	" ca.attname), ' AND '),"
	" string_agg(format('c.%I IS NOT NULL', ca.attname), ' AND '), k.conrelid::regclass::text"
	" FROM pg_constraint AS k,"
	" ROWS FROM (unnest(k.conkey), unnest(k.confkey), unnest(k.conpfeqop)) AS u (child, parent, "
	"op),"
	" pg_attribute AS ca, pg_attribute AS pa, pg_operator AS o, pg_namespace AS n"
	" WHERE k.contype = 'f' AND (CASE WHEN $2 THEN k.conrelid ELSE k.confrelid END) = $1"
	" AND (k.convalidated OR NOT $2)"
	" AND NOT ($2 AND EXISTS (SELECT FROM pg_constraint AS w WHERE w.oid = k.conparentid"
	" AND w.conrelid = k.conrelid))"
	" AND ca.attrelid = k.conrelid AND ca.attnum = u.child"
	" AND pa.attrelid = k.confrelid AND pa.attnum = u.parent"
	" AND o.oid = u.op AND n.oid = o.oprnamespace"
	" GROUP BY k.oid, k.conname, k.confrelid, k.conrelid ORDER BY k.conname";

struct ForeignKey {
	const char *name;
	Oid other;
	const char *joins;
	const char *refers;
	const char *child;
};

std::span<ForeignKey> ForeignKeys(Oid table, bool of_child)
{
	const SqlValue is_child{BOOLOID, BoolGetDatum(of_child), false};
	const uint64 count = RunAsCaller(kForeignKeys, {SqlOid(table), is_child});
	auto *keys = static_cast<ForeignKey *>(palloc(sizeof(ForeignKey) * Max(count, 1)));
	for (uint64 i = 0; i < count; ++i)
		keys[i] = {.name = TextColumn(i, 1),
			.other = static_cast<Oid>(strtoul(TextColumn(i, 2), nullptr, 10)),
			.joins = TextColumn(i, 3),
			.refers = TextColumn(i, 4),
			.child = TextColumn(i, 5)};
	return {keys, count};
}

bool AnyRow(const char *statement, const MoveBatch &batch)
{
	return RunAsCaller(statement, {{INT4ARRAYOID, SlotArray(batch.slots), false}}) > 0;
}

/* Moved rows of the target whose parent is not there. */
void CheckParents(const MapEntry &map, const MoveBatch &batch, const MoveTable &table)
{
	for (const ForeignKey &key : ForeignKeys(table.target, true)) {
		const char *statement = psprintf("SELECT 1 FROM %s AS c WHERE %s = ANY ($1) AND %s"
										 " AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE %s) LIMIT 1",
			TableInStatement(table.target), SlotExpression(map, table, "c"), key.refers,
			TableInStatement(key.other), key.joins);
		if (AnyRow(statement, batch))
			ereport(ERROR,
				(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
					errmsg("rows of table %s would refer to nothing on node \"%s\"", table.relation,
						batch.to),
					errdetail(
						"Foreign key \"%s\" leads to %s.", key.name, TableInStatement(key.other)),
					errhint("Rows that refer to each other need the same key, and both tables must "
							"belong to the map.")));
	}
}

/* Rows that still refer to a row that has left the source. */
void CheckChildren(const MapEntry &map, const MoveBatch &batch, const MoveTable &table)
{
	for (const ForeignKey &key : ForeignKeys(table.source, false)) {
		const char *statement =
			psprintf("SELECT 1 FROM %s AS p JOIN %s AS c ON %s WHERE %s = ANY ($1)"
					 " AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE %s) LIMIT 1",
				TableInStatement(table.target), TableInStatement(key.other), key.joins,
				SlotExpression(map, table, "p"), TableInStatement(table.source), key.joins);
		if (AnyRow(statement, batch))
			ereport(ERROR,
				(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
					errmsg("rows of %s refer to rows of table %s that would leave node \"%s\"",
						key.child, table.relation, batch.from),
					errdetail("The foreign key is \"%s\".", key.name),
					errhint("Rows that refer to each other need the same key, and both tables must "
							"belong to the map; otherwise drop the foreign key.")));
	}
}

/* Constraint triggers of users that would fire at commit, behind every check. */
constexpr const char *kWaitingTriggers =
	"SELECT string_agg(DISTINCT format('%I.%I', n.nspname, k.conname), ', ')"
	" FROM pg_trigger AS t JOIN pg_constraint AS k ON k.oid = t.tgconstraint"
	" JOIN pg_namespace AS n ON n.oid = k.connamespace"
	" WHERE NOT t.tgisinternal AND k.condeferrable AND t.tgenabled IN ('A', 'R')"
	" AND t.tgrelid IN (SELECT $1 UNION SELECT relid FROM pg_partition_tree($1))";

void FireWaitingTriggers(Oid table)
{
	RunAsCaller(kWaitingTriggers, {SqlOid(table)});
	const char *names = TextColumn(0, 1);
	if (names != nullptr)
		RunAsCaller(psprintf("SET CONSTRAINTS %s IMMEDIATE", names));
}

[[noreturn]] void RaiseTriggered(const MoveTable &table, const char *node, const char *detail)
{
	ereport(ERROR,
		(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			errmsg("a trigger changed moved rows of table %s on node \"%s\"", table.relation, node),
			errdetail("%s", detail),
			errhint("Nothing was moved. Look for triggers that are ENABLE ALWAYS or REPLICA.")));
	pg_unreachable();
}

/*
 * Name, and the condition under which rows a and b may not both be there, of each deferrable
 * constraint. Those over expressions or with a predicate are refused beforehand.
 */
constexpr const char *kDeferrable =
	"SELECT k.conname::text, string_agg(format('a.%I OPERATOR(%I.%s) b.%I', c.attname, n.nspname,"
	" o.oprname, c.attname), ' AND ')"
	" FROM pg_constraint AS k JOIN pg_index AS i ON i.indexrelid = k.conindid,"
	" unnest(k.conkey) WITH ORDINALITY AS u (number, place),"
	" pg_attribute AS c, pg_opclass AS oc, pg_operator AS o, pg_namespace AS n"
	" WHERE k.conrelid = $1 AND k.condeferrable AND k.contype IN ('p', 'u', 'x')"
	" AND i.indpred IS NULL AND i.indexprs IS NULL"
	" AND c.attrelid = k.conrelid AND c.attnum = u.number"
	" AND oc.oid = i.indclass[(u.place - 1)::int]"
	" AND o.oid = coalesce(k.conexclop[u.place], (SELECT e.amopopr FROM pg_amop AS e"
	" WHERE e.amopfamily = oc.opcfamily AND e.amoplefttype = oc.opcintype"
	" AND e.amoprighttype = oc.opcintype AND e.amopstrategy = 3))"
	" AND n.oid = o.oprnamespace"
	" GROUP BY k.oid, k.conname ORDER BY k.conname";

} // namespace

void CheckHazards(const char *map, const MoveBatch &batch)
{
	if (RunAsCaller("SELECT object, problem, fix FROM shardkit_internal.move_hazards($1, $2, $3)"
					" WHERE severity = 'error' LIMIT 1",
			{SqlText(map), {INT4ARRAYOID, SlotArray(batch.slots), false}, SqlText(batch.to)}) == 0)
		return;
	const char *fix = TextColumn(0, 3);
	ereport(
		ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				   errmsg("rows cannot move from node \"%s\" to node \"%s\": %s: %s", batch.from,
					   batch.to, TextColumn(0, 1), TextColumn(0, 2)),
				   errdetail("Nothing was moved. shardkit.preflight lists all that is in the way."),
				   fix == nullptr ? 0 : errhint("%s", fix)));
}

void CheckAfterTriggers(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables)
{
	if (std::ranges::all_of(tables, [](const MoveTable &table) { return table.by_page; }))
		return;
	for (const MoveTable &table : tables) {
		FireWaitingTriggers(table.source);
		FireWaitingTriggers(table.target);
	}
	const auto places = PlacesOfSlots(map.slots, batch.slots);
	for (const MoveTable &table : tables) {
		const std::span<RowSum> there = NoRows(batch.slots.size());
		RunStreamed(ReadStatement(map, table), batch, places, there);
		for (std::size_t place = 0; place < there.size(); ++place)
			if (!SameRows(there[place], table.stored[place]))
				RaiseTriggered(table, batch.to,
					psprintf("Of slot %d, " UINT64_FORMAT
							 " rows were stored; now there are " UINT64_FORMAT ", or others.",
						batch.slots[place], table.stored[place].rows, there[place].rows));
		if (AnyRow(psprintf("SELECT 1 FROM %s AS s WHERE %s = ANY ($1) LIMIT 1",
					   TableInStatement(table.source), SlotExpression(map, table, "s")),
				batch))
			RaiseTriggered(table, batch.from, "Rows of slots that leave have come back.");
	}
}

void CheckMovedForeignKeys(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables)
{
	for (const MoveTable &table : tables) {
		CheckParents(map, batch, table);
		CheckChildren(map, batch, table);
	}
}

void CheckMovedUniqueness(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables)
{
	for (const MoveTable &table : tables) {
		const uint64 count = RunAsCaller(kDeferrable, {SqlOid(table.target)});
		SPITupleTable *found = SPI_tuptable;
		for (uint64 i = 0; i < count; ++i) {
			const char *name = SPI_getvalue(found->vals[i], found->tupdesc, 1);
			const char *conflict = SPI_getvalue(found->vals[i], found->tupdesc, 2);
			const char *whole = TableInStatement(table.target);
			const char *statement = psprintf(
				"SELECT 1 FROM %s AS a JOIN %s AS b ON %s"
				" WHERE %s = ANY ($1) AND (a.tableoid, a.ctid) <> (b.tableoid, b.ctid) LIMIT 1",
				whole, whole, conflict, SlotExpression(map, table, "a"));
			if (AnyRow(statement, batch))
				ereport(
					ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
							   errmsg("moved rows of table %s conflict with rows of node \"%s\"",
								   table.relation, batch.to),
							   errdetail("The constraint is \"%s\".", name)));
		}
	}
}

} // namespace shardkit
