/* Planner: from who owns which slot, and what the slots weigh, to the moves that even nodes out. */
#ifndef SHARDKIT_CORE_PLAN_HPP
#define SHARDKIT_CORE_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <span>

namespace shardkit
{

/* Sums of weights, and their products with loads below 2^62, neither overflow nor vanish. */
constexpr bool IsWeight(double weight) noexcept
{
	return weight >= 1e-100 && weight <= 1e100;
}

struct PlanNode {
	double weight; /* IsWeight */
	bool draining; /* to be emptied; gets nothing */
};

struct PlanSlot {
	std::int64_t load; /* rows or bytes, not negative; their sum is below 2^62 */
	std::int32_t node; /* owner, an index of the nodes; -1: none, is left alone */
	bool fixed;        /* stays with this owner, but counts */
};

struct PlanMove {
	std::int32_t slot;
	std::int32_t from;
	std::int32_t to;
};

/* What a node may hold when it counts as even. */
struct PlanRange {
	std::int64_t lowest;
	std::int64_t highest;
};

/* At least one node must not be draining, in all that follows. */

/* Bytes of scratch memory, aligned to 8, that each of the functions below needs at most. */
std::size_t PlanScratch(std::size_t slots, std::size_t nodes) noexcept;

/*
 * By slots: the fewest moves after which every node holds its weighted share of the slots, rounded
 * by the largest remainder; of equal remainders, whoever has the slot already keeps it.
 * The moves, the most useful first, go to moves (one element a slot); the answer is their number.
 */
std::size_t PlanBySlots(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<std::byte> scratch, std::span<PlanMove> moves) noexcept;

/*
 * By load: what each node may hold, the weighted share of the load give or take tolerance (0 .. 1).
 * A slot that is too large for every node makes that impossible: it gets a node for itself, its
 * host, whose target is that slot alone, and the other nodes share the rest. hosts has an element a
 * slot, -1 where there is none.
 */
void PlanRanges(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots, double tolerance,
	std::span<std::byte> scratch, std::span<PlanRange> ranges,
	std::span<std::int32_t> hosts) noexcept;

/* By load: no plan that brings every node into its range moves less than this. */
std::int64_t PlanLowerBound(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<const PlanRange> ranges, std::span<std::byte> scratch) noexcept;

/* By load, step by step, so that the caller can be interrupted: see plan_load.cpp. */
/* One slot each way, by their places in ordered, and perhaps a third that sets the partner right. */
struct PlanSwap {
	std::int64_t gain;
	std::int64_t volume;
	std::int32_t gives;
	std::int32_t takes;
	std::int32_t relief; /* -1: none */
	std::int32_t relief_to;
};

struct LoadPlan {
	std::span<const PlanNode> nodes;
	std::span<const PlanSlot> slots;
	std::span<const PlanRange> ranges;
	std::span<const std::int32_t> hosts;
	std::span<std::int64_t> loads;   /* of every node, now */
	std::span<std::int32_t> counts;  /* slots of every node, now */
	std::span<std::int32_t> owner;   /* of every slot, now */
	std::span<std::int32_t> first;   /* of every node: where its slots begin in ordered */
	std::span<std::int32_t> ordered; /* movable slots by home, the heaviest first */
	std::span<std::int32_t> later;   /* from a place to the next slot at home, if compressed */
	std::span<std::int32_t> sooner;  /* the same toward heavier slots; index + 1 */
	std::span<bool> stuck;           /* nodes for which no move was found */
	enum class Phase { Host, Drain, Move, Swap, Again, Improve, Done } phase;
	std::int32_t at;      /* where the phase stands */
	std::int32_t partner; /* the other node, while swapping */
	PlanSwap swap;        /* the best so far with a partner */
	std::int32_t rounds;
	std::int32_t eagerness; /* see plan_best.hpp */
	bool changed;
};

/* Begins a plan in memory of PlanScratch bytes that stays with it. */
LoadPlan StartLoadPlan(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<const PlanRange> ranges, std::span<const std::int32_t> hosts,
	std::span<std::byte> memory, std::int32_t eagerness) noexcept;

/* One bounded step; false when the plan is complete. */
bool StepLoadPlan(LoadPlan &plan) noexcept;

/* The moves that lead to these owners, the most useful first. */
std::size_t OrderMoves(std::span<const PlanSlot> slots, std::span<const PlanRange> ranges,
	std::span<const std::int32_t> owner, std::span<std::byte> scratch,
	std::span<PlanMove> moves) noexcept;

} // namespace shardkit

#endif
