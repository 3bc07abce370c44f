/* What broke is finished or undone, as the log says. */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* A column of the last statement as text; nullptr: NULL. */
char *Text(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/* As ReadServerMove, but from what the intent wrote. The state of its first table. */
const char *ReadFromLog(ServerMove &move, const char *map, int32 slot)
{
	const uint64 count = RunOnCatalog(
		"SELECT l.id, l.relation, l.from_node, l.to_node, l.state, l.rows, l.fingerprint_from, "
		"s.partition_schema, s.partition_name, s.new_schema, s.fresh_name, s.kept_name, "
		"s.from_server, s.from_schema, s.from_table, s.to_server, s.to_schema, s.to_table "
		"FROM shardkit.move_log l JOIN shardkit.server_move s ON s.id = l.id "
		"WHERE l.map = $1 AND l.slot = $2 AND l.finished_at IS NULL ORDER BY l.id",
		{SqlText(map), SqlInt(slot)});
	if (count == 0)
		return nullptr;
	move.map = map;
	move.slot = slot;
	move.from_node = Text(0, 3);
	move.to_node = Text(0, 4);
	move.from_server = Text(0, 13);
	move.to_server = Text(0, 16);
	move.tables_count = static_cast<int>(count);
	move.tables = static_cast<ServerTable *>(palloc0(sizeof(ServerTable) * count));
	for (uint64 i = 0; i < count; ++i)
		move.tables[i] = {.id = pg_strtoint64(Text(i, 1)),
			.relation = Text(i, 2),
			.parent = InvalidOid,
			.partition = InvalidOid,
			.partition_schema = Text(i, 8),
			.partition_name = Text(i, 9),
			.new_schema = Text(i, 10),
			.fresh_name = Text(i, 11),
			.kept_name = Text(i, 12),
			.from = {Text(i, 13), Text(i, 14), Text(i, 15)},
			.to = {Text(i, 16), Text(i, 17), Text(i, 18)},
			.columns = {},
			.sum = SumFromText(Text(i, 6), Text(i, 7)),
			.stored = {}};
	return Text(0, 5);
}

/* After the swap the new partition stands under the old name. */
void FindColumns(ServerMove &move)
{
	for (int i = 0; i < move.tables_count; ++i) {
		auto &table = move.tables[i];
		const Oid schema = get_namespace_oid(table.new_schema, true);
		table.partition =
			OidIsValid(schema) ? get_relname_relid(table.partition_name, schema) : InvalidOid;
		if (!OidIsValid(table.partition) || !get_rel_relispartition(table.partition))
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
							   errmsg("partition %s is gone, and the old rows of slot %d stay",
								   Qualified(table.new_schema, table.partition_name), move.slot)));
		table.columns = ColumnsOf(table.partition);
	}
}

/* A mark for the servers: in the history before it is anywhere else. Committed. */
void WriteResumption(ServerMove &move, const MapEntry &map)
{
	auto *change = BeginChange("resume_moves");
	move.mark = NewMark();
	AddNumber(change, "slot", move.slot);
	AddText(change, "mark", move.mark);
	move.epoch = LogChange(map, change);
	Commit();
}

bool FinishDrop(ServerMove &move)
{
	FindColumns(move);
	move.source = OpenLink(move.from_server, true);
	move.target = move.to_server == nullptr ? nullptr : OpenLink(move.to_server, true);
	const bool dropped = DropOldSide(move);
	CloseLink(move.source);
	if (move.target != nullptr)
		CloseLink(move.target);
	if (!dropped)
		ereport(WARNING, (errmsg("the old rows of slot %d of map \"%s\" stay", move.slot, move.map),
							 errdetail("They have changed since they were moved, or are in use."),
							 errhint("shardkit.move_log tells what is wrong.")));
	return dropped;
}

} // namespace

/* The caller holds the slot's move object. */
bool ResumeSlot(const char *map, int32 slot, int64 max_wait_ms, const char *reason)
{
	ServerMove move = {};
	const char *state = ReadFromLog(move, map, slot);
	if (state == nullptr)
		return true;
	const auto &entry = GetMap(map);
	CheckMapOwner(entry);
	CheckMapIsAtHome(entry);
	move.map_id = entry.id;
	move.slots = entry.slots;
	move.max_wait_ms = max_wait_ms;
	WriteResumption(move, entry);
	if (strcmp(state, "swapped") == 0)
		return FinishDrop(move);
	const bool undone = UndoMove(move, reason);
	Commit();
	return undone;
}

} // namespace shardkit
