#include "core/predict/sample.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"

using namespace shardkit;

namespace
{

struct Block {
	double rows;
	double moved;
};

/* How many of 1,000 samples of 2 % of the blocks have an interval that holds the true share. */
int Coverage(const std::vector<Block> &blocks, bool &wide)
{
	double rows = 0;
	double moved = 0;
	for (const Block &block : blocks) {
		rows += block.rows;
		moved += block.moved;
	}
	std::mt19937_64 random(7);
	int held = 0;
	for (int sample = 0; sample < 1000; ++sample) {
		BlockSums sums = {};
		for (const Block &block : blocks)
			if (random() % 50 == 0)
				AddBlock(sums, block.rows, block.moved);
		const ShareRange interval = ShareInterval(sums, static_cast<double>(blocks.size()));
		held += interval.low <= moved / rows && moved / rows <= interval.high ? 1 : 0;
		wide = wide || interval.high - interval.low > 0.2;
	}
	return held;
}

/* Whole blocks move or stay, as where a tenant's rows lie together. */
std::vector<Block> Clustered()
{
	std::vector<Block> blocks(20'000);
	std::mt19937_64 random(1);
	for (Block &block : blocks) {
		block.rows = 50 + static_cast<double>(random() % 20);
		block.moved = random() % 9 < 8 ? block.rows : 0;
	}
	return blocks;
}

std::vector<Block> Shuffled()
{
	std::vector<Block> blocks(20'000);
	std::mt19937_64 random(2);
	for (Block &block : blocks) {
		block.rows = 60;
		block.moved = std::binomial_distribution<int>(60, 0.3)(random);
	}
	return blocks;
}

} // namespace

int main()
{
	bool wide = false;
	check::Ok(Coverage(Clustered(), wide) >= 930, "95 % interval holds where rows lie together");
	check::Ok(Coverage(Shuffled(), wide) >= 930, "and where they are shuffled");
	check::Ok(!wide, "and is of use");

	BlockSums sums = {};
	AddBlock(sums, 60, 30);
	check::Ok(ShareInterval(sums, 100).high == 1, "one block says nothing");
	AddBlock(sums, 60, 30);
	check::Ok(std::abs(ShareInterval(sums, 2).low - 0.5) < 1e-12, "all blocks read: no error left");

	BlockSums one = {};
	BlockSums other = {};
	AddBlock(one, 60, 30);
	AddBlock(other, 60, 30);
	MergeBlocks(one, other);
	check::Ok(one.blocks == sums.blocks && one.moved_squared == sums.moved_squared, "sums merge");

	BlockSums none = {};
	for (int i = 0; i < 10; ++i)
		AddBlock(none, 60, 0);
	check::Ok(ShareInterval(none, 1000).high > 0.2, "nothing seen to move is not nothing moved");
	return check::Done();
}
