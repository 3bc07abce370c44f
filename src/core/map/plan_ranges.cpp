#include "core/map/plan.hpp"
#include "core/map/plan_block.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace shardkit
{

namespace
{

constexpr std::int64_t kUnset = -1;

/* Whole numbers around the target, so that a tolerance of zero can be met. */
PlanRange RangeAround(double target, double tolerance)
{
	const double lowest = std::min(std::ceil(target * (1 - tolerance)), std::floor(target));
	const double highest = std::max(std::floor(target * (1 + tolerance)), std::ceil(target));
	return {static_cast<std::int64_t>(std::max(0.0, lowest)), static_cast<std::int64_t>(highest)};
}

bool IsFree(const PlanNode &node, const PlanRange &range)
{
	return !node.draining && range.highest == kUnset;
}

/* What is left to share: the load, and the nodes that share it. */
struct Remainder {
	double load;
	double weights;
	double greatest_weight;
	std::int32_t heaviest; /* node of the greatest weight */
	std::int32_t nodes;
};

void CountFree(
	std::span<const PlanNode> nodes, std::span<const PlanRange> ranges, Remainder &remainder)
{
	remainder.weights = remainder.greatest_weight = 0;
	remainder.heaviest = -1;
	remainder.nodes = 0;
	for (std::size_t node = 0; node < nodes.size(); ++node) {
		if (!IsFree(nodes[node], ranges[node]))
			continue;
		++remainder.nodes;
		remainder.weights += nodes[node].weight;
		if (nodes[node].weight > remainder.greatest_weight) {
			remainder.greatest_weight = nodes[node].weight;
			remainder.heaviest = static_cast<std::int32_t>(node);
		}
	}
}

} // namespace

std::size_t PlanScratch(std::size_t slots, std::size_t nodes) noexcept
{
	return 40 * (slots + nodes + 16);
}

void PlanRanges(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots, double tolerance,
	std::span<std::byte> scratch, std::span<PlanRange> ranges,
	std::span<std::int32_t> hosts) noexcept
{
	PlanBlock block{scratch};
	const auto order = block.Take<std::int32_t>(slots.size());
	Remainder remainder{};
	std::size_t owned = 0;
	for (std::size_t slot = 0; slot < slots.size(); ++slot) {
		if (slots[slot].node < 0)
			continue;
		remainder.load += static_cast<double>(slots[slot].load);
		order[owned++] = static_cast<std::int32_t>(slot);
	}
	const auto load = [&](std::int32_t slot) {
		return slots[static_cast<std::size_t>(slot)].load;
	};
	std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(owned),
		[&](std::int32_t one, std::int32_t other) {
			return load(one) != load(other) ? load(one) > load(other) : one < other;
		});
	std::fill(ranges.begin(), ranges.end(), PlanRange{kUnset, kUnset});

	/* The largest slots first: each that no node's fair share can hold claims a node for itself. */
	std::ranges::fill(hosts, -1);
	CountFree(nodes, ranges, remainder);
	for (std::size_t next = 0; next < owned && remainder.nodes > 1; ++next) {
		const auto number = static_cast<std::size_t>(order[next]);
		const PlanSlot &slot = slots[number];
		const double fair = remainder.load * remainder.greatest_weight / remainder.weights;
		if (slot.load <= RangeAround(fair, tolerance).highest)
			break;
		remainder.load = std::max(0.0, remainder.load - static_cast<double>(slot.load));
		const auto owner = static_cast<std::size_t>(slot.node);
		const bool is_free = IsFree(nodes[owner], ranges[owner]);
		if (slot.fixed && !is_free)
			continue;
		const auto host = is_free ? owner : static_cast<std::size_t>(remainder.heaviest);
		hosts[number] = static_cast<std::int32_t>(host);
		ranges[host] = RangeAround(static_cast<double>(slot.load), tolerance);
		CountFree(nodes, ranges, remainder);
	}
	for (std::size_t node = 0; node < nodes.size(); ++node) {
		if (nodes[node].draining)
			ranges[node] = {0, 0};
		else if (ranges[node].highest == kUnset)
			ranges[node] =
				RangeAround(remainder.load * nodes[node].weight / remainder.weights, tolerance);
	}
}

std::int64_t PlanLowerBound(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<const PlanRange> ranges, std::span<std::byte> scratch) noexcept
{
	PlanBlock block{scratch};
	const auto loads = block.Take<std::int64_t>(nodes.size());
	const auto too_large = block.Take<std::int64_t>(nodes.size());
	const auto smallest = block.Take<std::int64_t>(nodes.size());
	for (const auto &slot : slots) {
		if (slot.node < 0)
			continue;
		const auto node = static_cast<std::size_t>(slot.node);
		loads[node] += slot.load;
		if (slot.load > ranges[node].highest)
			too_large[node] += slot.load;
		if (slot.load > 0 && (smallest[node] == 0 || slot.load < smallest[node]))
			smallest[node] = slot.load;
	}
	/* Whole slots leave: what is too much, and not less than the smallest, and what cannot stay. */
	std::int64_t leaves = 0;
	std::int64_t comes = 0;
	for (std::size_t node = 0; node < nodes.size(); ++node) {
		const std::int64_t over = loads[node] - ranges[node].highest;
		if (over > 0)
			leaves += std::max({over, too_large[node], smallest[node]});
		comes += std::max<std::int64_t>(0, ranges[node].lowest - loads[node]);
	}
	return std::max(leaves, comes);
}

} // namespace shardkit
