#include "pg/move/move_insert.hpp"

#include "pg/move/row_hash.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
}

namespace shardkit
{

namespace
{

/* A page takes some hundred rows at most; more than that gains nothing. */
constexpr int kBufferRows = 500;
constexpr uint64 kBufferBytes = 256 * 1024;

/* The guard needs no call: the mover's rows go where their slot will be. */
bool IsGuard(const Trigger &trigger)
{
	return get_func_namespace(trigger.tgfoid) == get_namespace_oid("shardkit", true);
}

bool FiresForReplica(const Trigger &trigger)
{
	return (TRIGGER_FOR_INSERT(trigger.tgtype) || TRIGGER_FOR_DELETE(trigger.tgtype)) &&
		   (trigger.tgenabled == TRIGGER_FIRES_ALWAYS ||
			   trigger.tgenabled == TRIGGER_FIRES_ON_REPLICA);
}

bool IsUntouched(Oid table)
{
	Relation relation = table_open(table, NoLock);
	bool untouched = true;
	const TriggerDesc *triggers = relation->trigdesc;
	for (int i = 0; triggers != nullptr && i < triggers->numtriggers && untouched; ++i)
		untouched = !FiresForReplica(triggers->triggers[i]) || IsGuard(triggers->triggers[i]);
	table_close(relation, NoLock);
	return untouched;
}

} // namespace

struct PageInserter {
	Relation table;
	EState *executor;
	ResultRelInfo *target;
	BulkInsertState bulk;
	CommandId command;
	bool generates;
	int skip;
	int *sources; /* for each of the table's columns where it comes from, or -1 */
	int count;
	uint64 bytes;
	TupleTableSlot *rows[kBufferRows];
	int32 places[kBufferRows];
	TupleTableSlot *read_back;
	RowHasher *hasher;
	std::span<RowSum> stored;
};

namespace
{

/* A dropped or generated column of the table comes from nowhere. */
int *MatchColumns(TupleDesc table, TupleDesc incoming, int skip)
{
	auto *sources = static_cast<int *>(palloc(sizeof(int) * static_cast<Size>(table->natts)));
	for (int i = 0; i < table->natts; ++i) {
		const FormData_pg_attribute &column = *TupleDescAttr(table, i);
		sources[i] = -1;
		for (int j = skip; j < incoming->natts && !column.attisdropped; ++j)
			if (strcmp(NameStr(column.attname), NameStr(TupleDescAttr(incoming, j)->attname)) == 0)
				sources[i] = j;
		if (column.attgenerated != '\0')
			sources[i] = -1;
	}
	return sources;
}

TupleTableSlot *NextRow(PageInserter &inserter)
{
	TupleTableSlot *&row = inserter.rows[inserter.count];
	if (row == nullptr)
		row = table_slot_create(inserter.table, nullptr);
	return ExecClearTuple(row);
}

/* What the table demands of a row; generated columns get their values. */
void Complete(PageInserter &inserter, TupleTableSlot *row)
{
	row->tts_tableOid = RelationGetRelid(inserter.table);
	if (inserter.generates)
		ExecComputeStoredGenerated(inserter.target, inserter.executor, row, CMD_INSERT);
	if (inserter.table->rd_att->constr != nullptr)
		ExecConstraints(inserter.target, row, inserter.executor);
	if (inserter.table->rd_rel->relispartition)
		ExecPartitionCheck(inserter.target, row, inserter.executor, true);
	ExecMaterializeSlot(row);
	ResetPerTupleExprContext(inserter.executor);
}

/* The row as it lies in the table now. */
void ReadBack(PageInserter &inserter, TupleTableSlot *row, int32 place)
{
	if (!table_tuple_fetch_row_version(
			inserter.table, &row->tts_tid, SnapshotAny, inserter.read_back))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						   errmsg("a row just stored in table \"%s\" is not there",
							   RelationGetRelationName(inserter.table))));
	slot_getallattrs(inserter.read_back);
	const RowHash hash =
		HashRow(*inserter.hasher, inserter.read_back->tts_values, inserter.read_back->tts_isnull);
	Add(inserter.stored[static_cast<std::size_t>(place)], hash.hash, hash.bytes);
	ExecClearTuple(inserter.read_back);
}

void Flush(PageInserter &inserter)
{
	if (inserter.count == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	MemoryContext caller = MemoryContextSwitchTo(GetPerTupleMemoryContext(inserter.executor));
	table_multi_insert(
		inserter.table, inserter.rows, inserter.count, inserter.command, 0, inserter.bulk);
	MemoryContextSwitchTo(caller);
	for (int i = 0; i < inserter.count; ++i) {
		if (inserter.target->ri_NumIndices > 0)
			InsertIndexTuples(inserter.target, inserter.rows[i], inserter.executor);
		ReadBack(inserter, inserter.rows[i], inserter.places[i]);
		ExecClearTuple(inserter.rows[i]);
		ResetPerTupleExprContext(inserter.executor);
	}
	inserter.count = 0;
	inserter.bytes = 0;
}

} // namespace

bool CanInsertByPage(const MoveTable &table)
{
	return get_rel_relkind(table.source) == RELKIND_RELATION &&
		   get_rel_relkind(table.target) == RELKIND_RELATION && IsUntouched(table.source) &&
		   IsUntouched(table.target);
}

PageInserter *OpenTarget(Oid table, TupleDesc incoming, int skip, std::span<RowSum> stored)
{
	auto *inserter = static_cast<PageInserter *>(palloc0(sizeof(PageInserter)));
	inserter->table = table_open(table, NoLock);
	TupleDesc shape = RelationGetDescr(inserter->table);
	inserter->executor = CreateExecutorState();
	inserter->target = makeNode(ResultRelInfo);
	InitResultRelInfo(inserter->target, inserter->table, 0, nullptr, 0);
	ExecOpenIndices(inserter->target, false);
	inserter->bulk = GetBulkInsertState();
	inserter->command = GetCurrentCommandId(true);
	inserter->generates = shape->constr != nullptr && shape->constr->has_generated_stored;
	inserter->skip = skip;
	inserter->sources = MatchColumns(shape, incoming, skip);
	inserter->read_back = table_slot_create(inserter->table, nullptr);
	inserter->hasher = MakeRowHasher(shape, 0, CurrentMemoryContext);
	inserter->stored = stored;
	return inserter;
}

void InsertRow(PageInserter &inserter, TupleTableSlot *row, int32 place, uint64 bytes)
{
	TupleTableSlot *out = NextRow(inserter);
	for (int i = 0; i < out->tts_tupleDescriptor->natts; ++i) {
		const int source = inserter.sources[i];
		out->tts_isnull[i] = source < 0 || row->tts_isnull[source];
		out->tts_values[i] = source < 0 ? Datum{0} : row->tts_values[source];
	}
	ExecStoreVirtualTuple(out);
	Complete(inserter, out);
	inserter.places[inserter.count++] = place;
	inserter.bytes += bytes;
	if (inserter.count == kBufferRows || inserter.bytes >= kBufferBytes)
		Flush(inserter);
}

void CloseTarget(PageInserter &inserter)
{
	Flush(inserter);
	for (TupleTableSlot *row : inserter.rows)
		if (row != nullptr)
			ExecDropSingleTupleTableSlot(row);
	ExecDropSingleTupleTableSlot(inserter.read_back);
	FreeBulkInsertState(inserter.bulk);
	table_finish_bulk_insert(inserter.table, 0);
	ExecCloseIndices(inserter.target);
	FreeExecutorState(inserter.executor);
	table_close(inserter.table, NoLock);
}

} // namespace shardkit
