#include "core/predict/heavy.hpp"

#include <algorithm>
#include <cassert>

namespace shardkit
{

namespace
{

/* The keys are hashes whose low bits placement uses: remix before taking some of them. */
std::uint32_t HomeOf(std::uint64_t key) noexcept
{
	key ^= key >> 32;
	return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15U >> 40) & (kHeavyCells - 1);
}

HeavyKey &CellOf(HeavyKeyTable &table, std::uint64_t key) noexcept
{
	std::uint32_t place = HomeOf(key);
	while (table.cells[place].count != 0 && table.cells[place].key != key)
		place = (place + 1) & (kHeavyCells - 1);
	return table.cells[place];
}

/* Room for all keys, and for one that is written but not kept. */
using Gathered = std::array<HeavyKey, kHeavyKeys + 1>;

/* Copies the cells in use together, without a branch to mispredict; answers how many. */
std::uint32_t Gather(const HeavyKeyTable &table, Gathered &keys) noexcept
{
	std::uint32_t found = 0;
	for (const HeavyKey &cell : table.cells) {
		keys[found] = cell;
		found += cell.count != 0 ? 1 : 0;
	}
	return found;
}

bool IsHeavier(const HeavyKey &one, const HeavyKey &other) noexcept
{
	return one.count != other.count ? one.count > other.count : one.key < other.key;
}

/* The median of the counts; nearly always a small number, found by counting. */
std::uint64_t MedianCount(Gathered &keys, std::uint32_t found) noexcept
{
	std::array<std::uint32_t, 64> counts{};
	for (std::uint32_t i = 0; i < found; ++i)
		++counts[std::min<std::uint64_t>(keys[i].count, counts.size() - 1)];
	std::uint32_t below = 0;
	for (std::uint32_t count = 0; count < counts.size() - 1; ++count) {
		below += counts[count];
		if (below > found / 2)
			return count;
	}
	const auto median = keys.begin() + found / 2;
	std::nth_element(keys.begin(), median, keys.begin() + found, IsHeavier);
	return median->count;
}

/* Lowers all counters by their median, which frees at least half of them. */
void Prune(HeavyKeyTable &table) noexcept
{
	Gathered keys;
	const std::uint32_t found = Gather(table, keys);
	const std::uint64_t lower = MedianCount(keys, found);
	table.cells.fill({});
	table.used = 0;
	table.lowered += lower;
	for (std::uint32_t i = 0; i < found; ++i)
		if (keys[i].count > lower) {
			CellOf(table, keys[i].key) = {.key = keys[i].key, .count = keys[i].count - lower};
			++table.used;
		}
}

void Add(HeavyKeyTable &table, std::uint64_t key, std::uint64_t count) noexcept
{
	HeavyKey &cell = CellOf(table, key);
	table.used += cell.count == 0 ? 1 : 0;
	cell.key = key;
	cell.count += count;
	if (table.used == kHeavyKeys)
		Prune(table);
}

} // namespace

void ClearHeavy(HeavyKeyTable &table) noexcept
{
	table.used = 0;
	table.lowered = 0;
	table.cells.fill({});
}

void AddHeavy(HeavyKeyTable &table, std::uint64_t key, std::uint64_t count) noexcept
{
	if (count > 0)
		Add(table, key, count);
}

void AddHeavyBatch(HeavyKeyTable &table, std::span<const std::uint64_t> keys) noexcept
{
	for (const std::uint64_t key : keys)
		Add(table, key, 1);
}

void MergeHeavy(HeavyKeyTable &into, const HeavyKeyTable &from) noexcept
{
	into.lowered += from.lowered;
	for (const HeavyKey &cell : from.cells)
		if (cell.count != 0)
			AddHeavy(into, cell.key, cell.count);
}

std::uint32_t HeaviestKeys(const HeavyKeyTable &table, std::span<HeavyKey> best) noexcept
{
	Gathered keys;
	const std::uint32_t found = Gather(table, keys);
	std::sort(keys.begin(), keys.begin() + found, IsHeavier);
	const auto wanted = static_cast<std::uint32_t>(std::min<std::size_t>(found, best.size()));
	std::copy_n(keys.begin(), wanted, best.begin());
	return wanted;
}

} // namespace shardkit
