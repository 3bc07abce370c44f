#include "core/map/plan_state.hpp"

#include <algorithm>
#include <numeric>

namespace shardkit
{

namespace
{

/* FindLater backward; places are counted from 1 there, 0 is before the first. */
std::int32_t FindSooner(LoadPlan &plan, std::int32_t place)
{
	while (plan.sooner[Index(place)] != place)
		place = plan.sooner[Index(place)] = plan.sooner[Index(plan.sooner[Index(place)])];
	return place;
}

} // namespace

/* Halves the path as it goes. */
std::int32_t FindLater(LoadPlan &plan, std::int32_t place) noexcept
{
	while (plan.later[Index(place)] != place)
		place = plan.later[Index(place)] = plan.later[Index(plan.later[Index(place)])];
	return place;
}

std::int32_t LargestUpTo(LoadPlan &plan, std::int32_t node, std::int64_t load) noexcept
{
	const std::int32_t place = FindLater(plan, FirstUpTo(plan, node, load));
	return place < plan.first[Index(node) + 1] ? place : kNone;
}

std::int32_t SmallestFrom(LoadPlan &plan, std::int32_t node, std::int64_t load) noexcept
{
	const std::int32_t place = FindSooner(plan, FirstUpTo(plan, node, load - 1)) - 1;
	return place >= plan.first[Index(node)] ? place : kNone;
}

void Leave(LoadPlan &plan, std::int32_t place, std::int32_t to) noexcept
{
	plan.later[Index(place)] = place + 1;
	plan.sooner[Index(place) + 1] = place;
	Reassign(plan, plan.ordered[Index(place)], to);
	plan.changed = true;
}

void OrderByHome(LoadPlan &plan, std::span<const std::int32_t> owner) noexcept
{
	std::ranges::fill(plan.first, 0);
	const auto is_movable = [&](std::size_t slot) {
		return owner[slot] >= 0 && !plan.slots[slot].fixed && plan.hosts[slot] < 0 &&
			   (plan.slots[slot].load > 0 || plan.nodes[Index(owner[slot])].draining);
	};
	for (std::size_t slot = 0; slot < plan.slots.size(); ++slot)
		if (is_movable(slot))
			++plan.first[Index(owner[slot])];
	std::exclusive_scan(plan.first.begin(), plan.first.end(), plan.first.begin(), 0);
	plan.ordered = {plan.ordered.data(), Index(plan.first.back())};
	for (std::size_t slot = 0; slot < plan.slots.size(); ++slot)
		if (is_movable(slot))
			plan.ordered[Index(plan.first[Index(owner[slot])]++)] = static_cast<std::int32_t>(slot);
	/* Filling moved every beginning to its end: shift them back. */
	std::shift_right(plan.first.begin(), plan.first.end(), 1);
	plan.first.front() = 0;
	for (std::size_t node = 0; node < plan.nodes.size(); ++node)
		std::sort(plan.ordered.begin() + plan.first[node],
			plan.ordered.begin() + plan.first[node + 1], [&](std::int32_t one, std::int32_t other) {
				const std::int64_t load = plan.slots[Index(one)].load;
				const std::int64_t other_load = plan.slots[Index(other)].load;
				return load != other_load ? load > other_load : one < other;
			});
	std::iota(plan.later.begin(), plan.later.end(), 0);
	std::iota(plan.sooner.begin(), plan.sooner.end(), 0);
}

} // namespace shardkit
