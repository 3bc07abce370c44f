/* Each backend's copy of the maps, right at the beginning of every statement. */
#ifndef SHARDKIT_PG_MAP_CACHE_HPP
#define SHARDKIT_PG_MAP_CACHE_HPP

#include <span>

#include "core/place/reduce.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

constexpr int32 kMaxSlots = 65535;
constexpr int kMaxNameBytes = 255;
constexpr int32 kNoNode = -1;

struct MapNode {
	const char *name;
	Datum name_text; /* the same as a text */
	const char *schema;
	const char *server; /* nullptr: a local node */
	double weight;
	bool draining;
};

struct MapTable {
	const char *relation;
	const char *key;
	bool per_slot;
	Oid template_table;
	std::span<const Oid> key_types;
};

struct MapEntry {
	const char *name;
	int32 id;
	int32 slots;
	Divisor slots_divisor; /* for SlotOfHash */
	const char *hash;
	int64 epoch;
	const char *owner;
	int64 system_identifier;
	Oid database_oid;
	std::span<const MapNode> nodes;    /* in the byte order of their names */
	std::span<const MapTable> tables;  /* in the byte order of their names */
	std::span<const int32> owners;     /* a slot's node, or kNoNode */
	std::span<const int32> moving_to;  /* where an unfinished move carries it, or kNoNode */
	std::span<const int64> changed_at; /* the epoch at which the slot got its owner */
};

/*
 * The map as of the newest committed catalog and this transaction's own changes, never as of the
 * transaction's snapshot. An entry is never changed and lives until the transaction ends.
 */
const MapEntry *FindMap(const char *name); /* nullptr: there is none */
const MapEntry &GetMap(const char *name);  /* an error if there is none */

/*
 * Rises whenever a map may have changed. A number noted before FindMap was called that is still the
 * same: that entry is still the newest, and its memory still there, in a later transaction too.
 */
uint64 MapGeneration();

/* A node's number in map.nodes, or kNoNode; the other form raises the error. */
int32 FindNode(const MapEntry &map, const char *name);
int32 GetNode(const MapEntry &map, const char *name);

/* An error if the map has no such slot. */
void CheckSlotOfMap(const MapEntry &map, int32 slot);

inline int32 SlotOfHash(const MapEntry &map, uint64 hash)
{
	return static_cast<int32>(Remainder(hash, map.slots_divisor));
}

/* A slot's owner's name, or nullptr. */
inline const char *OwnerName(const MapEntry &map, int32 slot)
{
	const int32 node = map.owners[slot];
	return node == kNoNode ? nullptr : map.nodes[node].name;
}

/*
 * Says whether a look-up still belongs to the statement that made the mark. A statement sees one
 * version of a map from its first row to its last, and the next one sees the newest.
 */
struct StatementMark {
	uint64 transactions;
	uint64 ended;
	TimestampTz started;
	CommandId command;
};

/* True, and mark renewed, where a new statement has begun; messages of others are then read in. */
bool BeginsStatement(StatementMark &mark);

} // namespace shardkit

#endif
