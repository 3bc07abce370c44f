/* How evenly a number of slots can be dealt over numbers of nodes. */
#ifndef SHARDKIT_CORE_ADVISE_SLOTS_HPP
#define SHARDKIT_CORE_ADVISE_SLOTS_HPP

#include <cstdint>
#include <span>

namespace shardkit
{

struct SlotAdvice {
	double worst_over_mean; /* the fullest node's slots over the mean, at the worst node count */
	std::int32_t slots;
	std::int32_t even_for; /* node counts that divide the slots */
};

/* Judges one number of slots > 0 over node counts, all > 0. */
SlotAdvice JudgeSlots(std::int32_t slots, std::span<const std::int32_t> node_counts) noexcept;

/* Sorts the best first: even for the most node counts, then the lowest worst case, then fewest slots. */
void RankAdvice(std::span<SlotAdvice> advice) noexcept;

} // namespace shardkit

#endif
