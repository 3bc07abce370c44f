#include "core/predict/heavy.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check.hpp"

using namespace shardkit;

namespace
{

constexpr std::uint64_t kRows = 1'000'000;

/* Keys 1, 2, .. with falling frequency above a sea of keys that occur once. */
std::uint64_t KeyOfRow(std::uint64_t row)
{
	const std::uint64_t slot = row % 1000;
	if (slot < 100)
		return 1;
	if (slot < 150)
		return 2;
	if (slot < 155)
		return 3;
	return 1'000 + row;
}

bool BoundsHold(const HeavyKeyTable &table)
{
	std::unordered_map<std::uint64_t, std::uint64_t> exact;
	for (std::uint64_t row = 0; row < kRows; ++row)
		++exact[KeyOfRow(row)];
	for (const HeavyKey &cell : table.cells) {
		if (cell.count == 0)
			continue;
		const std::uint64_t count = exact[cell.key];
		if (cell.count > count || cell.count + table.lowered < count)
			return false;
	}
	return table.lowered <= 2 * kRows / kHeavyKeys;
}

bool FindsHeaviest(const HeavyKeyTable &table)
{
	std::vector<HeavyKey> best(3);
	return HeaviestKeys(table, best) == 3 && best[0].key == 1 && best[1].key == 2 &&
		   best[2].key == 3;
}

/* Twice as many keys as counters, hundreds of times each: the counters fall by far more than one. */
bool CrowdIsBounded()
{
	const auto table = std::make_unique<HeavyKeyTable>();
	ClearHeavy(*table);
	std::uint64_t rows = 0;
	for (std::uint64_t key = 1; key <= 2 * kHeavyKeys; ++key) {
		const std::uint64_t count = 200 + key % 100;
		AddHeavy(*table, key, count);
		rows += count;
	}
	for (int i = 0; i < 3; ++i, rows += 10'000)
		AddHeavy(*table, 7'000'000 + static_cast<std::uint64_t>(i), 10'000);
	for (const HeavyKey &cell : table->cells) {
		if (cell.count == 0)
			continue;
		const std::uint64_t exact = cell.key >= 7'000'000 ? 10'000 : 200 + cell.key % 100;
		if (cell.count > exact || cell.count + table->lowered < exact)
			return false;
	}
	std::vector<HeavyKey> best(3);
	return table->lowered > 0 && table->lowered <= 2 * rows / kHeavyKeys &&
		   HeaviestKeys(*table, best) == 3 && best[2].key >= 7'000'000;
}

} // namespace

int main()
{
	const auto whole = std::make_unique<HeavyKeyTable>();
	const auto parts = std::make_unique<HeavyKeyTable>();
	const auto part = std::make_unique<HeavyKeyTable>();
	ClearHeavy(*whole);
	ClearHeavy(*parts);
	std::vector<HeavyKey> best(10);
	check::Ok(HeaviestKeys(*whole, best) == 0, "nothing counted, nothing heavy");

	for (std::uint64_t row = 0; row < kRows; ++row)
		AddHeavy(*whole, KeyOfRow(row), 1);
	check::Ok(BoundsHold(*whole), "counts are too low by at most the lowered sum");
	check::Ok(FindsHeaviest(*whole), "keys of 10, 5 and 0.5 % are found in order");

	for (std::uint64_t start = 0; start < kRows; start += kRows / 8) {
		ClearHeavy(*part);
		for (std::uint64_t row = start; row < start + kRows / 8; ++row)
			AddHeavy(*part, KeyOfRow(row), 1);
		MergeHeavy(*parts, *part);
	}
	check::Ok(FindsHeaviest(*parts), "so are they after a merge of eight parts");

	ClearHeavy(*part);
	for (std::uint64_t key = 0; key < 1000; ++key)
		AddHeavy(*part, key << 32, key + 1);
	check::Ok(part->lowered == 0 && HeaviestKeys(*part, best) == 10 && best[0].count == 1000,
		"fewer keys than counters: exact");
	check::Ok(
		CrowdIsBounded(), "more keys than counters, all frequent: bounded, the heaviest found");
	return check::Done();
}
