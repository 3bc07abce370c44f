/* The moves that a plan by load has no choice about. */
#include "core/map/plan_state.hpp"

namespace shardkit
{

void StepHost(LoadPlan &plan) noexcept
{
	if (Index(plan.at) >= plan.slots.size()) {
		plan.phase = LoadPlan::Phase::Drain;
		plan.at = 0;
		return;
	}
	const std::int32_t slot = plan.at++;
	const std::int32_t host = plan.hosts[Index(slot)];
	if (host >= 0 && host != plan.owner[Index(slot)])
		Reassign(plan, slot, host);
}

void StepDrain(LoadPlan &plan) noexcept
{
	if (Index(plan.at) >= plan.ordered.size()) {
		plan.phase = LoadPlan::Phase::Move;
		return;
	}
	const std::int32_t place = plan.at++;
	const std::int32_t slot = plan.ordered[Index(place)];
	if (!plan.nodes[Index(plan.owner[Index(slot)])].draining)
		return;
	const auto is_roomier = [&](std::size_t one, std::size_t other) {
		const std::int64_t room = plan.ranges[one].highest - plan.loads[one];
		const std::int64_t other_room = plan.ranges[other].highest - plan.loads[other];
		if (room != other_room)
			return room > other_room;
		return (plan.counts[one] + 1) / plan.nodes[one].weight <
			   (plan.counts[other] + 1) / plan.nodes[other].weight;
	};
	std::size_t best = plan.nodes.size();
	for (std::size_t node = 0; node < plan.nodes.size(); ++node)
		if (!plan.nodes[node].draining && (best == plan.nodes.size() || is_roomier(node, best)))
			best = node;
	Leave(plan, place, static_cast<std::int32_t>(best));
}

} // namespace shardkit
