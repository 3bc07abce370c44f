#include "core/predict/sample.hpp"

#include <algorithm>
#include <cmath>

namespace shardkit
{

namespace
{

/* Student's 97.5 % quantile, by the first terms of its expansion about the normal one. */
double Quantile(double freedom) noexcept
{
	constexpr double kNormal = 1.959964;
	return kNormal + 2.372 / freedom + 2.823 / (freedom * freedom);
}

/* With k like blocks alone, a share of about this much of the others could differ unseen (95 %). */
double UnseenShare(double blocks) noexcept
{
	return std::min(1.0, 3.7 / blocks);
}

/*
 * Wilson's interval for as many independent rows as would have this standard error. The plain one,
 * share +- quantile * error, is too short towards 0 and 1: it held 89 % of the time instead of 95.
 */
ShareRange ScoreInterval(double share, double error, double quantile) noexcept
{
	const double per_row = error * error * quantile * quantile / (share * (1 - share));
	const double middle = (share + per_row / 2) / (1 + per_row);
	const double reach =
		std::sqrt(per_row * share * (1 - share) + per_row * per_row / 4) / (1 + per_row);
	return {.low = std::max(0.0, middle - reach), .high = std::min(1.0, middle + reach)};
}

} // namespace

void AddBlock(BlockSums &sums, double rows, double moved) noexcept
{
	sums.blocks += 1;
	sums.rows += rows;
	sums.moved += moved;
	sums.rows_squared += rows * rows;
	sums.rows_moved += rows * moved;
	sums.moved_squared += moved * moved;
}

void MergeBlocks(BlockSums &into, const BlockSums &from) noexcept
{
	into.blocks += from.blocks;
	into.rows += from.rows;
	into.moved += from.moved;
	into.rows_squared += from.rows_squared;
	into.rows_moved += from.rows_moved;
	into.moved_squared += from.moved_squared;
}

ShareRange ShareInterval(const BlockSums &sums, double all_blocks) noexcept
{
	if (sums.blocks < 2 || sums.rows <= 0)
		return {.low = 0, .high = 1};
	const double blocks = sums.blocks;
	const double unsampled = std::max(0.0, 1 - blocks / std::max(all_blocks, blocks));
	const double share = sums.moved / sums.rows;
	const double squares = std::max(
		0.0, sums.moved_squared - 2 * share * sums.rows_moved + share * share * sums.rows_squared);
	const double variance = squares / (blocks - 1);
	const double error = std::sqrt(unsampled * blocks * variance) / sums.rows;
	/* All or nothing moved in the sample: no variance seen does not mean none there. */
	if (sums.moved <= 0 || sums.moved >= sums.rows) {
		const double reach = unsampled * UnseenShare(blocks);
		return {.low = std::max(0.0, share - reach), .high = std::min(1.0, share + reach)};
	}
	return ScoreInterval(share, error, Quantile(blocks - 1));
}

} // namespace shardkit
