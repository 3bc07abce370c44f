/* What a move between servers has to do with: the map's partitions of one slot, and where they lie. */
#include <cstring>

#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

const char *OptionOf(const List *options, const char *name)
{
	ListCell *cell;
	foreach (cell, options) {
		auto *element = lfirst_node(DefElem, cell);
		if (strcmp(element->defname, name) == 0)
			return defGetString(element);
	}
	return nullptr;
}

/* The schema that the node's tables have on its server: that of those which are there already. */
const char *RemoteSchemaOf(const MapNode &node)
{
	const auto found = RunAsCaller(
		"SELECT o.option_value FROM pg_foreign_table f JOIN pg_class c ON c.oid = f.ftrelid "
		"JOIN pg_foreign_server s ON s.oid = f.ftserver "
		"JOIN pg_inherits i ON i.inhrelid = c.oid, pg_options_to_table(f.ftoptions) o "
		"WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) "
		"AND s.srvname = $2 AND o.option_name = 'schema_name' ORDER BY c.oid LIMIT 1",
		{SqlName(node.schema), SqlName(node.server)});
	bool null = false;
	const Datum schema = ResultDatum(&null);
	/* The map's entry ends with the transaction, the move does not. */
	return found == 0 || null ? pstrdup(node.schema) : TextDatumGetCString(schema);
}

/* A name for this try; the label never falls off. */
const char *LabelledName(const char *name, const char *label, int64 id)
{
	return makeObjectName(name, nullptr, psprintf("%s" INT64_FORMAT, label, id));
}

void CheckPartition(const ServerMove &move, const ServerTable &table)
{
	const char *name = Qualified(table.partition_schema, table.partition_name);
	const char kind = get_rel_relkind(table.partition);
	if (kind != RELKIND_RELATION && kind != RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("partition %s is neither a table nor a foreign table", name),
				errhint("A partition that is partitioned itself cannot move between servers.")));
	const bool same =
		(move.from_server == nullptr) == (table.from.server == nullptr) &&
		(move.from_server == nullptr || strcmp(move.from_server, table.from.server) == 0);
	if (!same)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("partition %s does not lie on node \"%s\"", name, move.from_node),
						   errhint("shardkit.verify_map tells what is where.")));
}

void ReadTable(ServerMove &move, const MapTable &entry, const MapNode &to, ServerTable &table)
{
	if (!entry.per_slot)
		ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("table %s of map \"%s\" is of kind per_node and cannot lie on a server",
					entry.relation, move.map)));
	table.relation = pstrdup(entry.relation);
	table.parent = ParentNamed(entry.relation);
	if (!OwnsTable(GetUserId(), table.parent))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(table.parent));
	table.partition = PartitionOfSlot(table.parent, move.slots, move.slot);
	table.partition_name = get_rel_name(table.partition);
	table.partition_schema = get_namespace_name(get_rel_namespace(table.partition));
	table.new_schema = pstrdup(to.schema);
	table.from = SideOf(table.partition);
	table.columns = ColumnsOf(table.parent);
	CheckPartition(move, table);
	/* The number of the log's row makes names that no other try has. */
	RunOnCatalog("SELECT nextval('shardkit.move_log_id_seq')", {});
	bool null = false;
	table.id = DatumGetInt64(ResultDatum(&null));
	table.fresh_name = LabelledName(table.partition_name, "m", table.id);
	table.kept_name = LabelledName(table.partition_name, "moved_", table.id);
	table.to = {move.to_server, move.to_server == nullptr ? table.new_schema : RemoteSchemaOf(to),
		table.fresh_name};
}

} // namespace

Oid ParentNamed(const char *relation)
{
	return DatumGetObjectId(DirectFunctionCall1(regclassin, CStringGetDatum(relation)));
}

Oid PartitionOfSlot(Oid parent, int32 slots, int32 slot)
{
	Oid partition = InvalidOid;
	auto *relation = table_open(parent, AccessShareLock);
	if (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE) {
		const auto *found = RelationGetPartitionDesc(relation, true);
		const auto *bounds = found->boundinfo;
		if (bounds != nullptr && bounds->strategy == PARTITION_STRATEGY_HASH &&
			bounds->nindexes == slots && bounds->indexes[slot] >= 0)
			partition = found->oids[bounds->indexes[slot]];
	}
	table_close(relation, AccessShareLock);
	if (!OidIsValid(partition))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("table \"%s\" has no partition with modulus %d and remainder %d",
							   get_rel_name(parent), slots, slot),
						   errhint("shardkit.verify_map tells what differs from the map.")));
	return partition;
}

Side SideOf(Oid partition)
{
	const char *schema = get_namespace_name(get_rel_namespace(partition));
	const char *name = get_rel_name(partition);
	if (get_rel_relkind(partition) != RELKIND_FOREIGN_TABLE)
		return {nullptr, schema, name};
	const auto *foreign = GetForeignTable(partition);
	const char *remote_schema = OptionOf(foreign->options, "schema_name");
	const char *remote_name = OptionOf(foreign->options, "table_name");
	return {pstrdup(GetForeignServer(foreign->serverid)->servername),
		remote_schema == nullptr ? schema : remote_schema,
		remote_name == nullptr ? name : remote_name};
}

bool IsReferred(const Side &side)
{
	return RunAsCaller(
			   "SELECT FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver "
			   "JOIN pg_class c ON c.oid = f.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE s.srvname = $1 AND c.relispartition "
			   "AND coalesce((SELECT option_value FROM pg_options_to_table(f.ftoptions) "
			   "WHERE option_name = 'schema_name'), n.nspname::text) = $2 "
			   "AND coalesce((SELECT option_value FROM pg_options_to_table(f.ftoptions) "
			   "WHERE option_name = 'table_name'), c.relname::text) = $3",
			   {SqlName(side.server), SqlText(side.schema), SqlText(side.table)}) > 0;
}

void ReadServerMove(ServerMove &move, const char *map_name, int32 slot, const char *to_node)
{
	const auto &map = GetMap(map_name);
	CheckMapIsAtHome(map);
	const auto &to = map.nodes[GetNode(map, to_node)];
	if (map.owners[slot] == kNoNode)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("slot %d of map \"%s\" has no owner", slot, map_name),
						   errhint("Give it one with shardkit.assign_slots.")));
	const auto &from = map.nodes[map.owners[slot]];
	const auto copy = [](const char *text) {
		return text == nullptr ? nullptr : pstrdup(text);
	};
	move.map = pstrdup(map_name);
	move.map_id = map.id;
	move.slots = map.slots;
	move.slot = slot;
	move.from_node = pstrdup(from.name);
	move.to_node = pstrdup(to.name);
	move.from_server = copy(from.server);
	move.to_server = copy(to.server);
	move.tables =
		static_cast<ServerTable *>(palloc0(sizeof(ServerTable) * (map.tables.size() + 1)));
	move.tables_count = 0;
	for (const auto &table : map.tables)
		ReadTable(move, table, to, move.tables[move.tables_count++]);
}

} // namespace shardkit
