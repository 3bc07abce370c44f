/* The state of the prediction aggregates: flows between pairs of layouts, flat and mergeable. */
#ifndef SHARDKIT_PG_TALLY_STATE_HPP
#define SHARDKIT_PG_TALLY_STATE_HPP

#include "core/predict/sample.hpp"
#include "core/predict/tally.hpp"

#include "pg/key/key_hash.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

constexpr int kMaxLayoutPairs = 64;

/* Pairs of layouts made ready once for a call site; states only point to it. */
struct TallyPlan {
	int key_columns; /* 0: the types of the key are not checked */
	Oid key_types[kMaxKeyColumns];
	int pairs;
	TallyPair pair[kMaxLayoutPairs];
};

struct LargestKey {
	uint64 rows;
	char *key;
};

/* Counts of one pair, whole without the plan. */
struct PairTally {
	Flows flows;
	int32 *same; /* before node -> after node of that name or -1; nullptr: no after layout */
};

struct Tally {
	MemoryContext context;
	const TallyPlan *plan; /* nullptr in a state that was only merged */
	int pairs;
	PairTally *pair;
	uint64 null_keys;
	LargestKey *largest; /* a node of the first before layout each; nullptr: keys not counted */

	/* Where blocks are sampled: the block being read, and what was counted of it. */
	BlockSums blocks;
	Oid table;
	BlockNumber block;
	double block_rows;
	double block_moved;

	bool weighted;
	uint32 buffered;
	uint64 hashes[kTallyBatch];
	double weights[kTallyBatch];
};

/*
 * The form of a plan in SQL: texts, each with a zero byte behind it. The first may be '#' and the
 * OIDs of the key's types, with commas; then come layouts, of which the second of a pair may be
 * empty. Anything else is an error.
 */
TallyPlan *ReadTallyPlan(const varlena *bytes, MemoryContext context);

Tally *NewTally(MemoryContext context, const TallyPlan *plan);

/* Counts what is buffered. */
void FlushTally(Tally &tally);

inline void AddToTally(Tally &tally, uint64 hash, double weight)
{
	tally.hashes[tally.buffered] = hash;
	tally.weights[tally.buffered] = weight;
	if (++tally.buffered == kTallyBatch)
		FlushTally(tally);
}

/* A key with all its rows at once. key is copied where it is the largest of its node so far. */
void AddKeyToTally(Tally &tally, uint64 hash, uint64 rows, double weight, const char *key);

/* The next row comes from this block; a change of block closes the one before. */
void EnterBlock(Tally &tally, Oid table, BlockNumber block);
void CloseBlock(Tally &tally);

/* Room for so many more cells of a pair. */
void ReserveFlows(Tally &tally, Flows &flows, uint64 more);

/* from's counts on top of into's; an error if they count under other layouts. */
void MergeTally(Tally &into, Tally &from);

/* As bytes, for another process or server, and back; the reader trusts nothing. */
bytea *WriteTally(Tally &tally);
Tally *ReadTally(MemoryContext context, const varlena *bytes);

/* A state for as many pairs, without counts; the caller fills in the pairs. */
Tally *NewTallyOf(MemoryContext context, int pairs);
void InitPairTally(Tally &tally, PairTally &pair, uint32 before, uint32 after, bool compares);
void KeepLargest(Tally &tally, uint32 node, uint64 rows, const char *key);

} // namespace shardkit

#endif
