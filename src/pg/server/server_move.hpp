/*
 * Moving a slot to or from a server: what the steps of the protocol share.
 *
 * Intent, fence, copy, settle, swap, drop. The log alone says how far a move has come: before the
 * swap the old owner is the owner, and only the try's own table is ever dropped; after it the new
 * one is, and only what is attached nowhere is dropped.
 */
#ifndef SHARDKIT_PG_SERVER_MOVE_HPP
#define SHARDKIT_PG_SERVER_MOVE_HPP

#include "pg/map/map_cache.hpp"
#include "pg/quote.hpp"
#include "pg/server/copy_stream.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

/* Where rows lie. */
struct Side {
	const char *server; /* nullptr: this database */
	const char *schema;
	const char *table;
};

/* One table of the map, and its partition of the slot. */
struct ServerTable {
	int64 id; /* of the row in move_log */
	const char *relation;
	Oid parent;
	Oid partition;
	const char *partition_schema;
	const char *partition_name;
	const char *new_schema; /* where the partition lies after the move */
	const char *fresh_name; /* of the new partition, before the swap */
	const char *kept_name;  /* of an old local partition, after it */
	Side from;
	Side to;
	CopyColumns columns;
	RowSum sum;    /* as it left the source */
	RowSum stored; /* as it was read back from the target */
};

/* Strings live as long as the call. */
struct ServerMove {
	const char *map;
	int32 map_id;
	int32 slots;
	int32 slot;
	const char *from_node;
	const char *to_node;
	const char *from_server;
	const char *to_server;
	const char *mark; /* what was last left on the servers, see server_mark.cpp */
	int64 epoch;      /* at which that mark stands in the history */
	int64 max_wait_ms;
	int tables_count;
	ServerTable *tables;
	Link *source;
	Link *target;
};

/*
 * server_site.cpp: reads map and partitions; an error if the move is not possible as it stands. The
 * caller has seen to the map's owner and the slot.
 */
void ReadServerMove(ServerMove &move, const char *map, int32 slot, const char *to_node);

/* The table of a per_slot map; as in SQL, by the caller's search_path where it has no schema. */
Oid ParentNamed(const char *relation);

/* The partition of that remainder. An error unless the modulus of the parent is slots. */
Oid PartitionOfSlot(Oid parent, int32 slots, int32 slot);

/* Where a partition's rows lie: itself, or the remote table of a foreign one. */
Side SideOf(Oid partition);

/* Is this relation of a server one that a foreign table of this database stands for? */
bool IsReferred(const Side &side);

/* server_shape.cpp: DDL made from catalogs, here (link nullptr) or on a server. */
const char *AskText(Link *link, const char *query);
const char *ShapeOf(Link *link, const char *table);
const char *ColumnsDdl(Link *link, const char *table, bool with_defaults);
CopyColumns ColumnsOf(Oid relation);
RowSum SumFromText(const char *rows, const char *fingerprint);
char *CopyStatement(const Side &side, const CopyColumns &columns, const char *direction);

/* server_table.cpp: the try's own table, and what stands for it here. */
void EnsureSchema(Link *link, const char *schema);
void CreateOnce(Link *link, const char *statement);
void CreateRemoteTable(ServerMove &move, ServerTable &table);
void CreateFreshRelation(ServerMove &move, ServerTable &table);
void CreateIndexes(ServerMove &move, ServerTable &table);

/* server_mark.cpp: of two copies of this coordinator only the first may move. */
const char *NewMark();
void CheckMark(Link *link, const char *schema, const char *map);
void TakeMark(Link *link, const char *schema, const char *map, int64 epoch, const char *mark);
void HoldSlot(Link *link, const char *map, int32 slot);

/* server_intent.cpp, server_fence.cpp, server_copy.cpp, server_swap.cpp, server_drop.cpp */
void WriteIntent(ServerMove &move);
void RaiseFence(ServerMove &move);
void DropFence(const char *schema, const char *name);
bool HasFence(Oid relation);
void LockForCopy(ServerMove &move);
void CopySlot(ServerMove &move);
void Settle(ServerMove &move);
void CheckMarks(const ServerMove &move);
void Swap(ServerMove &move);
bool DropOldSide(ServerMove &move);
void SetMoveState(int64 id, const char *state, const char *error, bool finished);

/* server_undo.cpp: takes everything of a try away again, from what the log says. */
bool UndoMove(const ServerMove &move, const char *reason);
bool TryDropFence(const char *schema, const char *name);

/* server_resume.cpp: finishes or undoes what the log says of one slot; true: nothing is left. */
bool ResumeSlot(const char *map, int32 slot, int64 max_wait_ms, const char *reason);

/* server_resume_moves.cpp: the same; what fails is a warning. Gives the move object back. */
void TryResumeSlot(const char *map, int32 slot, int64 max_wait_ms, const char *reason);

/* server_pause.cpp: where tests break a move. */
void PauseAfter(const char *step);

inline const char *Qualified(const char *schema, const char *name)
{
	return QuoteName(schema, name);
}

inline const char *Qualified(const Side &side)
{
	return Qualified(side.schema, side.table);
}

} // namespace shardkit

#endif
