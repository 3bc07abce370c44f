/* The best of several plans by load. */
#ifndef SHARDKIT_CORE_PLAN_BEST_HPP
#define SHARDKIT_CORE_PLAN_BEST_HPP

#include "core/map/plan_block.hpp"
#include "core/map/plan_state.hpp"

namespace shardkit
{

/*
 * How eager a plan is to set a node right with one slot: the worth in percent (of at most 200) that
 * such a slot must have to come before others, 0 for never. No one answer suits few and many slots.
 */
constexpr std::int32_t kEagerness[] = {0, 170, 100};

/* Bytes that BestLoadPlan needs, aligned to 8. */
inline std::size_t BestPlanScratch(std::size_t slots, std::size_t nodes) noexcept
{
	return PlanScratch(slots, nodes) + slots * (sizeof(PlanSlot) + sizeof(std::int32_t)) + 32;
}

struct PlanCost {
	std::int64_t violation;
	std::int64_t volume;
};

inline bool operator<(const PlanCost &one, const PlanCost &other) noexcept
{
	return one.violation != other.violation ? one.violation < other.violation
											: one.volume < other.volume;
}

/* What a plan leaves undone, and what it moves away from where slots lay at first. */
inline PlanCost CostOf(const LoadPlan &plan, std::span<const PlanSlot> slots) noexcept
{
	PlanCost cost{};
	for (std::size_t node = 0; node < plan.nodes.size(); ++node)
		cost.violation += Violation(plan.ranges[node], plan.loads[node]);
	for (std::size_t slot = 0; slot < slots.size(); ++slot)
		cost.volume += plan.owner[slot] == slots[slot].node ? 0 : slots[slot].load;
	return cost;
}

/*
 * Fills owner with every slot's node after the plan. Where no plan meets every range it begins
 * again from the best so far, until that leads no further: planning again from the answer moves
 * nothing. pause is called between bounded steps.
 */
template <typename Pause>
void BestLoadPlan(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<const PlanRange> ranges, std::span<const std::int32_t> hosts,
	std::span<std::byte> scratch, std::span<std::int32_t> owner, Pause pause) noexcept
{
	PlanBlock block{scratch};
	const auto base = block.Take<PlanSlot>(slots.size());
	const auto best_owner = block.Take<std::int32_t>(slots.size());
	std::ranges::copy(slots, base.begin());
	const std::int64_t bound = PlanLowerBound(nodes, slots, ranges, block.left);
	std::int64_t reached = -1;
	for (;;) {
		PlanCost best{};
		for (const std::int32_t eagerness : kEagerness) {
			LoadPlan plan = StartLoadPlan(nodes, base, ranges, hosts, block.left, eagerness);
			while (StepLoadPlan(plan))
				pause();
			const PlanCost cost = CostOf(plan, slots);
			if (eagerness == kEagerness[0] || cost < best) {
				best = cost;
				std::ranges::copy(plan.owner, best_owner.begin());
			}
			/* Within 1 % of what no plan can beat: the others are not worth their time. */
			if (best.violation == 0 && best.volume - bound <= bound / 100)
				break;
		}
		if (reached >= 0 && best.violation >= reached)
			return;
		std::ranges::copy(best_owner, owner.begin());
		reached = best.violation;
		if (reached == 0)
			return;
		for (std::size_t slot = 0; slot < slots.size(); ++slot)
			base[slot].node = owner[slot];
	}
}

} // namespace shardkit

#endif
