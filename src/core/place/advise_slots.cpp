#include "core/place/advise_slots.hpp"

#include <algorithm>

namespace shardkit
{

SlotAdvice JudgeSlots(std::int32_t slots, std::span<const std::int32_t> node_counts) noexcept
{
	SlotAdvice advice = {1.0, slots, 0};
	for (const std::int64_t nodes : node_counts) {
		const std::int64_t fullest = (slots + nodes - 1) / nodes;
		const double over_mean = static_cast<double>(fullest * nodes) / slots;
		advice.worst_over_mean = std::max(advice.worst_over_mean, over_mean);
		advice.even_for += slots % nodes == 0 ? 1 : 0;
	}
	return advice;
}

void RankAdvice(std::span<SlotAdvice> advice) noexcept
{
	std::sort(advice.begin(), advice.end(), [](const SlotAdvice &one, const SlotAdvice &other) {
		if (one.even_for != other.even_for)
			return one.even_for > other.even_for;
		if (one.worst_over_mean != other.worst_over_mean)
			return one.worst_over_mean < other.worst_over_mean;
		return one.slots < other.slots;
	});
}

} // namespace shardkit
