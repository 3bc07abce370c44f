/*
 * Of two copies of a coordinator with the same identifiers only the first to move may go on.
 *
 * Each node's schema on its server holds a small table with the last mark: a random word that the
 * mover wrote into the map's history here before it left it there. A coordinator that does not find
 * the mark in its own history is a copy that was overtaken, and touches nothing.
 */
#include "pg/map/catalog.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

constexpr const char *kMarkTable = "shardkit_mark";

const char *MarkTable(const char *schema)
{
	return Qualified(schema, kMarkTable);
}

[[noreturn]] void RaiseOvertaken(const Link *link, const char *map)
{
	ereport(ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("server \"%s\" has been used for map \"%s\" by another copy of this database",
				link->label, map),
			errdetail("Its last mark is not in this map's history."),
			errhint("Only the copy that moved first may move on. Keep this one off the servers: "
					"drop its user mappings.")));
}

/* epoch and mark over there; false: none yet. */
bool ReadMark(Link *link, const char *schema, const char *map, int64 *epoch, const char **mark)
{
	if (AskText(link, psprintf("SELECT to_regclass(%s)::text",
						  quote_literal_cstr(MarkTable(schema)))) == nullptr)
		return false;
	const auto answer = Ask(link, psprintf("SELECT epoch, mark FROM %s WHERE map = %s",
									  MarkTable(schema), quote_literal_cstr(map)));
	if (answer.rows == 0)
		return false;
	*epoch = pg_strtoint64(answer.At(0, 0));
	*mark = answer.At(0, 1);
	return true;
}

bool IsInHistory(const char *map, int64 epoch, const char *mark)
{
	return RunOnCatalog("SELECT FROM shardkit.map_log WHERE map = $1 AND epoch = $2 "
						"AND change ->> 'mark' = $3",
			   {SqlText(map), SqlBigint(epoch), SqlText(mark)}) > 0;
}

} // namespace

void CheckMark(Link *link, const char *schema, const char *map)
{
	int64 epoch = 0;
	const char *mark = nullptr;
	if (ReadMark(link, schema, map, &epoch, &mark) && !IsInHistory(map, epoch, mark))
		RaiseOvertaken(link, map);
}

/* Random, so that no copy of the coordinator comes upon the same. */
const char *NewMark()
{
	unsigned char random[16];
	if (!pg_strong_random(random, sizeof random))
		ereport(
			ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	auto *text = static_cast<char *>(palloc0(sizeof random * 2 + 1));
	for (size_t i = 0; i < sizeof random; ++i)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	return text;
}

namespace
{

/* Compares and sets; false: somebody was faster. */
bool TrySetMark(Link *link, const char *schema, const char *map, int64 epoch, const char *mark)
{
	int64 old_epoch = 0;
	const char *old_mark = nullptr;
	const bool marked = ReadMark(link, schema, map, &old_epoch, &old_mark);
	if (marked && !IsInHistory(map, old_epoch, old_mark))
		RaiseOvertaken(link, map);
	const char *table = MarkTable(schema);
	if (!marked)
		CreateOnce(link,
			psprintf("CREATE TABLE IF NOT EXISTS %s (map text PRIMARY KEY, epoch bigint NOT NULL, "
					 "mark text NOT NULL, system_identifier text NOT NULL, "
					 "marked_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp())",
				table));
	const char *set =
		marked
			? psprintf("UPDATE %s SET epoch = " INT64_FORMAT ", mark = %s, marked_at = "
					   "pg_catalog.clock_timestamp() WHERE map = %s AND mark = %s",
				  table, epoch, quote_literal_cstr(mark), quote_literal_cstr(map),
				  quote_literal_cstr(old_mark))
			: psprintf(
				  "INSERT INTO %s (map, epoch, mark, system_identifier) VALUES (%s, " INT64_FORMAT
				  ", %s, '" UINT64_FORMAT "') ON CONFLICT DO NOTHING",
				  table, quote_literal_cstr(map), epoch, quote_literal_cstr(mark),
				  GetSystemIdentifier());
	return strcmp(Ask(link, set).tag, "1") == 0;
}

} // namespace

/* Another mover of this very coordinator may be faster, which is no harm; a copy's may not. */
void TakeMark(Link *link, const char *schema, const char *map, int64 epoch, const char *mark)
{
	constexpr int kTries = 20;
	for (int i = 0; i < kTries; ++i)
		if (TrySetMark(link, schema, map, epoch, mark))
			return;
	ereport(
		ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				   errmsg("could not leave a mark on server \"%s\": too many movers", link->label),
				   errhint("Call again.")));
}

/*
 * In an open transaction over there: nobody else, of this coordinator or of a copy, does anything
 * with the slot until it ends, and what a lost session still has on its way is waited for.
 */
void HoldSlot(Link *link, const char *map, int32 slot)
{
	constexpr int kTries = 50;
	const char *hold = psprintf("SELECT pg_try_advisory_xact_lock(hashtext(%s), %d)",
		quote_literal_cstr(psprintf("shardkit %s", map)), slot);
	for (int i = 0; i < kTries; ++i) {
		if (AskText(link, hold)[0] == 't')
			return;
		Doze(100);
	}
	ereport(ERROR,
		(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			errmsg("slot %d of map \"%s\" is being moved on server \"%s\" by another session", slot,
				map, link->label),
			errhint("It may be one that was lost; call again.")));
}

} // namespace shardkit
