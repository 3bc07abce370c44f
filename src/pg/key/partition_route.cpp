#include "pg/key/partition_route.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

constexpr int kNoPartition = -1;

void CopyBounds(Relation relation, PartitionKey key, PartitionLevel &level)
{
	const PartitionDesc description = RelationGetPartitionDesc(relation, true);
	level.partitions = description->nparts;
	if (level.partitions == 0)
		return;
	const auto count = static_cast<Size>(level.partitions);
	level.bounds = partition_bounds_copy(description->boundinfo, key);
	level.relations = static_cast<Oid *>(palloc(count * sizeof(Oid)));
	level.below = static_cast<PartitionLevel **>(palloc0(count * sizeof(PartitionLevel *)));
	level.ends = static_cast<bool *>(palloc(count * sizeof(bool)));
	for (int i = 0; i < level.partitions; ++i) {
		level.relations[i] = description->oids[i];
		level.ends[i] = description->is_leaf[i];
	}
}

PartitionLevel *CopyLevel(Relation relation, MemoryContext context)
{
	const MemoryContext before = MemoryContextSwitchTo(context);
	const PartitionKey key = RelationGetPartitionKey(relation);
	auto *level = static_cast<PartitionLevel *>(palloc0(sizeof(PartitionLevel)));
	level->context = context;
	level->strategy = static_cast<char>(key->strategy);
	level->columns = key->partnatts;
	const auto columns = static_cast<Size>(key->partnatts);
	level->collations = static_cast<Oid *>(palloc(columns * sizeof(Oid)));
	level->compare = static_cast<FmgrInfo *>(palloc0(columns * sizeof(FmgrInfo)));
	for (int i = 0; i < key->partnatts; ++i) {
		level->key_column[i] = i;
		level->collations[i] = key->partcollation[i];
		fmgr_info_copy(&level->compare[i], &key->partsupfunc[i], context);
	}
	if (level->strategy == PARTITION_STRATEGY_HASH)
		level->hasher = MakeKeyHasher(context, key);
	CopyBounds(relation, key, *level);
	MemoryContextSwitchTo(before);
	return level;
}

/* Are all the columns by which relation is partitioned among names? Then says which. */
bool IsDecidedBy(Relation relation, const char *const *names, int name_count, int *which)
{
	const PartitionKey key = RelationGetPartitionKey(relation);
	for (int i = 0; i < key->partnatts; ++i) {
		which[i] = -1;
		if (key->partattrs[i] == 0)
			return false;
		const char *column = get_attname(RelationGetRelid(relation), key->partattrs[i], false);
		for (int j = 0; j < name_count; ++j)
			if (names[j] != nullptr && strcmp(names[j], column) == 0)
				which[i] = j;
		if (which[i] < 0)
			return false;
	}
	return true;
}

/* The level of partition number i, or nullptr where the way ends. */
PartitionLevel *LevelBelow(PartitionLevel *level, int i, const char *const *names, int name_count)
{
	if (level->ends[i] || level->below[i] != nullptr)
		return level->below[i];
	Relation relation = try_relation_open(level->relations[i], AccessShareLock);
	level->ends[i] = true;
	if (relation == nullptr)
		return nullptr;
	int which[kMaxKeyColumns];
	if (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE &&
		IsDecidedBy(relation, names, name_count, which)) {
		level->below[i] = CopyLevel(relation, level->context);
		level->ends[i] = false;
		for (int column = 0; column < level->below[i]->columns; ++column)
			level->below[i]->key_column[column] = which[column];
	}
	relation_close(relation, AccessShareLock);
	return level->below[i];
}

int FindInList(const PartitionLevel &level, Datum value, bool is_null)
{
	if (is_null)
		return level.bounds->null_index;
	bool equal = false;
	const int offset =
		partition_list_bsearch(level.compare, level.collations, level.bounds, value, &equal);
	return equal ? level.bounds->indexes[offset] : kNoPartition;
}

int FindInRanges(const PartitionLevel &level, Datum *values, const bool *nulls)
{
	for (int i = 0; i < level.columns; ++i)
		if (nulls[i])
			return kNoPartition;
	bool equal = false;
	const int offset = partition_range_datum_bsearch(
		level.compare, level.collations, level.bounds, level.columns, values, &equal);
	return level.bounds->indexes[offset + 1];
}

/* The partition's number on this level; kNoPartition where none takes the key. */
int FindOnLevel(const PartitionLevel &level, const Datum *values, const bool *nulls)
{
	if (level.partitions == 0)
		return kNoPartition;
	Assert(level.columns > 0);
	Datum own_values[kMaxKeyColumns];
	bool own_nulls[kMaxKeyColumns];
	for (int i = 0; i < level.columns; ++i) {
		own_values[i] = values[level.key_column[i]];
		own_nulls[i] = nulls[level.key_column[i]];
	}
	if (level.strategy == PARTITION_STRATEGY_HASH) {
		const uint64 hash = HashKey(*level.hasher, own_values, own_nulls);
		return level.bounds->indexes[hash % static_cast<uint64>(level.bounds->nindexes)];
	}
	const int found = level.strategy == PARTITION_STRATEGY_LIST
						  ? FindInList(level, own_values[0], own_nulls[0])
						  : FindInRanges(level, own_values, own_nulls);
	return found >= 0 ? found : level.bounds->default_index;
}

} // namespace

PartitionLevel *OpenTopLevel(Relation relation, MemoryContext context)
{
	return CopyLevel(relation, context);
}

Oid RouteKey(PartitionLevel *top, const char *const *names, const Datum *values, const bool *nulls)
{
	PartitionLevel *level = top;
	for (;;) {
		const int found = FindOnLevel(*level, values, nulls);
		if (found < 0)
			return InvalidOid;
		PartitionLevel *below = LevelBelow(level, found, names, top->columns);
		if (below == nullptr)
			return level->relations[found];
		level = below;
	}
}

} // namespace shardkit
