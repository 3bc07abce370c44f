/* Where no single slot fits: one slot each way. */
#include "core/map/plan_state.hpp"

#include <algorithm>

namespace shardkit
{

namespace
{

/* Who takes part in a swap: net load passes from giver to taker. */
struct Pair {
	std::int32_t giver;
	std::int32_t taker;
	std::int32_t partner; /* the one of them that was in its range */
	std::int32_t helper;  /* a third node that could set the partner right, or kNone */
	std::int64_t wanted;  /* what should pass */
};

void Keep(LoadPlan &plan, const PlanSwap &swap)
{
	if (swap.gain > plan.swap.gain ||
		(swap.gain == plan.swap.gain && swap.gain > 0 && swap.volume < plan.swap.volume))
		plan.swap = swap;
}

/* After a swap the partner holds this much: can the helper set that right with one slot? */
void Relieve(LoadPlan &plan, const Pair &pair, std::int64_t holds, PlanSwap &swap)
{
	const PlanRange &range = plan.ranges[Index(pair.partner)];
	const std::int64_t off = Violation(range, holds);
	if (off == 0 || pair.helper == kNone)
		return;
	const bool gives = holds > range.highest;
	const std::int32_t from = gives ? pair.partner : pair.helper;
	const std::int32_t place = SmallestFrom(plan, from, off);
	if (place == kNone || place == swap.gives || place == swap.takes)
		return;
	const std::int64_t load = gives ? LoadAt(plan, place) : -LoadAt(plan, place);
	const std::int64_t left =
		Violation(range, holds - load) +
		Violation(plan.ranges[Index(pair.helper)], plan.loads[Index(pair.helper)] + load) -
		Violation(plan.ranges[Index(pair.helper)], plan.loads[Index(pair.helper)]);
	if (left >= off)
		return;
	swap.gain += off - left;
	swap.volume += LoadAt(plan, place);
	swap.relief = place;
	swap.relief_to = gives ? pair.helper : pair.partner;
}

void Consider(LoadPlan &plan, const Pair &pair, std::int32_t gives, std::int32_t takes)
{
	if (takes == kNone)
		return;
	const std::int64_t net = LoadAt(plan, gives) - LoadAt(plan, takes);
	if (net <= 0)
		return;
	PlanSwap swap{Gain(plan, pair.giver, pair.taker, net),
		LoadAt(plan, gives) + LoadAt(plan, takes), gives, takes, kNone, kNone};
	Keep(plan, swap);
	const std::int64_t change = pair.partner == pair.taker ? net : -net;
	Relieve(plan, pair, plan.loads[Index(pair.partner)] + change, swap);
	Keep(plan, swap);
}

/* The swaps between two nodes after which about what is wanted has passed. */
void ConsiderPair(LoadPlan &plan, const Pair &pair)
{
	const std::int32_t end = plan.first[Index(pair.giver) + 1];
	for (std::int32_t place = FindLater(plan, plan.first[Index(pair.giver)]); place < end;
		 place = FindLater(plan, place + 1)) {
		const std::int64_t back = LoadAt(plan, place) - pair.wanted;
		Consider(plan, pair, place, LargestUpTo(plan, pair.taker, back));
		Consider(plan, pair, place, SmallestFrom(plan, pair.taker, back));
	}
}

/* The node with the most room, or the most to spare, that has no part in the swap. */
std::int32_t FindHelper(const LoadPlan &plan, std::int32_t node, std::int32_t partner, bool to_give)
{
	std::int32_t best = kNone;
	std::int64_t most = 0;
	for (std::int32_t other = 0; Index(other) < plan.nodes.size(); ++other) {
		if (other == node || other == partner || plan.nodes[Index(other)].draining)
			continue;
		const PlanRange &range = plan.ranges[Index(other)];
		const std::int64_t load = plan.loads[Index(other)];
		const std::int64_t spare = to_give ? load - range.lowest : range.highest - load;
		if (spare > most) {
			most = spare;
			best = other;
		}
	}
	return best;
}

void Apply(LoadPlan &plan)
{
	const PlanSwap &swap = plan.swap;
	const std::int32_t giver = plan.owner[Index(plan.ordered[Index(swap.gives)])];
	const std::int32_t taker = plan.owner[Index(plan.ordered[Index(swap.takes)])];
	Leave(plan, swap.gives, taker);
	Leave(plan, swap.takes, giver);
	if (swap.relief != kNone)
		Leave(plan, swap.relief, swap.relief_to);
	std::ranges::fill(plan.stuck, false);
	plan.phase = LoadPlan::Phase::Move;
}

/* One node that is out of its range, and one partner. */
void LookAt(LoadPlan &plan, std::int32_t node, std::int32_t partner)
{
	const std::int64_t over = plan.loads[Index(node)] - plan.ranges[Index(node)].highest;
	const std::int64_t under = plan.ranges[Index(node)].lowest - plan.loads[Index(node)];
	if (node == partner || plan.nodes[Index(partner)].draining)
		return;
	if (over > 0)
		ConsiderPair(plan, {node, partner, partner, FindHelper(plan, node, partner, false), over});
	else if (under > 0)
		ConsiderPair(plan, {partner, node, partner, FindHelper(plan, node, partner, true), under});
}

} // namespace

void StepSwap(LoadPlan &plan) noexcept
{
	if (Index(plan.at) >= plan.nodes.size()) {
		plan.phase = LoadPlan::Phase::Again;
		return;
	}
	const auto node = Index(plan.at);
	const bool is_out = Violation(plan.ranges[node], plan.loads[node]) > 0;
	if (is_out && !plan.nodes[node].draining && Index(plan.partner) < plan.nodes.size()) {
		LookAt(plan, plan.at, plan.partner++);
	} else if (plan.swap.gain > 0) {
		Apply(plan);
	} else {
		++plan.at;
		plan.partner = 0;
	}
}

} // namespace shardkit
