/* A case for the planner that owns its memory, and cases to plan for. */
#ifndef SHARDKIT_TEST_UNIT_PLAN_CASE_HPP
#define SHARDKIT_TEST_UNIT_PLAN_CASE_HPP

#include "core/map/plan_best.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace shardkit
{

struct Case {
	std::vector<PlanNode> nodes;
	std::vector<PlanSlot> slots;
	std::vector<PlanRange> ranges;

	std::vector<std::byte> Scratch() const
	{
		return std::vector<std::byte>(PlanScratch(slots.size(), nodes.size()));
	}

	std::vector<PlanMove> BySlots() const
	{
		auto scratch = Scratch();
		std::vector<PlanMove> moves(slots.size());
		moves.resize(PlanBySlots(nodes, slots, scratch, moves));
		return moves;
	}

	std::vector<PlanMove> ByLoad(double tolerance)
	{
		auto scratch = Scratch();
		std::vector<std::byte> memory(BestPlanScratch(slots.size(), nodes.size()));
		ranges.resize(nodes.size());
		std::vector<std::int32_t> hosts(slots.size());
		PlanRanges(nodes, slots, tolerance, scratch, ranges, hosts);
		std::vector<std::int32_t> owner(slots.size());
		BestLoadPlan(nodes, slots, ranges, hosts, memory, owner, [] {});
		std::vector<PlanMove> moves(slots.size());
		moves.resize(OrderMoves(slots, ranges, owner, scratch, moves));
		return moves;
	}

	std::int64_t Bound() const
	{
		auto scratch = Scratch();
		return PlanLowerBound(nodes, slots, ranges, scratch);
	}

	std::vector<std::int64_t> Counts() const
	{
		std::vector<std::int64_t> counts(nodes.size());
		for (const auto &slot : slots)
			if (slot.node >= 0)
				++counts[slot.node];
		return counts;
	}

	std::int64_t Violation() const
	{
		std::vector<std::int64_t> loads(nodes.size());
		for (const auto &slot : slots)
			if (slot.node >= 0)
				loads[slot.node] += slot.load;
		std::int64_t sum = 0;
		for (std::size_t node = 0; node < nodes.size(); ++node)
			sum += std::max({std::int64_t{0}, loads[node] - ranges[node].highest,
				ranges[node].lowest - loads[node]});
		return sum;
	}

	/* False when a move is not one: of a slot that is elsewhere, fixed, or moved twice. */
	bool Apply(const std::vector<PlanMove> &moves)
	{
		std::vector<bool> moved(slots.size());
		for (const auto &move : moves) {
			auto &slot = slots[move.slot];
			if (slot.node != move.from || slot.fixed || moved[move.slot] || move.from == move.to ||
				nodes[move.to].draining)
				return false;
			moved[move.slot] = true;
			slot.node = move.to;
		}
		return true;
	}
};

inline std::int64_t Volume(const Case &subject, const std::vector<PlanMove> &moves)
{
	return std::accumulate(
		moves.begin(), moves.end(), std::int64_t{0}, [&](std::int64_t sum, const PlanMove &move) {
			return sum + subject.slots[move.slot].load;
		});
}

inline Case Dealt(std::int32_t slots, std::int32_t nodes)
{
	Case subject;
	subject.nodes.assign(nodes, {1, false});
	for (std::int64_t slot = 0; slot < slots; ++slot)
		subject.slots.push_back({1, static_cast<std::int32_t>(slot * nodes / slots), false});
	return subject;
}

/* Sizes as tenants have them: a few large, most small. */
inline Case Random(std::mt19937_64 &random, int most_slots, int most_nodes)
{
	const auto below = [&](int limit) {
		return static_cast<int>(random() % limit);
	};
	Case subject;
	const int nodes = 1 + below(most_nodes);
	for (int node = 0; node < nodes; ++node)
		subject.nodes.push_back({0.5 * (1 + below(4)), node > 0 && below(6) == 0});
	const int slots = 1 + below(most_slots);
	const int skew = below(3);
	for (int slot = 0; slot < slots; ++slot) {
		const std::int64_t load = skew == 0   ? 100 + below(10)
								  : skew == 1 ? below(1000)
											  : 10000 / (1 + below(slots));
		subject.slots.push_back({load, below(8) == 0 ? -1 : below(nodes), below(12) == 0});
	}
	return subject;
}

} // namespace shardkit

#endif
