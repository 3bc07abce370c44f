/* Counts hashes under pairs of layouts, a batch at a time. */
#ifndef SHARDKIT_CORE_TALLY_HPP
#define SHARDKIT_CORE_TALLY_HPP

#include <cstdint>
#include <span>

#include "core/place/compiled_layout.hpp"
#include "core/predict/flows.hpp"

namespace shardkit
{

/*
 * Hashes are gathered into batches: each layout then places a whole batch in a loop of its own,
 * in which the processor works on several hashes at once.
 */
inline constexpr std::uint32_t kTallyBatch = 256;

/* What a layout is compared with; after may be nullptr: rows are counted under before alone. */
struct TallyPair {
	const CompiledLayout *before;
	const CompiledLayout *after;
};

/*
 * Which nodes stay, by name: fills same, one a node of before, with the node of after, or -1.
 * scratch has room for the nodes of both.
 */
void MatchNodes(
	const TallyPair &pair, std::span<std::int32_t> same, std::span<std::int32_t> scratch) noexcept;

/* Places up to kTallyBatch hashes. */
void PlaceBatch(const CompiledLayout &layout, std::span<const std::uint64_t> hashes,
	std::uint32_t *nodes) noexcept;

/*
 * Adds a batch to flows, which must have room for it. weights may be nullptr. same, if it is not
 * nullptr, is MatchNodes' answer, and the number of hashes whose node's name changes is returned.
 */
std::uint64_t CountBatch(const TallyPair &pair, Flows &flows, std::span<const std::uint64_t> hashes,
	const double *weights, const std::int32_t *same) noexcept;

} // namespace shardkit

#endif
