/*
 * Slots of a per_slot map between local nodes: the partition goes into the new owner's schema. No
 * row is touched; the certificate names the relation, which is the same before and after.
 */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/move/move.hpp"
#include "pg/move/move_progress.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

const char *SchemaOf(Oid table)
{
	return get_namespace_name(get_rel_namespace(table));
}

void CheckPartition(const MoveTable &table, const MapNode &from, int32 slot)
{
	if (get_rel_relkind(table.source) == RELKIND_FOREIGN_TABLE ||
		strcmp(SchemaOf(table.source), from.schema) != 0)
		ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("partition %s of slot %d does not lie in schema \"%s\" of node \"%s\"",
					Qualified(SchemaOf(table.source), get_rel_name(table.source)), slot,
					from.schema, from.name),
				errhint("shardkit.verify_map tells what is where.")));
	if (!OwnsTable(GetUserId(), table.source))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(table.source));
}

void LogPartition(const Move &move, const MoveBatch &batch, const MoveTable &table, int32 slot,
	int64 epoch, TimestampTz started)
{
	const char *relation = psprintf("relation %u", table.source);
	RunOnCatalog(
		"INSERT INTO shardkit.move_log (map, slot, relation, from_node, to_node, state, epoch,"
		" started_at, finished_at, fingerprint_from, fingerprint_to)"
		" VALUES ($1, $2, $3, $4, $5, 'done', $6, $7, clock_timestamp(), $8, $8)",
		{SqlText(move.map), SqlInt(slot), SqlText(table.relation), SqlText(batch.from),
			SqlText(batch.to), SqlBigint(epoch),
			{TIMESTAMPTZOID, TimestampTzGetDatum(started), false}, SqlText(relation)});
}

} // namespace

/* One entry a slot and table, slot by slot. */
std::span<MoveTable> ReadMovePartitions(const MapEntry &map, const MoveBatch &batch)
{
	const MapNode &from = map.nodes[static_cast<std::size_t>(GetNode(map, batch.from))];
	const std::size_t count = map.tables.size() * batch.slots.size();
	auto *tables = static_cast<MoveTable *>(palloc0(sizeof(MoveTable) * Max(count, 1)));
	MoveTable *next = tables;
	for (const int32 slot : batch.slots)
		for (const MapTable &entry : map.tables) {
			const Oid parent = ParentNamed(entry.relation);
			next->relation = entry.relation;
			next->key = entry.key;
			next->source = PartitionOfSlot(parent, map.slots, slot);
			CheckPartition(*next, from, slot);
			++next;
		}
	return {tables, count};
}

int64 MovePartitionsUnderLocks(
	const Move &move, const MoveBatch &batch, std::span<const MoveTable> tables)
{
	const TimestampTz started = GetCurrentTimestamp();
	const MapEntry &map = GetMap(move.map);
	const char *schema = map.nodes[static_cast<std::size_t>(GetNode(map, batch.to))].schema;
	ReportPhase(Phase::kMoving);
	for (const MoveTable &table : tables) {
		ReportTable(table.source);
		RunAsCaller(psprintf("ALTER TABLE %s SET SCHEMA %s",
			Qualified(SchemaOf(table.source), get_rel_name(table.source)), QuoteName(schema)));
	}
	const int64 epoch = FlipOwners(move, batch);
	for (std::size_t i = 0; i < tables.size(); ++i)
		LogPartition(move, batch, tables[i], batch.slots[i / map.tables.size()], epoch, started);
	return 0;
}

} // namespace shardkit
