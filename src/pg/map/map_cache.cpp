#include "pg/map/map_cache.hpp"

#include <algorithm>
#include <cstring>

#include "pg/map/catalog.hpp"
#include "pg/map/map_read.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

struct CachedMap {
	char name[kMaxNameBytes + 1];
	MapEntry *entry;
	MemoryContext memory;
	uint64 generation;
};

HTAB *maps = nullptr;

/* Entries of an older generation are out of date; it rises with every invalidation. */
uint64 generation = 1;

/* Ends of transactions and aborts of subtransactions so far. */
uint64 ended = 0;

/* Known once an entry has been read; before that there is nothing to invalidate. */
Oid map_table_oid = InvalidOid;

void OnInvalidation(Datum, Oid relation)
{
	if (relation == InvalidOid || relation == map_table_oid)
		++generation;
}

/*
 * An abort takes back changes of our own that an entry may show. The server replays the messages
 * of what it rolls back, so that this is a second line of defence.
 */
void OnTransactionEnd(XactEvent event, void *)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		++generation;
	++ended;
}

void OnSubtransactionEnd(SubXactEvent event, SubTransactionId, SubTransactionId, void *)
{
	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	++generation;
	++ended;
}

void StartCache()
{
	if (maps != nullptr)
		return;
	HASHCTL control = {};
	control.keysize = kMaxNameBytes + 1;
	control.entrysize = sizeof(CachedMap);
	control.hcxt = CacheMemoryContext;
	HTAB *created =
		hash_create("shardkit maps", 16, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(OnInvalidation, Datum{0});
	RegisterXactCallback(OnTransactionEnd, nullptr);
	RegisterSubXactCallback(OnSubtransactionEnd, nullptr);
	maps = created;
}

/* Pointers that this transaction has handed out stay good until it ends. */
void Retire(CachedMap &cached)
{
	if (cached.memory != nullptr)
		MemoryContextSetParent(cached.memory, TopTransactionContext);
	cached.memory = nullptr;
	cached.entry = nullptr;
}

/*
 * Reads the map into memory of its own. Whatever invalidates it while it is read raises the
 * generation, which was noted before the first look: such an entry serves this look-up only.
 */
void Refill(CachedMap &cached)
{
	Retire(cached);
	map_table_oid = FindCatalog().map;
	const uint64 as_of = generation;
	MemoryContext memory =
		AllocSetContextCreate(CurrentMemoryContext, "shardkit map", ALLOCSET_SMALL_SIZES);
	MapEntry *entry = ReadMap(cached.name, memory);
	if (entry == nullptr) {
		MemoryContextDelete(memory);
		return;
	}
	MemoryContextSetParent(memory, CacheMemoryContext);
	cached.memory = memory;
	cached.entry = entry;
	cached.generation = as_of;
}

} // namespace

const MapEntry *FindMap(const char *name)
{
	if (name[0] == '\0' || std::strlen(name) > kMaxNameBytes)
		return nullptr;
	StartCache();
	bool found = false;
	auto *cached = static_cast<CachedMap *>(hash_search(maps, name, HASH_ENTER, &found));
	if (!found) {
		cached->entry = nullptr;
		cached->memory = nullptr;
	}
	if (cached->entry == nullptr || cached->generation != generation)
		Refill(*cached);
	MapEntry *entry = cached->entry;
	if (entry == nullptr)
		hash_search(maps, name, HASH_REMOVE, nullptr);
	return entry;
}

const MapEntry &GetMap(const char *name)
{
	const MapEntry *map = FindMap(name);
	if (map == nullptr)
		ereport(
			ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("map \"%s\" does not exist", name),
					   errhint("Table shardkit.map lists the maps.")));
	return *map;
}

uint64 MapGeneration()
{
	return generation;
}

int32 FindNode(const MapEntry &map, const char *name)
{
	const auto found = std::ranges::lower_bound(
		map.nodes, 0, [](int left, int right) { return left < right; },
		[name](const MapNode &node) { return std::strcmp(node.name, name); });
	if (found == map.nodes.end() || std::strcmp(found->name, name) != 0)
		return kNoNode;
	return static_cast<int32>(found - map.nodes.begin());
}

int32 GetNode(const MapEntry &map, const char *name)
{
	const int32 node = FindNode(map, name);
	if (node == kNoNode)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						   errmsg("map \"%s\" has no node \"%s\"", map.name, name),
						   errhint("Table shardkit.node lists the nodes.")));
	return node;
}

void CheckSlotOfMap(const MapEntry &map, int32 slot)
{
	if (slot < 0 || slot >= map.slots)
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
						   errmsg("map \"%s\" has no slot %d", map.name, slot),
						   errdetail("Its slots are 0 to %d.", map.slots - 1)));
}

bool BeginsStatement(StatementMark &mark)
{
	const Snapshot snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : nullptr;
	const StatementMark now = {
		.transactions = snapshot == nullptr ? 0 : snapshot->snapXactCompletionCount,
		.ended = ended + 1,
		.started = GetCurrentStatementStartTimestamp(),
		.command = snapshot == nullptr ? 0 : snapshot->curcid};
	if (mark.transactions == now.transactions && mark.ended == now.ended &&
		mark.started == now.started && mark.command == now.command)
		return false;
	AcceptInvalidationMessages();
	mark = now;
	return true;
}

} // namespace shardkit
