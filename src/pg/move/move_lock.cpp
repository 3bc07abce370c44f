#include "pg/move/move_lock.hpp"

#include "pg/map/catalog.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/quote.hpp"
#include "pg/server/server_move.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "utils/fmgroids.h"
}

namespace shardkit
{

namespace
{

/* A growing list without a growing type: doubled by hand. */
struct LockList {
	NeededLock *locks;
	int count;
	int room;
};

void Add(LockList &list, const LOCKTAG &object, LOCKMODE mode)
{
	for (int i = 0; i < list.count; ++i)
		if (memcmp(&list.locks[i].object, &object, sizeof object) == 0)
			return;
	if (list.count == list.room) {
		list.room = Max(64, list.room * 2);
		const Size bytes = sizeof(NeededLock) * static_cast<Size>(list.room);
		list.locks = static_cast<NeededLock *>(
			list.locks == nullptr ? palloc(bytes) : repalloc(list.locks, bytes));
	}
	list.locks[list.count++] = {.object = object, .mode = mode};
}

LOCKTAG TableTag(Oid table)
{
	LOCKTAG tag;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, table);
	return tag;
}

/* The table, and where it is partitioned all that it consists of. */
void AddTable(LockList &list, Oid table, LOCKMODE mode)
{
	Add(list, TableTag(table), mode);
	if (get_rel_relkind(table) != RELKIND_PARTITIONED_TABLE)
		return;
	ListCell *cell = nullptr;
	foreach (cell, find_all_inheritors(table, NoLock, nullptr))
		Add(list, TableTag(lfirst_oid(cell)), mode);
}

/*
 * The tables at the other end of foreign keys are read when the moved rows' keys are checked. They
 * are locked for reading beforehand: the check must not begin to wait while writers are locked out.
 */
void AddNeighbours(LockList &list, Oid table)
{
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData no_key;
	SysScanDesc scan = systable_beginscan(constraints, InvalidOid, false, nullptr, 0, &no_key);
	HeapTuple tuple = nullptr;
	while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
		const auto &constraint = *reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple));
		if (constraint.contype != CONSTRAINT_FOREIGN)
			continue;
		if (constraint.conrelid == table)
			AddTable(list, constraint.confrelid, AccessShareLock);
		else if (constraint.confrelid == table)
			AddTable(list, constraint.conrelid, AccessShareLock);
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
}

std::span<NeededLock> LocksOf(const LockList &list)
{
	return {list.locks, static_cast<std::size_t>(list.count)};
}

void AddParents(LockList &list, const MapEntry &map)
{
	for (const MapTable &table : map.tables)
		Add(list, TableTag(ParentNamed(table.relation)), AccessShareLock);
}

} // namespace

std::span<NeededLock> ParentLocks(const MapEntry &map)
{
	LockList list{};
	AddParents(list, map);
	return LocksOf(list);
}

std::span<NeededLock> NeededLocks(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables)
{
	LockList list{};
	if (batch.per_slot)
		AddParents(list, map);
	Add(list, MapObject(map.id), RowShareLock);
	for (const MoveTable &table : tables) {
		AddTable(list, table.source, batch.per_slot ? AccessExclusiveLock : ExclusiveLock);
		if (!batch.per_slot)
			AddTable(list, table.target, ExclusiveLock);
	}
	for (const MoveTable &table : tables)
		if (!batch.per_slot) {
			AddNeighbours(list, table.source);
			AddNeighbours(list, table.target);
		}
	for (const int32 slot : batch.slots)
		Add(list, OwnerObject(map.id, slot), ExclusiveLock);
	return LocksOf(list);
}

std::span<NeededLock> MoveObjects(const MapEntry &map, const MoveBatch &batch)
{
	auto *locks = static_cast<NeededLock *>(palloc(sizeof(NeededLock) * batch.slots.size()));
	for (std::size_t i = 0; i < batch.slots.size(); ++i)
		locks[i] = {.object = MoveObject(map.id, batch.slots[i]), .mode = ExclusiveLock};
	return {locks, batch.slots.size()};
}

void LockMoveObjects(const Move &move, std::span<const NeededLock> objects)
{
	constexpr int kTryMilliseconds = 100;
	constexpr long kPauseMicroseconds = 10000;
	const TimestampTz start = GetCurrentTimestamp();
	InvalidateCatalogSnapshot();
	for (const NeededLock &lock : objects)
		while (LockAcquire(&lock.object, lock.mode, !move.atomic, true) == LOCKACQUIRE_NOT_AVAIL) {
			if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), kTryMilliseconds))
				ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
						errmsg("%s is being moved by %s", DescribeObject(lock, move.map),
							DescribeHolders(lock.object, lock.mode)),
						errhint("Wait for that move to end, or stop it with pg_cancel_backend.")));
			CHECK_FOR_INTERRUPTS();
			pg_usleep(kPauseMicroseconds);
		}
}

void UnlockMoveObjects(const Move &move, std::span<const NeededLock> objects)
{
	if (!move.atomic)
		for (const NeededLock &lock : objects)
			(void)LockRelease(&lock.object, lock.mode, true);
}

char *DescribeObject(const NeededLock &lock, const char *map)
{
	if (lock.object.locktag_type == LOCKTAG_RELATION) {
		const Oid table = lock.object.locktag_field2;
		const char *name = get_rel_name(table);
		if (name == nullptr)
			return psprintf("table with OID %u", table);
		const char *schema = get_namespace_name(get_rel_namespace(table));
		return psprintf("table %s", QuoteName(schema, name));
	}
	if (lock.object.locktag_field4 == 0)
		return psprintf("map \"%s\"", map);
	return psprintf("slot %d of map \"%s\"", lock.object.locktag_field4 - 1, map);
}

/* Well below deadlock_timeout, so that no user's deadlock check finds the mover in a queue. */
int WaitMilliseconds()
{
	constexpr int kMost = 200;
	return Max(10, Min(kMost, DeadlockTimeout / 4));
}

void BoundLockWaits()
{
	char text[16];
	snprintf(text, sizeof text, "%d", WaitMilliseconds());
	(void)set_config_option(
		"lock_timeout", text, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

} // namespace shardkit
