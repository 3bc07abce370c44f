#include "pg/map/map_change.hpp"

#include <algorithm>

#include "pg/map/catalog.hpp"
#include "pg/map/map_lock.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

constexpr const char *kChannel = "shardkit";

void Quote(StringInfo change, const char *text)
{
	if (text == nullptr)
		appendStringInfoString(change, "null");
	else
		escape_json(change, text);
}

/* Adds the runs of slots whose owner changes. */
void AddOwners(StringInfo change, const MapEntry &map, std::span<const int32> owners)
{
	const auto name = [&map](int32 node) {
		return node == kNoNode ? nullptr : map.nodes[node].name;
	};
	appendStringInfoString(change, ", \"owners\": [");
	bool any = false;
	for (int32 slot = 0; slot < map.slots;) {
		const int32 from = map.owners[slot];
		const int32 to = owners[slot];
		const int32 first = slot;
		while (slot < map.slots && map.owners[slot] == from && owners[slot] == to)
			++slot;
		if (from == to)
			continue;
		appendStringInfo(
			change, "%s{\"first\": %d, \"last\": %d, \"from\": ", any ? ", " : "", first, slot - 1);
		Quote(change, name(from));
		appendStringInfoString(change, ", \"to\": ");
		Quote(change, name(to));
		appendStringInfoChar(change, '}');
		any = true;
	}
	appendStringInfoChar(change, ']');
}

void Notify(const MapEntry &map, int64 epoch)
{
	StringInfoData payload;
	initStringInfo(&payload);
	appendStringInfoString(&payload, "{\"map\": ");
	escape_json(&payload, map.name);
	appendStringInfo(&payload, ", \"epoch\": " INT64_FORMAT "}", epoch);
	Async_Notify(kChannel, payload.data);
}

} // namespace

void CheckMapOwner(const MapEntry &map, bool orphan_ok)
{
	const Oid owner = get_role_oid(map.owner, true);
	if (!OidIsValid(owner) && orphan_ok && superuser())
		return;
	if (!OidIsValid(owner))
		ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("role \"%s\", the owner of map \"%s\", does not exist", map.owner, map.name),
				errhint("As a superuser, call shardkit.adopt_map to own the map.")));
	if (!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("must belong to role \"%s\" to change map \"%s\"", map.owner, map.name)));
}

void CheckMapIsAtHome(const MapEntry &map)
{
	if (static_cast<uint64>(map.system_identifier) == GetSystemIdentifier() &&
		map.database_oid == MyDatabaseId)
		return;
	ereport(
		ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				   errmsg("map \"%s\" comes from another server or database", map.name),
				   errdetail("It was restored or cloned; a copy must not touch the nodes of the "
							 "original."),
				   errhint("If this is where the map belongs now, call shardkit.adopt_map.")));
}

void CheckNoUnfinishedMove(const MapEntry &map, const char *node, const char *relation)
{
	const uint64 found = RunOnCatalog(
		"SELECT slot, from_node, to_node FROM shardkit.move_log WHERE finished_at IS NULL"
		" AND map = $1 AND ($2 IS NULL OR $2 IN (from_node, to_node))"
		" AND ($3 IS NULL OR relation = $3) ORDER BY id LIMIT 1",
		{SqlText(map.name), SqlText(node), SqlText(relation)});
	if (found == 0)
		return;
	bool null = false;
	const int32 slot = DatumGetInt32(ResultDatum(&null));
	ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
					   errmsg("a move of slot %d of map \"%s\" is not finished", slot, map.name),
					   errhint("CALL shardkit.resume_moves to finish or undo it.")));
}

const MapEntry &OpenMapForChange(const char *name, bool orphan_ok)
{
	/* A standby would speak of its locks. */
	PreventCommandIfReadOnly(psprintf("a change of map \"%s\"", name));
	/* Under the lock the map may turn out to be another one of that name. */
	for (;;) {
		const int32 id = GetMap(name).id;
		CheckMapOwner(GetMap(name), orphan_ok);
		const LOCKTAG object = MapObject(id);
		if (!TryLockFor(object, ExclusiveLock, kMapLockMilliseconds))
			ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
							   errmsg("map \"%s\" is being changed or moved by %s", name,
								   DescribeHolders(object, ExclusiveLock)),
							   errhint("Try again when it is done.")));
		const MapEntry &map = GetMap(name);
		CheckMapOwner(map, orphan_ok);
		if (map.id == id)
			return map;
	}
}

StringInfo BeginChange(const char *command)
{
	StringInfo change = makeStringInfo();
	appendStringInfoString(change, "{\"command\": ");
	escape_json(change, command);
	return change;
}

void AddText(StringInfo change, const char *name, const char *value)
{
	appendStringInfo(change, ", \"%s\": ", name);
	Quote(change, value);
}

void AddNumber(StringInfo change, const char *name, double value)
{
	appendStringInfo(change, ", \"%s\": %s", name, float8out_internal(value));
}

int64 LogChange(const MapEntry &map, StringInfo change)
{
	const char *user = GetUserNameFromId(GetUserId(), false);
	if (RunOnCatalog("UPDATE shardkit.map SET epoch = epoch + 1 WHERE name = $1 RETURNING epoch",
			{SqlText(map.name)}) != 1)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						   errmsg("map \"%s\" does not exist any more", map.name)));
	bool null = false;
	const int64 epoch = DatumGetInt64(ResultDatum(&null));
	const char *entry = psprintf("%s}", change->data);
	RunOnCatalog("INSERT INTO shardkit.map_log (map, epoch, changed_by, change)"
				 " VALUES ($1, $2, $3, $4::jsonb)",
		{SqlText(map.name), SqlBigint(epoch), SqlText(user), SqlText(entry)});
	Notify(map, epoch);
	return epoch;
}

int64 ChangeOwners(const MapEntry &map, StringInfo change, std::span<const int32> owners)
{
	AddOwners(change, map, owners);
	const int64 epoch = LogChange(map, change);
	RunOnCatalog("UPDATE shardkit.slot_map AS s SET node = run.\"to\", epoch = $2, moving_to = NULL"
				 " FROM shardkit.map_log AS l, jsonb_to_recordset(l.change -> 'owners')"
				 " AS run(first int, last int, \"to\" text),"
				 " generate_series(run.first, run.last) AS changed(slot)"
				 " WHERE l.map = $1 AND l.epoch = $2 AND s.map = $1 AND s.slot = changed.slot",
		{SqlText(map.name), SqlBigint(epoch)});
	return epoch;
}

std::span<int32> CopyOwners(const MapEntry &map)
{
	auto *owners = static_cast<int32 *>(palloc(map.owners.size_bytes()));
	std::ranges::copy(map.owners, owners);
	return {owners, map.owners.size()};
}

} // namespace shardkit
