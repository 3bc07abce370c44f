/*
 * Heavy keys in one pass and fixed memory: the frequent-items algorithm of Misra and Gries (1982),
 * with the counters lowered many at a time.
 */
#ifndef SHARDKIT_CORE_HEAVY_HPP
#define SHARDKIT_CORE_HEAVY_HPP

#include <array>
#include <cstdint>
#include <span>

namespace shardkit
{

/* Cells of the table, a power of two; half of them may be in use, so that probes stay short. */
inline constexpr std::uint32_t kHeavyCells = 2'048;
inline constexpr std::uint32_t kHeavyKeys = kHeavyCells / 2;

struct HeavyKey {
	std::uint64_t key;
	std::uint64_t count; /* 0: the cell is free */
};

/*
 * A key's count here is too low by at most lowered, and lowered is at most 2 / kHeavyKeys of all
 * counts: a key above 0.2 % of them (0.1 % in practice) cannot be missing.
 */
struct HeavyKeyTable {
	std::uint32_t used;
	std::uint64_t lowered;
	std::array<HeavyKey, kHeavyCells> cells;
};

void ClearHeavy(HeavyKeyTable &table) noexcept;

void AddHeavy(HeavyKeyTable &table, std::uint64_t key, std::uint64_t count) noexcept;

/* The same for a batch of single rows. */
void AddHeavyBatch(HeavyKeyTable &table, std::span<const std::uint64_t> keys) noexcept;

void MergeHeavy(HeavyKeyTable &into, const HeavyKeyTable &from) noexcept;

/* Fills best with the keys of the highest counts, highest first; answers how many there are. */
std::uint32_t HeaviestKeys(const HeavyKeyTable &table, std::span<HeavyKey> best) noexcept;

} // namespace shardkit

#endif
