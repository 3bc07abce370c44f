#include "core/map/plan.hpp"
#include "core/map/plan_block.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace shardkit
{

namespace
{

struct Share {
	double rest; /* part of a slot that rounding down takes away */
	std::int32_t node;
	bool has_more; /* holds more than the rounded-down share already */
};

/* Products of weights that are whole in exact arithmetic must not lose a slot to rounding. */
double Quota(double total, double weight, double weights)
{
	const double quota = total * weight / weights;
	const double whole = std::round(quota);
	return std::fabs(quota - whole) < 1e-9 * std::max(1.0, whole) ? whole : quota;
}

/* Who rounds up: the largest fraction, then who has the slot already. */
bool RoundsUpBefore(const Share &one, const Share &other)
{
	if (one.rest != other.rest)
		return one.rest > other.rest;
	return one.has_more != other.has_more ? one.has_more : one.node < other.node;
}

/* Every node's slots minus its target, from its slots. */
void SubtractTargets(
	std::span<const PlanNode> nodes, std::span<std::int32_t> excess, std::span<Share> shares)
{
	double weights = 0;
	std::int64_t left = 0;
	for (std::size_t node = 0; node < nodes.size(); ++node) {
		weights += nodes[node].draining ? 0 : nodes[node].weight;
		left += excess[node];
	}
	const auto total = static_cast<double>(left);
	std::size_t active = 0;
	for (std::size_t node = 0; node < nodes.size(); ++node) {
		if (nodes[node].draining)
			continue;
		const double quota = Quota(total, nodes[node].weight, weights);
		const double whole = std::floor(quota);
		excess[node] -= static_cast<std::int32_t>(whole);
		left -= static_cast<std::int64_t>(whole);
		shares[active++] = {quota - whole, static_cast<std::int32_t>(node), excess[node] > 0};
	}
	std::sort(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(active), RoundsUpBefore);
	for (std::size_t next = 0; left > 0; ++next, --left)
		--excess[static_cast<std::size_t>(shares[next % active].node)];
}

} // namespace

std::size_t PlanBySlots(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<std::byte> scratch, std::span<PlanMove> moves) noexcept
{
	assert(moves.size() >= slots.size());
	PlanBlock block{scratch};
	const auto excess = block.Take<std::int32_t>(nodes.size());
	const auto heads = block.Take<std::int32_t>(nodes.size());
	const auto below = block.Take<std::int32_t>(slots.size());
	const auto heap_space = block.Take<std::int32_t>(nodes.size());
	const auto needy_space = block.Take<std::int32_t>(nodes.size());

	/* A node's movable slots form a list, the highest number first. */
	std::fill(heads.begin(), heads.end(), -1);
	for (std::size_t slot = 0; slot < slots.size(); ++slot) {
		if (slots[slot].node < 0)
			continue;
		const auto node = static_cast<std::size_t>(slots[slot].node);
		++excess[node];
		if (!slots[slot].fixed) {
			below[slot] = heads[node];
			heads[node] = static_cast<std::int32_t>(slot);
		}
	}
	SubtractTargets(nodes, excess, block.Take<Share>(nodes.size()));

	std::int32_t *givers_end = heap_space.data();
	std::int32_t *takers_end = needy_space.data();
	for (std::size_t node = 0; node < nodes.size(); ++node) {
		if (excess[node] > 0 && heads[node] >= 0)
			*givers_end++ = static_cast<std::int32_t>(node);
		else if (excess[node] < 0)
			*takers_end++ = static_cast<std::int32_t>(node);
	}
	const auto amount = [&](std::int32_t node) {
		return excess[static_cast<std::size_t>(node)];
	};
	const auto gives_less = [&](std::int32_t one, std::int32_t other) {
		return amount(one) != amount(other) ? amount(one) < amount(other) : one > other;
	};
	const auto takes_less = [&](std::int32_t one, std::int32_t other) {
		return amount(one) != amount(other) ? amount(one) > amount(other) : one > other;
	};
	std::int32_t *const givers = heap_space.data();
	std::int32_t *const takers = needy_space.data();
	std::make_heap(givers, givers_end, gives_less);
	std::make_heap(takers, takers_end, takes_less);

	/* Each move goes from the node that has most too many to the one that has most too few. */
	std::size_t count = 0;
	while (givers != givers_end && takers != takers_end) {
		std::pop_heap(givers, givers_end, gives_less);
		std::pop_heap(takers, takers_end, takes_less);
		const std::int32_t from = givers_end[-1];
		const std::int32_t to = takers_end[-1];
		const auto slot = static_cast<std::size_t>(heads[static_cast<std::size_t>(from)]);
		moves[count++] = {static_cast<std::int32_t>(slot), from, to};
		heads[static_cast<std::size_t>(from)] = below[slot];
		if (--excess[static_cast<std::size_t>(from)] > 0 && below[slot] >= 0)
			std::push_heap(givers, givers_end, gives_less);
		else
			--givers_end;
		if (++excess[static_cast<std::size_t>(to)] < 0)
			std::push_heap(takers, takers_end, takes_less);
		else
			--takers_end;
	}
	return count;
}

} // namespace shardkit
