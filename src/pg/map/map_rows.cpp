#include "pg/map/map_rows.hpp"

#include "pg/key/key.hpp"
#include "pg/map/catalog.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

char *KeyColumns(const MapTable &table, Oid relation)
{
	Relation opened = relation_open(relation, AccessShareLock);
	char *columns = KeyColumnList(relation, ParseKey(opened, table.key), "");
	relation_close(opened, NoLock);
	return columns;
}

char *SlotExpression(const MapEntry &map, const char *key)
{
	RunAsCaller("SELECT shardkit.slot_expression($1, $2)", {SqlText(map.name), SqlText(key)});
	bool null = false;
	const Datum expression = ResultDatum(&null);
	if (null)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						   errmsg("map \"%s\" does not exist any more", map.name)));
	return TextDatumGetCString(expression);
}

/* Through SQL, which checks the caller's privileges. */
void LockAgainstWriters(Oid relation)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
						   errmsg("rows cannot be checked in a REPEATABLE READ or SERIALIZABLE "
								  "transaction"),
						   errhint("Its snapshot does not show what others have written since; use "
								   "READ COMMITTED.")));
	RunAsCaller(psprintf("LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE", QualifiedName(relation)));
}

/* An error if relation has a row of one of these slots. */
void CheckNoRowsOf(
	const MapEntry &map, const MapTable &table, Oid relation, std::span<const int32> slots)
{
	if (slots.empty())
		return;
	auto *datums = static_cast<Datum *>(palloc(slots.size() * sizeof(Datum)));
	for (size_t i = 0; i < slots.size(); ++i)
		datums[i] = Int32GetDatum(slots[i]);
	ArrayType *array = construct_array(
		datums, static_cast<int>(slots.size()), INT4OID, sizeof(int32), true, TYPALIGN_INT);
	const SqlValue values = {INT4ARRAYOID, PointerGetDatum(array), false};
	const char *name = QualifiedName(relation);
	const char *slot = SlotExpression(map, KeyColumns(table, relation));
	const char *query = psprintf("SELECT %s FROM %s WHERE %s = ANY ($1) LIMIT 1", slot, name, slot);
	if (RunAsCaller(query, {values}) == 0)
		return;
	bool null = false;
	const int32 found = DatumGetInt32(ResultDatum(&null));
	ereport(ERROR,
		(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			errmsg("table %s holds rows of slot %d, which another node would own", name, found),
			errhint("Give the slot to the node that holds its rows, then move it.")));
}

} // namespace

Oid NodeTableOid(const MapTable &table, const MapNode &node)
{
	const Oid schema = get_namespace_oid(node.schema, true);
	if (!OidIsValid(schema) || node.server != nullptr || table.per_slot)
		return InvalidOid;
	List *names = NIL;
	if (!SplitIdentifierString(pstrdup(table.relation), '.', &names) || list_length(names) != 1)
		return InvalidOid;
	return get_relname_relid(static_cast<char *>(linitial(names)), schema);
}

void CheckRowsOfTable(const MapEntry &map, const MapTable &table, int32 node)
{
	const Oid relation = NodeTableOid(table, map.nodes[node]);
	LockAgainstWriters(relation);
	auto *slots = static_cast<int32 *>(palloc(map.owners.size_bytes()));
	size_t count = 0;
	for (int32 slot = 0; slot < map.slots; ++slot)
		if (map.owners[slot] != node && map.owners[slot] != kNoNode)
			slots[count++] = slot;
	CheckNoRowsOf(map, table, relation, {slots, count});
}

void CheckRowsOfNewOwners(const MapEntry &map, std::span<const int32> owners)
{
	auto *slots = static_cast<int32 *>(palloc(map.owners.size_bytes()));
	for (const MapTable &table : map.tables)
		for (size_t node = 0; node < map.nodes.size(); ++node) {
			const Oid relation = NodeTableOid(table, map.nodes[node]);
			if (!OidIsValid(relation))
				continue;
			LockAgainstWriters(relation);
			size_t count = 0;
			for (int32 slot = 0; slot < map.slots; ++slot)
				if (map.owners[slot] != owners[slot] && owners[slot] != static_cast<int32>(node))
					slots[count++] = slot;
			CheckNoRowsOf(map, table, relation, {slots, count});
		}
}

} // namespace shardkit
