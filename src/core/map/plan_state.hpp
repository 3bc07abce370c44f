/* What the steps of a plan by load share: who holds what, and what a change would gain. */
#ifndef SHARDKIT_CORE_PLAN_STATE_HPP
#define SHARDKIT_CORE_PLAN_STATE_HPP

#include "core/map/plan.hpp"

#include <algorithm>

namespace shardkit
{

constexpr std::int32_t kNone = -1;

inline std::size_t Index(std::int32_t number) noexcept
{
	return static_cast<std::size_t>(number);
}

/* How far a node that holds load is out of its range. */
inline std::int64_t Violation(const PlanRange &range, std::int64_t load) noexcept
{
	return std::max({std::int64_t{0}, load - range.highest, range.lowest - load});
}

/* By how much the violation falls when from gives to this much. */
inline std::int64_t Gain(
	const LoadPlan &plan, std::int32_t from, std::int32_t to, std::int64_t load) noexcept
{
	const auto giver = Index(from);
	const auto taker = Index(to);
	return Violation(plan.ranges[giver], plan.loads[giver]) +
		   Violation(plan.ranges[taker], plan.loads[taker]) -
		   Violation(plan.ranges[giver], plan.loads[giver] - load) -
		   Violation(plan.ranges[taker], plan.loads[taker] + load);
}

inline std::int64_t LoadAt(const LoadPlan &plan, std::int32_t place) noexcept
{
	return plan.slots[Index(plan.ordered[Index(place)])].load;
}

/* The first place in a node's part of ordered whose slot weighs at most this. */
inline std::int32_t FirstUpTo(const LoadPlan &plan, std::int32_t node, std::int64_t load) noexcept
{
	const auto begin = plan.ordered.begin() + plan.first[Index(node)];
	const auto end = plan.ordered.begin() + plan.first[Index(node) + 1];
	const auto found = std::partition_point(
		begin, end, [&](std::int32_t slot) { return plan.slots[Index(slot)].load > load; });
	return static_cast<std::int32_t>(found - plan.ordered.begin());
}

/* Gives a slot to another node. */
inline void Reassign(LoadPlan &plan, std::int32_t slot, std::int32_t to) noexcept
{
	const auto from = Index(plan.owner[Index(slot)]);
	const std::int64_t load = plan.slots[Index(slot)].load;
	plan.loads[from] -= load;
	plan.loads[Index(to)] += load;
	--plan.counts[from];
	++plan.counts[Index(to)];
	plan.owner[Index(slot)] = to;
}

/* Sorts the movable slots by home, which is the owner now or the one at the beginning. */
void OrderByHome(LoadPlan &plan, std::span<const std::int32_t> owner) noexcept;

/* The next place from here on whose slot is still at home. */
std::int32_t FindLater(LoadPlan &plan, std::int32_t place) noexcept;

/* Place of the heaviest slot at home on node that weighs at most load, or kNone. */
std::int32_t LargestUpTo(LoadPlan &plan, std::int32_t node, std::int64_t load) noexcept;

/* Place of the lightest slot at home on node that weighs at least load, or kNone. */
std::int32_t SmallestFrom(LoadPlan &plan, std::int32_t node, std::int64_t load) noexcept;

/* The slot at this place leaves its home. */
void Leave(LoadPlan &plan, std::int32_t place, std::int32_t to) noexcept;

/* One slot: those that need a node for themselves go there first. */
void StepHost(LoadPlan &plan) noexcept;

/* One slot: draining nodes are emptied, each slot to where most room is left. */
void StepDrain(LoadPlan &plan) noexcept;

/* Looks at one pair of nodes, of which the first is out of its range, for a swap. */
void StepSwap(LoadPlan &plan) noexcept;

/* One step of shrinking a plan that has met every range; false when nothing is left to try. */
bool StepImprove(LoadPlan &plan) noexcept;

} // namespace shardkit

#endif
