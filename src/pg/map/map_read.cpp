#include "pg/map/map_read.hpp"

#include <algorithm>
#include <cstring>

#include "pg/map/catalog.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

/* Column numbers as the install script defines them. */
namespace map_column
{
constexpr int kName = 1, kId = 2, kSlots = 3, kHash = 4, kEpoch = 5, kOwner = 6,
			  kSystemIdentifier = 7, kDatabaseOid = 8;
}
namespace node_column
{
constexpr int kMap = 1, kName = 2, kSchema = 3, kServer = 4, kWeight = 5, kState = 6;
}
namespace slot_column
{
constexpr int kMap = 1, kSlot = 2, kNode = 3, kEpoch = 4, kMovingTo = 5;
}
namespace table_column
{
constexpr int kMap = 1, kRelation = 2, kKey = 3, kKeyTypes = 4, kKind = 5, kTemplate = 6;
}

struct Scan {
	Relation table;
	SysScanDesc scan;
	HeapTuple row;
};

/* The rows of one map, in the order of the primary key. */
Scan BeginScan(Oid table_oid, Snapshot snapshot, int name_column, const char *name)
{
	Scan scan;
	scan.table = table_open(table_oid, AccessShareLock);
	list_free(RelationGetIndexList(scan.table));
	const Oid index = scan.table->rd_pkindex;
	ScanKeyData key;
	ScanKeyInit(&key, static_cast<AttrNumber>(name_column), BTEqualStrategyNumber, F_TEXTEQ,
		CStringGetTextDatum(name));
	scan.scan = systable_beginscan(scan.table, index, OidIsValid(index), snapshot, 1, &key);
	scan.row = nullptr;
	return scan;
}

bool Next(Scan &scan)
{
	scan.row = systable_getnext(scan.scan);
	return HeapTupleIsValid(scan.row);
}

void EndScan(Scan &scan)
{
	systable_endscan(scan.scan);
	table_close(scan.table, AccessShareLock);
}

Datum Column(const Scan &scan, int column, bool *null)
{
	return heap_getattr(scan.row, column, RelationGetDescr(scan.table), null);
}

Datum Column(const Scan &scan, int column)
{
	bool null = false;
	const Datum value = Column(scan, column, &null);
	return null ? Datum{0} : value;
}

/* nullptr for NULL. */
char *TextColumn(const Scan &scan, int column)
{
	bool null = false;
	const Datum value = Column(scan, column, &null);
	return null ? nullptr : TextDatumGetCString(value);
}

char *NameColumn(const Scan &scan, int column)
{
	bool null = false;
	const Datum value = Column(scan, column, &null);
	return null ? nullptr : pstrdup(NameStr(*DatumGetName(value)));
}

bool ReadMapRow(const char *name, Oid table, Snapshot snapshot, MapEntry &map)
{
	Scan scan = BeginScan(table, snapshot, map_column::kName, name);
	const bool found = Next(scan);
	if (found) {
		map.name = pstrdup(name);
		map.id = DatumGetInt32(Column(scan, map_column::kId));
		map.slots = DatumGetInt32(Column(scan, map_column::kSlots));
		map.hash = TextColumn(scan, map_column::kHash);
		map.epoch = DatumGetInt64(Column(scan, map_column::kEpoch));
		map.owner = NameColumn(scan, map_column::kOwner);
		map.system_identifier = DatumGetInt64(Column(scan, map_column::kSystemIdentifier));
		map.database_oid = DatumGetObjectId(Column(scan, map_column::kDatabaseOid));
		if (map.slots < 1 || map.slots > kMaxSlots || map.hash == nullptr)
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
							   errmsg("the catalog row of map \"%s\" is damaged", name)));
		map.slots_divisor = MakeDivisor(static_cast<uint64>(map.slots));
	}
	EndScan(scan);
	return found;
}

/* Appends to a growing array; grows by doubling. */
template <typename Item>
void Append(Item *&items, size_t &count, size_t &room, const Item &added)
{
	if (count == room) {
		room = room == 0 ? 8 : room * 2;
		items = static_cast<Item *>(
			items == nullptr ? palloc(room * sizeof(Item)) : repalloc(items, room * sizeof(Item)));
	}
	items[count++] = added;
}

void ReadNodes(Oid table, Snapshot snapshot, MapEntry &map)
{
	MapNode *nodes = nullptr;
	size_t count = 0;
	size_t room = 0;
	Scan scan = BeginScan(table, snapshot, node_column::kMap, map.name);
	while (Next(scan)) {
		const char *state = TextColumn(scan, node_column::kState);
		const char *name = TextColumn(scan, node_column::kName);
		Append(nodes, count, room,
			{.name = name,
				.name_text = CStringGetTextDatum(name),
				.schema = NameColumn(scan, node_column::kSchema),
				.server = NameColumn(scan, node_column::kServer),
				.weight = DatumGetFloat8(Column(scan, node_column::kWeight)),
				.draining = state != nullptr && std::strcmp(state, "draining") == 0});
	}
	EndScan(scan);
	const std::span<MapNode> found{nodes, count};
	std::ranges::sort(found, [](const MapNode &left, const MapNode &right) {
		return std::strcmp(left.name, right.name) < 0;
	});
	map.nodes = found;
}

