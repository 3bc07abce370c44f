/* Moving the rows of slots between local nodes: what the parts of a mover share. */
#ifndef SHARDKIT_PG_MOVE_HPP
#define SHARDKIT_PG_MOVE_HPP

#include <span>

#include "core/move/fingerprint.hpp"

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/* At most this many slots in one transaction: each takes two locks of the shared lock table. */
constexpr int32 kMaxBatchSlots = 512;

/* One call of move_rows or rebalance. Strings are the call's own and outlive its transactions. */
struct Move {
	MemoryContext memory;
	const char *map;
	bool atomic; /* inside a caller's transaction block: cannot commit */
	int32 batch_slots;
	bool per_slot;
	int64 max_wait; /* microseconds */
	int64 rows_moved;
	List *sources; /* tables that rows have left, by OID */
	List *targets;
};

/* What one transaction moves: slots, ascending, of one node to another. */
struct MoveBatch {
	const char *from;
	const char *to;
	std::span<int32> slots;
	bool per_slot; /* partitions change their schema, rows stay where they are */
};

/* A table of the map on both nodes. */
struct MoveTable {
	const char *relation; /* as in map_table */
	const char *key;
	Oid source;
	Oid target;
	bool by_page;             /* rows are stored as they are deleted, in one pass */
	std::span<RowSum> left;   /* rows deleted at the source, one sum a slot of the batch */
	std::span<RowSum> stored; /* rows stored at the target */
};

/* The tables in foreign-key order, referenced ones first; an error if one is missing. */
std::span<MoveTable> ReadMoveTables(const MapEntry &map, const MoveBatch &batch);

/* For each slot a sum of nothing. */
std::span<RowSum> NoRows(std::size_t slots);

/* All of a batch, under its locks: copy, delete, compare, check, flip, log. Returns rows moved. */
int64 MoveUnderLocks(const Move &move, const MoveBatch &batch, std::span<MoveTable> tables);

/* The slots' new owner, as one epoch of the map. */
int64 FlipOwners(const Move &move, const MoveBatch &batch);

/* The same for slots that are partitions: found, and put into the new owner's schema. */
std::span<MoveTable> ReadMovePartitions(const MapEntry &map, const MoveBatch &batch);
int64 MovePartitionsUnderLocks(
	const Move &move, const MoveBatch &batch, std::span<const MoveTable> tables);

/* Waits for the batch's locks, round by round, and moves it; returns rows moved. */
int64 MoveWhenFree(Move &move, const MoveBatch &batch);

/* Remembers for FinishMove between which tables rows have moved. */
void NoteTables(Move &move, std::span<const MoveTable> tables);

/* Statistics of the targets; says which tables need a VACUUM. */
void FinishMove(const Move &move);

/* An error in a transaction that cannot move: it would not see what others have committed. */
void CheckTransaction();

} // namespace shardkit

#endif
