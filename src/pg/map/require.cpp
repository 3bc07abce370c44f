#include "pg/arguments.hpp"
#include "pg/map/guard.hpp"
#include "pg/map/map_key.hpp"
#include "pg/map/map_lock.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

[[noreturn]] void RaiseInTransit(const MapEntry &map, int32 slot, const char *by)
{
	ereport(ERROR,
		(errcode(kOwnerChanged), errmsg("slot %d of map \"%s\" is in transit", slot, map.name),
			by == nullptr ? 0 : errdetail("It is being moved by %s.", by),
			errhint("Read the map again when the move is done, and try again.")));
	pg_unreachable();
}

/*
 * Keeps the slot where it is until the transaction ends, without ever waiting. A mover holds the
 * move object from its first step on, so that it is not kept waiting by an endless row of routers.
 */
void HoldOwner(const MapEntry &map, int32 slot)
{
	const LOCKTAG owner = OwnerObject(map.id, slot);
	if (HoldsLock(owner, RowExclusiveLock))
		return;
	if (!TryLock(owner, RowExclusiveLock))
		RaiseInTransit(map, slot, DescribeHolders(owner, RowExclusiveLock));
	const LOCKTAG move = MoveObject(map.id, slot);
	if (IsLockedByOthers(move, RowExclusiveLock))
		RaiseInTransit(map, slot, DescribeHolders(move, RowExclusiveLock));
}

void CheckEpoch(const MapEntry &map, int64 epoch, int32 slot)
{
	if (epoch > map.epoch)
		ereport(
			ERROR, (errcode(kOwnerChanged),
					   errmsg("epoch " INT64_FORMAT " is ahead of map \"%s\"", epoch, map.name),
					   errdetail("The map is at epoch " INT64_FORMAT ".", map.epoch),
					   errhint("Read the map again: it was restored from an older copy, or this "
							   "standby lags behind.")));
	const char *owner = OwnerName(map, slot);
	if (owner == nullptr)
		ereport(ERROR,
			(errcode(kOwnerChanged), errmsg("slot %d of map \"%s\" has no owner", slot, map.name),
				errhint("Call shardkit.assign_slots or shardkit.deal_slots.")));
	if (map.changed_at[slot] > epoch)
		ereport(
			ERROR, (errcode(kOwnerChanged),
					   errmsg("slot %d of map \"%s\" has changed owner since epoch " INT64_FORMAT,
						   slot, map.name, epoch),
					   errdetail("It is owned by node \"%s\" as of epoch " INT64_FORMAT ".", owner,
						   map.changed_at[slot]),
					   errhint("Read the map again and send the statement to its owner.")));
}

/* The owner's name. On a standby, where no lock holds a mover off, it is a check only. */
Datum Require(const char *name, int64 epoch, int32 slot)
{
	AcceptInvalidationMessages();
	const MapEntry &seen = GetMap(name);
	CheckSlotOfMap(seen, slot);
	if (!RecoveryInProgress())
		HoldOwner(seen, slot);
	else if (seen.moving_to[slot] != kNoNode)
		RaiseInTransit(seen, slot, nullptr);
	/* Under the lock: what is true now stays true. */
	const MapEntry &map = GetMap(name);
	if (map.id != seen.id)
		ereport(ERROR, (errcode(kOwnerChanged), errmsg("map \"%s\" has been made anew", name),
						   errhint("Read the map again.")));
	CheckEpoch(map, epoch, slot);
	return map.nodes[map.owners[slot]].name_text;
}

Datum RequireKey(FunctionCallInfo fcinfo, bool as_text)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const int64 epoch = BigintArgument(fcinfo, 1, "epoch");
	Lookup &lookup = LookupOf(fcinfo);
	const int32 slot = SlotOf(fcinfo, lookup, MapOf(fcinfo, lookup), 2, as_text);
	return Require(name, epoch, slot);
}

} // namespace

SHARDKIT_FUNCTION(shardkit_require_slot)
Datum shardkit_require_slot(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const int64 epoch = BigintArgument(fcinfo, 1, "epoch");
	return Require(name, epoch, IntArgument(fcinfo, 2, "slot"));
}

SHARDKIT_FUNCTION(shardkit_require_key)
Datum shardkit_require_key(PG_FUNCTION_ARGS)
{
	return RequireKey(fcinfo, false);
}

SHARDKIT_FUNCTION(shardkit_require_key_text)
Datum shardkit_require_key_text(PG_FUNCTION_ARGS)
{
	return RequireKey(fcinfo, true);
}