std::span<const Oid> OidArray(Datum datum)
{
	if (datum == 0)
		return {};
	ArrayType *array = DatumGetArrayTypePCopy(datum);
	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array))
		return {};
	return {reinterpret_cast<Oid *>(ARR_DATA_PTR(array)), static_cast<size_t>(ARR_DIMS(array)[0])};
}

void ReadTables(Oid table, Snapshot snapshot, MapEntry &map)
{
	MapTable *tables = nullptr;
	size_t count = 0;
	size_t room = 0;
	Scan scan = BeginScan(table, snapshot, table_column::kMap, map.name);
	while (Next(scan)) {
		const char *kind = TextColumn(scan, table_column::kKind);
		Append(tables, count, room,
			{.relation = TextColumn(scan, table_column::kRelation),
				.key = TextColumn(scan, table_column::kKey),
				.per_slot = kind != nullptr && std::strcmp(kind, "per_slot") == 0,
				.template_table = DatumGetObjectId(Column(scan, table_column::kTemplate)),
				.key_types = OidArray(Column(scan, table_column::kKeyTypes))});
	}
	EndScan(scan);
	const std::span<MapTable> found{tables, count};
	std::ranges::sort(found, [](const MapTable &left, const MapTable &right) {
		return std::strcmp(left.relation, right.relation) < 0;
	});
	map.tables = found;
}

bool IsName(const MapEntry &map, int32 node, const char *bytes, size_t length)
{
	const char *name = map.nodes[node].name;
	return std::strncmp(name, bytes, length) == 0 && name[length] == '\0';
}

/* guess is tried first: neighbouring slots mostly have one owner. */
int32 NodeColumn(const MapEntry &map, const Scan &scan, int column, int32 guess)
{
	bool null = false;
	const Datum value = Column(scan, column, &null);
	if (null)
		return kNoNode;
	const text *name = DatumGetTextPP(value);
	if (guess != kNoNode && IsName(map, guess, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)))
		return guess;
	return FindNode(map, text_to_cstring(name));
}

/* Slots without a row, or with a node that does not exist, have no owner. */
void ReadSlots(Oid table, Snapshot snapshot, MapEntry &map)
{
	const auto slots = static_cast<size_t>(map.slots);
	auto *owners = static_cast<int32 *>(palloc(slots * sizeof(int32)));
	auto *moving_to = static_cast<int32 *>(palloc(slots * sizeof(int32)));
	auto *changed_at = static_cast<int64 *>(palloc0(slots * sizeof(int64)));
	std::fill_n(owners, slots, kNoNode);
	std::fill_n(moving_to, slots, kNoNode);

	int32 owner = kNoNode;
	Scan scan = BeginScan(table, snapshot, slot_column::kMap, map.name);
	while (Next(scan)) {
		const int32 slot = DatumGetInt32(Column(scan, slot_column::kSlot));
		if (slot < 0 || slot >= map.slots)
			continue;
		owner = NodeColumn(map, scan, slot_column::kNode, owner);
		owners[slot] = owner;
		moving_to[slot] = NodeColumn(map, scan, slot_column::kMovingTo, kNoNode);
		changed_at[slot] = DatumGetInt64(Column(scan, slot_column::kEpoch));
	}
	EndScan(scan);
	map.owners = {owners, slots};
	map.moving_to = {moving_to, slots};
	map.changed_at = {changed_at, slots};
}

} // namespace

/*
 * The catalog snapshot, since it is the only one that is newest in REPEATABLE READ and in a
 * parallel worker; the server takes a fresh one for tables that have no syscache, as ours.
 */
MapEntry *ReadMap(const char *name, MemoryContext memory)
{
	const MemoryContext before = MemoryContextSwitchTo(memory);
	const Catalog catalog = FindCatalog();
	auto *map = static_cast<MapEntry *>(palloc0(sizeof(MapEntry)));
	const Snapshot snapshot = RegisterSnapshot(GetCatalogSnapshot(catalog.slot_map));
	const bool found = ReadMapRow(name, catalog.map, snapshot, *map);
	if (found) {
		ReadNodes(catalog.node, snapshot, *map);
		ReadTables(catalog.map_table, snapshot, *map);
		ReadSlots(catalog.slot_map, snapshot, *map);
	}
	UnregisterSnapshot(snapshot);
	MemoryContextSwitchTo(before);
	return found ? map : nullptr;
}

const char *ReadOwner(const char *map, int32 slot, Snapshot snapshot)
{
	const char *owner = nullptr;
	Scan scan = BeginScan(FindCatalog().slot_map, snapshot, slot_column::kMap, map);
	while (Next(scan))
		if (DatumGetInt32(Column(scan, slot_column::kSlot)) == slot)
			owner = TextColumn(scan, slot_column::kNode);
	EndScan(scan);
	return owner;
}

} // namespace shardkit
