/*
 * Planning by load. Evening out whole slots with the least volume is a packing problem, so this is
 * a search: first draining nodes are emptied, then the node that is furthest out of its range gives
 * or takes the slot that helps most for its weight, then pairs of slots are swapped where single
 * ones do not fit. A slot leaves its home once a round; rounds go on until one changes nothing, so
 * that planning again from the result finds nothing either. When every range is met the plan is
 * shrunk (plan_improve.cpp). The violation falls with every step after the first phase: it ends.
 */
#include "core/map/plan_block.hpp"
#include "core/map/plan_state.hpp"

#include <algorithm>
#include <cassert>

namespace shardkit
{

namespace
{

using Phase = LoadPlan::Phase;

constexpr std::int32_t kMostRounds = 64;

struct Choice {
	std::int32_t place = kNone;
	std::int32_t to = kNone;
	std::int64_t gain = 0;
	std::int64_t load = 1;
	std::int64_t spare = 0; /* what the other side could still give or take */
	bool settles = false;   /* sets its node right with one slot, for little more than its worth */
};

/* The most gain for its weight, then the most gain, then the roomiest partner. */
bool IsBetter(const Choice &one, const Choice &other)
{
	if (one.settles != other.settles)
		return one.settles;
	const double one_worth = static_cast<double>(one.gain) / static_cast<double>(one.load);
	const double other_worth = static_cast<double>(other.gain) / static_cast<double>(other.load);
	if (one_worth != other_worth)
		return one_worth > other_worth;
	return one.gain != other.gain ? one.gain > other.gain : one.spare > other.spare;
}

std::int64_t Over(const LoadPlan &plan, std::int32_t node)
{
	return plan.loads[Index(node)] - plan.ranges[Index(node)].highest;
}

std::int64_t Under(const LoadPlan &plan, std::int32_t node)
{
	return plan.ranges[Index(node)].lowest - plan.loads[Index(node)];
}

bool IsSettledBy(const LoadPlan &plan, std::int32_t node, std::int64_t change)
{
	const PlanRange &range = plan.ranges[Index(node)];
	const std::int64_t load = plan.loads[Index(node)];
	return Violation(range, load) > 0 && Violation(range, load + change) == 0;
}

/* Keeps the slot at this place if giving it beats the best so far. */
void Consider(const LoadPlan &plan, std::int32_t from, std::int32_t to, std::int32_t place,
	std::int64_t spare, Choice &best)
{
	if (place == kNone)
		return;
	const std::int64_t load = LoadAt(plan, place);
	const std::int64_t gain = Gain(plan, from, to, load);
	if (load > 0 && gain > 0) {
		const bool settles = plan.eagerness > 0 && gain * 100 >= load * plan.eagerness &&
							 (IsSettledBy(plan, from, -load) || IsSettledBy(plan, to, load));
		const Choice choice{place, to, gain, load, spare, settles};
		if (IsBetter(choice, best))
			best = choice;
	}
}

/* The slots of from that could best go to to: what helps both, what settles one, what fits. */
void ConsiderPair(LoadPlan &plan, std::int32_t from, std::int32_t to, Choice &best)
{
	const std::int64_t over = Over(plan, from);
	const std::int64_t under = Under(plan, to);
	const std::int64_t wanted = over > 0 ? over : under;
	const std::int64_t room = over > 0 ? -Over(plan, to) : -Under(plan, from);
	const auto consider = [&](std::int32_t place) {
		Consider(plan, from, to, place, room, best);
	};
	if (over > 0 && under > 0)
		consider(LargestUpTo(plan, from, std::min(over, under)));
	if (over > 0)
		consider(SmallestFrom(plan, from, over));
	if (under > 0)
		consider(SmallestFrom(plan, from, under));
	consider(LargestUpTo(plan, from, std::min(wanted, room)));
	if (room < wanted)
		consider(LargestUpTo(plan, from, wanted));
}

/* The best single move from (or to) the node that is out of its range. */
Choice BestMove(LoadPlan &plan, std::int32_t node)
{
	const bool gives = Over(plan, node) > 0;
	const auto consider = [&](std::int32_t other, Choice &best) {
		if (gives)
			ConsiderPair(plan, node, other, best);
		else
			ConsiderPair(plan, other, node, best);
	};

	/* A move that helps both sides with all its weight cannot be beaten: ask the neediest first. */
	std::int32_t neediest = kNone;
	std::int64_t most = 0;
	for (std::int32_t other = 0; Index(other) < plan.nodes.size(); ++other) {
		const std::int64_t need = gives ? Under(plan, other) : Over(plan, other);
		if (need > most && !plan.nodes[Index(other)].draining) {
			most = need;
			neediest = other;
		}
	}
	Choice best;
	if (neediest != kNone)
		consider(neediest, best);
	if (best.gain == 2 * best.load && (plan.eagerness == 0 || best.settles))
		return best;
	for (std::int32_t other = 0; Index(other) < plan.nodes.size(); ++other)
		if (other != node && !plan.nodes[Index(other)].draining)
			consider(other, best);
	return best;
}

void StepMove(LoadPlan &plan)
{
	std::int32_t worst = kNone;
	std::int64_t most = 0;
	for (std::size_t node = 0; node < plan.nodes.size(); ++node) {
		const std::int64_t violation = Violation(plan.ranges[node], plan.loads[node]);
		if (!plan.stuck[node] && violation > most) {
			most = violation;
			worst = static_cast<std::int32_t>(node);
		}
	}
	if (worst == kNone) {
		plan.phase = Phase::Swap;
		plan.at = plan.partner = 0;
		plan.swap = {};
		return;
	}
	const Choice best = BestMove(plan, worst);
	plan.stuck[Index(worst)] = best.place == kNone;
	if (best.place == kNone)
		return;
	const std::int32_t from = plan.owner[Index(plan.ordered[Index(best.place)])];
	plan.stuck[Index(from)] = plan.stuck[Index(best.to)] = false;
	Leave(plan, best.place, best.to);
}

/* The end of a round: done, or once more with every slot at home where it is now. */
void StepAgain(LoadPlan &plan)
{
	bool even = true;
	for (std::size_t node = 0; node < plan.nodes.size(); ++node)
		even = even && Violation(plan.ranges[node], plan.loads[node]) == 0;
	plan.at = 0;
	if (even) {
		for (std::size_t slot = 0; slot < plan.slots.size(); ++slot)
			plan.later[slot] = plan.slots[slot].node;
		OrderByHome(plan, plan.later.first(plan.slots.size()));
		plan.phase = Phase::Improve;
		plan.rounds = 0;
	} else if (plan.changed && ++plan.rounds < kMostRounds) {
		OrderByHome(plan, plan.owner);
		std::ranges::fill(plan.stuck, false);
		plan.phase = Phase::Move;
	} else {
		plan.phase = Phase::Done;
	}
	plan.changed = false;
}

} // namespace

LoadPlan StartLoadPlan(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	std::span<const PlanRange> ranges, std::span<const std::int32_t> hosts,
	std::span<std::byte> memory, std::int32_t eagerness) noexcept
{
	PlanBlock block{memory};
	LoadPlan plan{nodes, slots, ranges, hosts, block.Take<std::int64_t>(nodes.size()),
		block.Take<std::int32_t>(nodes.size()), block.Take<std::int32_t>(slots.size()),
		block.Take<std::int32_t>(nodes.size() + 1), block.Take<std::int32_t>(slots.size()),
		block.Take<std::int32_t>(slots.size() + 2), block.Take<std::int32_t>(slots.size() + 2),
		block.Take<bool>(nodes.size()), Phase::Host, 0, 0, {}, 0, eagerness, false};
	for (std::size_t slot = 0; slot < slots.size(); ++slot) {
		plan.owner[slot] = slots[slot].node;
		if (slots[slot].node < 0)
			continue;
		plan.loads[Index(slots[slot].node)] += slots[slot].load;
		++plan.counts[Index(slots[slot].node)];
	}
	OrderByHome(plan, plan.owner);
	return plan;
}

bool StepLoadPlan(LoadPlan &plan) noexcept
{
	switch (plan.phase) {
	case Phase::Host:
		StepHost(plan);
		break;
	case Phase::Drain:
		StepDrain(plan);
		break;
	case Phase::Move:
		StepMove(plan);
		break;
	case Phase::Swap:
		StepSwap(plan);
		break;
	case Phase::Again:
		StepAgain(plan);
		break;
	case Phase::Improve:
		if (!StepImprove(plan))
			plan.phase = Phase::Done;
		break;
	case Phase::Done:
		break;
	}
	return plan.phase != Phase::Done;
}

} // namespace shardkit
