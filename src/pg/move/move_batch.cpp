#include <algorithm>

#include "pg/map/catalog.hpp"
#include "pg/map/guard.hpp"
#include "pg/map/map_change.hpp"
#include "pg/move/move.hpp"
#include "pg/move/move_check.hpp"
#include "pg/move/move_insert.hpp"
#include "pg/move/move_progress.hpp"
#include "pg/move/move_statement.hpp"
#include "pg/move/move_stream.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

/* Settings of the mover's own statements; the nest level takes them back, after an error too. */
void BehaveAsReplica()
{
	/* A move is no change of the data: only ENABLE ALWAYS triggers see it. */
	(void)set_config_option("session_replication_role", "replica", PGC_SUSET, PGC_S_SESSION,
		GUC_ACTION_SAVE, true, 0, false);
	/* Rows that a policy hides must stop the move, not stay behind. */
	(void)set_config_option(
		"row_security", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Copies, then deletes. Where nothing but the guard looks at rows that arrive, each row is stored
 * as it is deleted instead: one scan, and whole pages.
 */
void CarryRows(const MapEntry &map, const MoveBatch &batch, std::span<MoveTable> tables)
{
	const auto places = PlacesOfSlots(map.slots, batch.slots);
	const int nest_level = NewGUCNestLevel();
	BehaveAsReplica();
	for (MoveTable &table : tables) {
		table.by_page = CanInsertByPage(table);
		if (table.by_page)
			continue;
		ReportTable(table.target);
		SuspendGuard(table.target, batch.slots);
		RunStreamed(CopyStatement(map, table), batch, places, table.stored);
		ResumeGuard();
	}
	for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
		const char *statement = DeleteStatement(map, *table);
		ReportTable(table->source);
		if (table->by_page)
			RunStreamedInto(statement, batch, places, *table);
		else
			RunStreamed(statement, batch, places, table->left);
	}
	AtEOXact_GUC(true, nest_level);
	for (const MoveTable &table : tables)
		RunAsCaller("SELECT shardkit_internal.advance_sequences($1::regclass, $2::regclass)",
			{SqlOid(table.source), SqlOid(table.target)});
}

char *DigitsOf(Fingerprint fingerprint)
{
	const auto digits = Digits(fingerprint);
	return pnstrdup(digits.data(), digits.size());
}

void Compare(const MoveBatch &batch, const MoveTable &table, std::size_t place)
{
	const RowSum &left = table.left[place];
	const RowSum &stored = table.stored[place];
	if (SameRows(left, stored))
		return;
	ereport(ERROR,
		(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			errmsg("rows of slot %d of table %s stored on node \"%s\" are not those deleted from "
				   "node \"%s\"",
				batch.slots[place], table.relation, batch.to, batch.from),
			errdetail("Stored were " UINT64_FORMAT
					  " rows with fingerprint %s, deleted " UINT64_FORMAT
					  " rows with fingerprint %s.",
				stored.rows, DigitsOf(stored.fingerprint), left.rows, DigitsOf(left.fingerprint)),
			errhint("Nothing was moved. Look for ENABLE ALWAYS triggers and for generated columns "
					"that differ between the tables.")));
}

Datum NumberArray(std::span<const RowSum> sums, uint64 RowSum::*member)
{
	auto *values = static_cast<Datum *>(palloc(sizeof(Datum) * sums.size()));
	std::ranges::transform(
		sums, values, [member](const RowSum &sum) { return UInt64GetDatum(sum.*member); });
	return PointerGetDatum(construct_array(values, static_cast<int>(sums.size()), INT8OID,
		sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

Datum FingerprintArray(std::span<const RowSum> sums)
{
	auto *values = static_cast<Datum *>(palloc(sizeof(Datum) * sums.size()));
	std::ranges::transform(sums, values,
		[](const RowSum &sum) { return CStringGetTextDatum(DigitsOf(sum.fingerprint)); });
	return PointerGetDatum(
		construct_array(values, static_cast<int>(sums.size()), TEXTOID, -1, false, TYPALIGN_INT));
}

/* The certificates: one row a slot and table. */
void Log(const Move &move, const MoveBatch &batch, const MoveTable &table, int64 epoch,
	TimestampTz started)
{
	RunOnCatalog("INSERT INTO shardkit.move_log (map, relation, from_node, to_node, state, epoch, "
				 "started_at,"
				 " finished_at, slot, rows, bytes, fingerprint_from, fingerprint_to)"
				 " SELECT $1, $2, $3, $4, 'done', $5, $6, clock_timestamp(), u.*"
				 " FROM unnest($7, $8, $9, $10, $11) AS u",
		{SqlText(move.map), SqlText(table.relation), SqlText(batch.from), SqlText(batch.to),
			SqlBigint(epoch), {TIMESTAMPTZOID, TimestampTzGetDatum(started), false},
			{INT4ARRAYOID, SlotArray(batch.slots), false},
			{INT8ARRAYOID, NumberArray(table.left, &RowSum::rows), false},
			{INT8ARRAYOID, NumberArray(table.left, &RowSum::bytes), false},
			{TEXTARRAYOID, FingerprintArray(table.left), false},
			{TEXTARRAYOID, FingerprintArray(table.stored), false}});
}

int64 RowsOf(std::span<const RowSum> sums)
{
	uint64 rows = 0;
	for (const RowSum &sum : sums)
		rows += sum.rows;
	return static_cast<int64>(rows);
}

} // namespace

int64 FlipOwners(const Move &move, const MoveBatch &batch)
{
	/* Another mover of this map may have flipped its slots since the last look. */
	AcceptInvalidationMessages();
	const MapEntry &map = GetMap(move.map);
	const std::span<int32> owners = CopyOwners(map);
	const int32 node = GetNode(map, batch.to);
	for (const int32 slot : batch.slots)
		owners[static_cast<std::size_t>(slot)] = node;
	return ChangeOwners(map, BeginChange("move_rows"), owners);
}

int64 MoveUnderLocks(const Move &move, const MoveBatch &batch, std::span<MoveTable> tables)
{
	const TimestampTz started = GetCurrentTimestamp();
	const MapEntry &map = GetMap(move.map);
	CheckHazards(move.map, batch);
	ReportPhase(Phase::kMoving);
	CarryRows(map, batch, tables);
	ReportPhase(Phase::kChecking);
	int64 rows = 0;
	for (const MoveTable &table : tables) {
		for (std::size_t place = 0; place < batch.slots.size(); ++place)
			Compare(batch, table, place);
		rows += RowsOf(table.left);
	}
	CheckAfterTriggers(map, batch, tables);
	CheckMovedForeignKeys(map, batch, tables);
	CheckMovedUniqueness(map, batch, tables);
	const int64 epoch = FlipOwners(move, batch);
	for (const MoveTable &table : tables)
		Log(move, batch, table, epoch, started);
	return rows;
}

} // namespace shardkit
