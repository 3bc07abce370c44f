/* Step 6: the old side's rows go, if they are still the rows that were moved. */
#include "pg/map/catalog.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

void NoWatch(void *, const RowSum &)
{
}

/* Locks a table that nobody should use any more; false: somebody does, for all of max_wait. */
bool LockOld(const ServerMove &move, const char *table)
{
	const auto give_up = PatienceOf(move);
	for (;;) {
		Ask(move.source, "SAVEPOINT old");
		const char *failure =
			Try(move.source, psprintf("LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE", table));
		if (failure == nullptr)
			return true;
		Ask(move.source, "ROLLBACK TO SAVEPOINT old");
		if (GetCurrentTimestamp() >= give_up)
			return false;
		Doze(100);
	}
}

bool SameAsLogged(const ServerTable &table, const RowSum &found)
{
	return SameRows(table.sum, found);
}

/*
 * Compared under the lock, right before they go. Whoever wrote past the coordinator since the swap
 * finds the rows still there, and verify_map says so.
 */
bool DropOldTable(ServerMove &move, ServerTable &table)
{
	const Side old = {table.from.server, table.from.schema,
		table.from.server == nullptr ? table.kept_name : table.from.table};
	const char *name = Qualified(old);
	Ask(move.source, "SAVEPOINT old");
	if (AskText(move.source, psprintf("SELECT to_regclass(%s)::text", quote_literal_cstr(name))) ==
		nullptr)
		return true;
	if (table.from.server != nullptr && IsReferred(old)) {
		SetMoveState(table.id, "swapped", "a foreign table still stands for the old rows", false);
		return false;
	}
	if (!LockOld(move, name)) {
		SetMoveState(table.id, "swapped", "the old rows are in use", false);
		return false;
	}
	const auto found = ReadRows(move.source, CopyStatement(old, table.columns, "TO STDOUT"),
		table.columns, {NoWatch, nullptr});
	if (!SameAsLogged(table, found)) {
		SetMoveState(table.id, "swapped",
			psprintf("the old rows in %s of %s have changed since they were moved", name,
				old.server == nullptr ? "this database" : old.server),
			false);
		return false;
	}
	Ask(move.source, psprintf("DROP TABLE %s", name));
	return true;
}

/*
 * A copy of this coordinator from before the swap would take the new rows for those of a try that
 * broke off. The new mark, which its history does not hold, keeps it away from them.
 */
void LeaveMark(const ServerMove &move)
{
	if (move.to_server != nullptr) {
		if (PQtransactionStatus(move.target->conn) == PQTRANS_IDLE) {
			Ask(move.target, "BEGIN");
			HoldSlot(move.target, move.map, move.slot);
		}
		TakeMark(move.target, move.tables[0].to.schema, move.map, move.epoch, move.mark);
		Ask(move.target, "COMMIT");
	}
	if (PQtransactionStatus(move.source->conn) == PQTRANS_IDLE) {
		Ask(move.source, "BEGIN");
		if (move.from_server != nullptr)
			HoldSlot(move.source, move.map, move.slot);
	}
}

} // namespace

/*
 * The source's connection may still be in the transaction whose SHARE lock it copied under. mark
 * and epoch are in the history.
 */
bool DropOldSide(ServerMove &move)
{
	bool all = true;
	LeaveMark(move);
	for (int i = 0; i < move.tables_count && all; ++i)
		all = DropOldTable(move, move.tables[i]);
	if (!all)
		Ask(move.source, "ROLLBACK TO SAVEPOINT old");
	/* Last, since it keeps other movers from leaving theirs until the commit. */
	if (move.from_server != nullptr)
		TakeMark(move.source, move.tables[0].from.schema, move.map, move.epoch, move.mark);
	Ask(move.source, "COMMIT");
	if (all)
		for (int i = 0; i < move.tables_count; ++i)
			SetMoveState(move.tables[i].id, "done", nullptr, true);
	Commit();
	return all;
}

} // namespace shardkit
