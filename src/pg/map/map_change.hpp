/* What every command that changes a map does: may it, lock, write the history, tell the world. */
#ifndef SHARDKIT_PG_MAP_CHANGE_HPP
#define SHARDKIT_PG_MAP_CHANGE_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/*
 * An error unless the current user belongs to the map's owner. orphan_ok: a superuser may have a map
 * whose owner does not exist.
 */
void CheckMapOwner(const MapEntry &map, bool orphan_ok = false);

/* An error on a restored copy of the database, until adopt_map. */
void CheckMapIsAtHome(const MapEntry &map);

/* An error while a move is unfinished; relation, node: only moves of this one, nullptr: any. */
void CheckNoUnfinishedMove(const MapEntry &map, const char *node, const char *relation);

/*
 * The map for a command that changes it: checks the owner, takes the map's lock EXCLUSIVE within
 * kMapLockMilliseconds, and reads the newest version. SPI must be connected.
 */
constexpr int kMapLockMilliseconds = 2000;
const MapEntry &OpenMapForChange(const char *name, bool orphan_ok = false);

/* The beginning of an entry of the history: {"command": ...; the functions below add to it. */
StringInfo BeginChange(const char *command);
void AddText(StringInfo change, const char *name, const char *value); /* nullptr: null */
void AddNumber(StringInfo change, const char *name, double value);

/* Raises the epoch, writes the entry, notifies; returns the new epoch. */
int64 LogChange(const MapEntry &map, StringInfo change);

/*
 * The same for owners: owners holds each slot's new node. Writes what differs from map.owners to
 * the slots and to the history, as one epoch.
 */
int64 ChangeOwners(const MapEntry &map, StringInfo change, std::span<const int32> owners);

/* map.owners, to be changed. */
std::span<int32> CopyOwners(const MapEntry &map);

} // namespace shardkit

#endif
