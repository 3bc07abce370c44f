#include "core/heavy.hpp"

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

/* Copies the cells in use together; answers how many. */
std::uint32_t Gather(const HeavyKeyTable &table, std::array<HeavyKey, kHeavyKeys> &keys) noexcept
{
	std::uint32_t found = 0;
	for (const HeavyKey &cell : table.cells)
		if (cell.count != 0)
			keys[found++] = cell;
	return found;
}

bool IsHeavier(const HeavyKey &one, const HeavyKey &other) noexcept
{
	return one.count != other.count ? one.count > other.count : one.key < other.key;
}

/* Lowers all counters by their median, which frees at least half of them. */
void Prune(HeavyKeyTable &table) noexcept
{
	std::array<HeavyKey, kHeavyKeys> keys{};
	const std::uint32_t found = Gather(table, keys);
	const auto median = keys.begin() + found / 2;
	std::nth_element(keys.begin(), median, keys.begin() + found, IsHeavier);
	const std::uint64_t lower = median->count;

	table.cells.fill({});
	table.used = 0;
	table.lowered += lower;
	for (auto key = keys.begin(); key != median; ++key)
		if (key->count > lower) {
			CellOf(table, key->key) = {.key = key->key, .count = key->count - lower};
			++table.used;
		}
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
	HeavyKey &cell = CellOf(table, key);
	if (cell.count == 0 && count > 0) {
		cell.key = key;
		++table.used;
	}
	cell.count += count;
	if (table.used == kHeavyKeys)
		Prune(table);
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
	std::array<HeavyKey, kHeavyKeys> keys{};
	const std::uint32_t found = Gather(table, keys);
	std::sort(keys.begin(), keys.begin() + found, IsHeavier);
	const auto wanted = static_cast<std::uint32_t>(std::min<std::size_t>(found, best.size()));
	std::copy_n(keys.begin(), wanted, best.begin());
	return wanted;
}

} // namespace shardkit
