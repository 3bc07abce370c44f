/*
 * The share of rows that move, estimated from a sample of blocks: the ratio estimator of cluster
 * sampling (Cochran, Sampling Techniques, 1977, 6.4). Rows of one tenant lie together, so the
 * block is the unit: an interval that takes rows for independent can cover 25 % instead of 95 %.
 */
#ifndef SHARDKIT_CORE_SAMPLE_HPP
#define SHARDKIT_CORE_SAMPLE_HPP

namespace shardkit
{

/* Six sums over the sampled blocks, all that the interval needs; they simply add up. */
struct BlockSums {
	double blocks;
	double rows;
	double moved;
	double rows_squared;
	double rows_moved;
	double moved_squared;
};

void AddBlock(BlockSums &sums, double rows, double moved) noexcept;

void MergeBlocks(BlockSums &into, const BlockSums &from) noexcept;

struct ShareRange {
	double low;
	double high;
};

/* 95 % interval of the share moved; all_blocks: how many there are to sample from. */
ShareRange ShareInterval(const BlockSums &sums, double all_blocks) noexcept;

} // namespace shardkit

#endif
