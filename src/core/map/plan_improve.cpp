/* The last part of planning by load: a plan that has met every range is made smaller. */
#include "core/map/plan_state.hpp"

namespace shardkit
{

namespace
{

constexpr std::int32_t kMostPasses = 8;

/* Does the move turn out not to be needed? */
bool Undo(LoadPlan &plan, std::int32_t slot, std::size_t home, std::size_t away)
{
	const std::int64_t load = plan.slots[Index(slot)].load;
	if (plan.loads[home] + load > plan.ranges[home].highest ||
		plan.loads[away] - load < plan.ranges[away].lowest)
		return false;
	Reassign(plan, slot, static_cast<std::int32_t>(home));
	return true;
}

/* Would a lighter slot of the same home do in its place? */
bool Substitute(LoadPlan &plan, std::int32_t place, std::size_t home, std::size_t away)
{
	const std::int32_t slot = plan.ordered[Index(place)];
	const std::int64_t load = plan.slots[Index(slot)].load;
	const std::int64_t needed = load - std::min(plan.ranges[home].highest - plan.loads[home],
										   plan.loads[away] - plan.ranges[away].lowest);
	const auto node = static_cast<std::int32_t>(home);
	for (std::int32_t other = FirstUpTo(plan, node, needed - 1) - 1; other > place; --other) {
		const std::int32_t lighter = plan.ordered[Index(other)];
		if (plan.owner[Index(lighter)] != node)
			continue;
		if (plan.slots[Index(lighter)].load >= load)
			return false;
		Reassign(plan, slot, node);
		Reassign(plan, lighter, static_cast<std::int32_t>(away));
		return true;
	}
	return false;
}

} // namespace

bool StepImprove(LoadPlan &plan) noexcept
{
	if (Index(plan.at) >= plan.ordered.size()) {
		if (!plan.changed || ++plan.rounds == kMostPasses)
			return false;
		plan.at = 0;
		plan.changed = false;
		return true;
	}
	const std::int32_t place = plan.at++;
	const std::int32_t slot = plan.ordered[Index(place)];
	const auto home = Index(plan.slots[Index(slot)].node);
	const auto away = Index(plan.owner[Index(slot)]);
	if (home == away || plan.nodes[home].draining)
		return true;
	if (Undo(plan, slot, home, away) || Substitute(plan, place, home, away))
		plan.changed = true;
	return true;
}

} // namespace shardkit
