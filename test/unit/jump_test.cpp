#include "core/place/jump.hpp"

#include <limits>

#include "check.hpp"

using shardkit::Jump;

namespace
{

struct Vector {
	std::int64_t key;
	std::int32_t shards;
	std::int32_t shard;
};

/* Made with the paper's own code; the last ones tell jump from look-alikes. */
constexpr Vector kVectors[] = {{0, 100, 0}, {1, 100, 55}, {2, 100, 62}, {3, 100, 8}, {4, 100, 45},
	{5, 100, 59}, {6, 100, 86}, {7, 100, 97}, {8, 100, 82}, {9, 100, 59}, {10, 100, 73},
	{11, 100, 37}, {12, 100, 17}, {13, 100, 56}, {14, 100, 86}, {15, 100, 21}, {16, 100, 90},
	{17, 100, 37}, {18, 100, 38}, {19, 100, 83}, {10863919174838991, 11, 6},
	{2016238256797177309, 11, 3}, {2, 100001, 80343}, {2201, 100001, 22152}, {3735928559, 9, 5},
	{-1, 9, 7}, {std::numeric_limits<std::int64_t>::min(), 1000, 453}, {1, 1, 0}};

bool VectorsHold()
{
	for (const auto &vector : kVectors)
		if (Jump(static_cast<std::uint64_t>(vector.key), vector.shards) != vector.shard)
			return false;
	return true;
}

/* From n to n + 1 shards a key stays or goes to the new shard. */
bool GrowthIsMonotone()
{
	for (std::uint64_t i = 0; i < 100'000; ++i) {
		const std::uint64_t hash = i * 0x9e3779b97f4a7c15U;
		const auto shards = static_cast<std::int32_t>(1 + i % 100);
		const auto before = Jump(hash, shards);
		const auto after = Jump(hash, shards + 1);
		if (after != before && after != shards)
			return false;
	}
	return true;
}

bool LargestCountStaysInRange()
{
	constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
	for (std::uint64_t i = 0; i < 100'000; ++i) {
		const auto shard = Jump(i * 0x9e3779b97f4a7c15U, kMost);
		if (shard < 0 || shard >= kMost)
			return false;
	}
	return true;
}

} // namespace

int main()
{
	check::Ok(VectorsHold(), "published and reference vectors");
	/* Guava's consistentHash puts this key into shard 0. */
	check::Ok(Jump(17068571456203592619U, 2) == 1, "a key on which Guava differs");
	check::Ok(GrowthIsMonotone(), "growth only moves keys to the new shard");
	check::Ok(LargestCountStaysInRange(), "2^31 - 1 shards");
	return check::Done();
}
