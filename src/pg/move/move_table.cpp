#include <algorithm>

#include "pg/move/move.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_constraint.h"
}

namespace shardkit
{

namespace
{

const MapNode &NodeOf(const MapEntry &map, const char *name)
{
	return map.nodes[static_cast<std::size_t>(GetNode(map, name))];
}

/* relation is written as in SQL, quoted where it must be. */
Oid TableOf(const MapNode &node, const char *relation)
{
	List *names = NIL;
	Oid table = InvalidOid;
	const Oid schema = get_namespace_oid(node.schema, true);
	if (OidIsValid(schema) && SplitIdentifierString(pstrdup(relation), '.', &names) &&
		list_length(names) == 1)
		table = get_relname_relid(static_cast<const char *>(linitial(names)), schema);
	if (!OidIsValid(table))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						   errmsg("node \"%s\" has no table %s in schema \"%s\"", node.name,
							   relation, node.schema)));
	return table;
}

/* The mover writes both tables and switches off their triggers: nobody else's business. */
void CheckOwned(Oid table)
{
	if (!OwnsTable(GetUserId(), table))
		aclcheck_error(
			ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(table)), get_rel_name(table));
}

/* Does a foreign key lead from the first table to the second? */
bool Refers(Oid from, Oid to)
{
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData of_table;
	ScanKeyInit(&of_table, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
		ObjectIdGetDatum(from));
	SysScanDesc scan = systable_beginscan(
		constraints, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &of_table);
	bool refers = false;
	HeapTuple tuple = nullptr;
	while (!refers && HeapTupleIsValid(tuple = systable_getnext(scan))) {
		const auto &constraint = *reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple));
		refers = constraint.contype == CONSTRAINT_FOREIGN && constraint.confrelid == to;
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
	return refers;
}

/* Referenced tables first; of those in a circle, the first by name. */
void PutInForeignKeyOrder(std::span<MoveTable> tables)
{
	for (std::size_t done = 0; done < tables.size(); ++done) {
		const auto rest = tables.subspan(done);
		const auto refers_to_none = [&rest](const MoveTable &table) {
			return std::ranges::none_of(rest, [&table](const MoveTable &other) {
				return other.source != table.source && Refers(table.source, other.source);
			});
		};
		const auto next = std::ranges::find_if(rest, refers_to_none);
		if (next != rest.end())
			std::rotate(rest.begin(), next, next + 1);
	}
}

} // namespace

std::span<RowSum> NoRows(std::size_t slots)
{
	return {static_cast<RowSum *>(palloc0(sizeof(RowSum) * Max(slots, 1))), slots};
}

std::span<MoveTable> ReadMoveTables(const MapEntry &map, const MoveBatch &batch)
{
	const MapNode &from = NodeOf(map, batch.from);
	const MapNode &to = NodeOf(map, batch.to);
	const std::span<MoveTable> tables(
		static_cast<MoveTable *>(palloc0(sizeof(MoveTable) * Max(map.tables.size(), 1))),
		map.tables.size());
	for (std::size_t i = 0; i < tables.size(); ++i) {
		MoveTable &table = tables[i];
		table.relation = map.tables[i].relation;
		table.key = map.tables[i].key;
		table.source = TableOf(from, table.relation);
		table.target = TableOf(to, table.relation);
		CheckOwned(table.source);
		CheckOwned(table.target);
		table.left = NoRows(batch.slots.size());
		table.stored = NoRows(batch.slots.size());
	}
	PutInForeignKeyOrder(tables);
	return tables;
}

} // namespace shardkit
