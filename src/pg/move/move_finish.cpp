#include "pg/move/move.hpp"
#include "pg/move/move_lock.hpp"
#include "pg/quote.hpp"
#include "pg/subtransaction.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

const char *NameOf(Oid table)
{
	const char *name = get_rel_name(table);
	if (name == nullptr)
		return nullptr;
	return QuoteName(get_namespace_name(get_rel_namespace(table)), name);
}

/*
 * Statistics are no reason to fail: a table that is busy or gone goes without. A cancel must be
 * obeyed, as more may follow the CALL, but says that it came too late to undo the move.
 */
void Analyze(Oid table)
{
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		BoundLockWaits();
		const char *name = NameOf(table);
		if (name != nullptr)
			(void)SPI_execute(psprintf("ANALYZE %s", name), false, 0);
		CommitSubtransaction(sub);
	}
	PG_CATCH();
	{
		auto *error = AbortAfterError(sub);
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED) {
			error->detail = pstrdup("All rows were moved before; only statistics are missing.");
			error->hint = pstrdup("Run ANALYZE on the tables of the new owner.");
			ReThrowError(error);
		}
		FreeErrorData(error);
	}
	PG_END_TRY();
}

} // namespace

void NoteTables(Move &move, std::span<const MoveTable> tables)
{
	MemoryContext caller = MemoryContextSwitchTo(move.memory);
	for (const MoveTable &table : tables) {
		uint64 rows = 0;
		for (const RowSum &sum : table.left)
			rows += sum.rows;
		if (rows == 0)
			continue;
		move.sources = list_append_unique_oid(move.sources, table.source);
		move.targets = list_append_unique_oid(move.targets, table.target);
	}
	MemoryContextSwitchTo(caller);
}

void FinishMove(const Move &move)
{
	ListCell *cell = nullptr;
	foreach (cell, move.targets) {
		/* A caller's transaction is not burdened with it: its other statements wait for that. */
		if (move.atomic)
			break;
		Analyze(lfirst_oid(cell));
		SPI_commit();
	}
	/* What autovacuum soon finds by itself is not worth a word. */
	constexpr int64 kManyRows = 100000;
	if (move.rows_moved < kManyRows)
		return;
	StringInfoData names;
	initStringInfo(&names);
	foreach (cell, move.sources)
		if (const char *name = NameOf(lfirst_oid(cell)); name != nullptr)
			appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", name);
	if (names.len > 0)
		ereport(
			NOTICE, (errmsg(INT64_FORMAT " rows moved", move.rows_moved),
						errhint("VACUUM %s gives their old space free for new rows.", names.data)));
}

} // namespace shardkit
