#include "pg/map/map_insert.hpp"

#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_hash.hpp"
#include "pg/map/map_node.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

void CheckSlots(int32 slots)
{
	if (slots < 1 || slots > kMaxSlots)
		ereport(
			ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("number of slots must be between 1 and %d, not %d", kMaxSlots, slots),
					   errhint("shardkit.advise_slots shows which numbers stay even.")));
}

/* A map is made of schemas: whoever may create them may create it. */
void CheckMayCreateMap()
{
	if (!MayCreateInDatabase(GetUserId()))
		ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to create a map"),
				errhint("GRANT CREATE ON DATABASE to the role that owns the map.")));
}

} // namespace

void InsertMap(const char *name, int32 slots, const char *hash, int64 epoch)
{
	CheckName("map", name);
	CheckSlots(slots);
	hash = CheckedMapHash(hash);
	CheckMayCreateMap();
	const char *user = GetUserNameFromId(GetUserId(), false);
	const uint64 inserted =
		RunOnCatalog("INSERT INTO shardkit.map"
					 " (name, slots, hash, epoch, owner, system_identifier, database_oid)"
					 " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO NOTHING",
			{SqlText(name), SqlInt(slots), SqlText(hash), SqlBigint(epoch), SqlName(user),
				SqlBigint(static_cast<int64>(GetSystemIdentifier())), SqlOid(MyDatabaseId)});
	if (inserted == 0)
		ereport(
			ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("map \"%s\" already exists", name)));
	RunOnCatalog("INSERT INTO shardkit.slot_map (map, slot, epoch)"
				 " SELECT $1, slot, 0 FROM generate_series(0, $2 - 1) AS slot",
		{SqlText(name), SqlInt(slots)});
}

} // namespace shardkit
