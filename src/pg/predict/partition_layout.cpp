#include "pg/key/partitioned.hpp"

#include "pg/pg.hpp"

/*
 * A hash-partitioned table as a layout: slots whose number is the greatest modulus, each owned by
 * its partition. A partition is node-<its remainder>; remainders of different partitions differ,
 * since otherwise both would own the slot of that number.
 */

using namespace shardkit;

namespace
{

struct Bound {
	int modulus;
	int remainder;
};

/* The bound of a partition: the server keeps bounds sorted, and which partition owns each slot. */
Bound BoundOf(PartitionBoundInfo bounds, int partition)
{
	for (int i = 0; i < bounds->ndatums; ++i) {
		const Bound bound = {
			DatumGetInt32(bounds->datums[i][0]), DatumGetInt32(bounds->datums[i][1])};
		if (bounds->indexes[bound.remainder] == partition)
			return bound;
	}
	elog(ERROR, "partition without a bound");
}

constexpr int kNobody = -1;

/* Fills owners, one a slot, with remainders. */
void FillOwners(PartitionDesc partitions, int *owners, int slots)
{
	for (int slot = 0; slot < slots; ++slot)
		owners[slot] = kNobody;
	for (int i = 0; i < partitions->nparts; ++i) {
		const Bound bound = BoundOf(partitions->boundinfo, i);
		for (int slot = bound.remainder; slot < slots; slot += bound.modulus)
			owners[slot] = bound.remainder;
	}
}

void CheckSlots(int64 slots)
{
	constexpr int64 kMostSlots = 1 << 20;
	if (slots > kMostSlots)
		ereport(
			ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					   errmsg("a layout cannot have more than " INT64_FORMAT " slots", kMostSlots),
					   errdetail("The greatest modulus would be " INT64_FORMAT ".", slots)));
}

/* The bound of the partition to be split. */
Bound SplitBound(PartitionDesc partitions, Oid split)
{
	for (int i = 0; i < partitions->nparts; ++i)
		if (partitions->oids[i] == split)
			return BoundOf(partitions->boundinfo, i);
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("relation with OID %u is no partition of this table", split)));
}

/* Twice the partition's modulus must stand in PostgreSQL's chain of factors. */
int SlotsAfterSplit(const Bound &split, int slots)
{
	const int64 twice = 2 * static_cast<int64>(split.modulus);
	CheckSlots(twice);
	if (slots <= split.modulus)
		return static_cast<int>(twice);
	if (slots % twice != 0)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("a partition of modulus %d cannot be split in two here", split.modulus),
				errdetail("PostgreSQL wants every modulus to be a factor of the next larger one, "
						  "and " INT64_FORMAT " is not a factor of %d.",
					twice, slots)));
	return slots;
}

/* owner[a-b,c] in the order of the owners' first slots. */
void AppendOwner(StringInfo text, const int *owners, int slots, int first)
{
	if (owners[first] == kNobody)
		appendStringInfoString(text, "\"(none)\"[");
	else
		appendStringInfo(text, "node-%d[", owners[first]);
	const char *separator = "";
	for (int slot = first; slot < slots; ++slot) {
		if (owners[slot] != owners[first])
			continue;
		int end = slot;
		while (end + 1 < slots && owners[end + 1] == owners[first])
			++end;
		appendStringInfo(text, end > slot ? "%s%d-%d" : "%s%d", separator, slot, end);
		separator = ",";
		slot = end;
	}
	appendStringInfoChar(text, ']');
}

char *LayoutText(const int *owners, int slots)
{
	StringInfoData text;
	initStringInfo(&text);
	appendStringInfoString(&text, "slots(");
	auto *seen = static_cast<bool *>(palloc0(static_cast<Size>(slots) + 1));
	bool is_first = true;
	for (int slot = 0; slot < slots; ++slot) {
		CHECK_FOR_INTERRUPTS();
		bool *known = &seen[owners[slot] == kNobody ? slots : owners[slot]];
		if (*known)
			continue;
		*known = true;
		appendStringInfoString(&text, is_first ? "" : ", ");
		AppendOwner(&text, owners, slots, slot);
		is_first = false;
	}
	appendStringInfo(&text, "; slots=%d)", slots);
	return text.data;
}

Relation OpenParent(Oid parent)
{
	Relation relation = OpenRelation(parent);
	(void)HashPartitionKey(relation);
	if (RelationGetPartitionDesc(relation, true)->nparts == 0)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("\"%s\" has no partitions", RelationGetRelationName(relation))));
	return relation;
}

} // namespace

/* (parent, partition to be split or NULL) -> text of a layout. */
SHARDKIT_FUNCTION(shardkit_partition_layout)
Datum shardkit_partition_layout(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	Relation relation = OpenParent(PG_GETARG_OID(0));
	const PartitionDesc partitions = RelationGetPartitionDesc(relation, true);
	int slots = partitions->boundinfo->nindexes;
	Bound split = {};
	if (!PG_ARGISNULL(1)) {
		split = SplitBound(partitions, PG_GETARG_OID(1));
		slots = SlotsAfterSplit(split, slots);
	}
	CheckSlots(slots);
	auto *owners = static_cast<int *>(palloc(static_cast<Size>(slots) * sizeof(int)));
	FillOwners(partitions, owners, slots);
	if (split.modulus > 0)
		for (int slot = split.remainder + split.modulus; slot < slots; slot += 2 * split.modulus)
			owners[slot] = split.remainder + split.modulus;
	relation_close(relation, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(LayoutText(owners, slots)));
}
