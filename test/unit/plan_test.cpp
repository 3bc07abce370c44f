#include "plan_case.hpp"

#include <cmath>

#include "check.hpp"

using namespace shardkit;

namespace
{

bool OneOfEach()
{
	Case subject = Dealt(72, 8);
	subject.nodes.push_back({1, false});
	const auto moves = subject.BySlots();
	std::vector<int> given(9);
	for (const auto &move : moves)
		++given[move.from];
	return moves.size() == 8 && std::count(given.begin(), given.end(), 1) == 8 && given[8] == 0 &&
		   subject.Apply(moves) && subject.BySlots().empty();
}

bool WeightsAreKept()
{
	Case subject = Dealt(1021, 1);
	subject.nodes = {{1, false}, {1, false}, {2, false}};
	if (!subject.Apply(subject.BySlots()))
		return false;
	const auto counts = subject.Counts();
	return counts[0] == 255 && counts[1] == 255 && counts[2] == 511;
}

/* What the definition of the fewest moves says, case by case. */
bool FewestSlots()
{
	std::mt19937_64 random(1);
	for (int round = 0; round < 3000; ++round) {
		Case subject = Random(random, 300, 12);
		for (auto &slot : subject.slots)
			slot.fixed = false;
		const auto before = subject.Counts();
		const auto moves = subject.BySlots();
		if (!subject.Apply(moves))
			return false;
		const auto after = subject.Counts();
		double weights = 0;
		std::int64_t total = 0;
		std::int64_t fewest = 0;
		for (std::size_t node = 0; node < after.size(); ++node) {
			weights += subject.nodes[node].draining ? 0 : subject.nodes[node].weight;
			total += after[node];
			fewest += std::max<std::int64_t>(0, before[node] - after[node]);
		}
		for (std::size_t node = 0; node < after.size(); ++node) {
			const auto &shape = subject.nodes[node];
			const double quota = shape.draining ? 0 : total * shape.weight / weights;
			if (std::fabs(after[node] - quota) >= 1)
				return false;
		}
		if (static_cast<std::int64_t>(moves.size()) != fewest || !subject.BySlots().empty())
			return false;
	}
	return true;
}

/* A plan cut short and made again ends where the whole would, in as many moves. */
bool PiecesAddUp()
{
	std::mt19937_64 random(2);
	for (int round = 0; round < 300; ++round) {
		Case subject = Random(random, 200, 9);
		const std::size_t whole = subject.BySlots().size();
		std::size_t sum = 0;
		for (auto moves = subject.BySlots(); !moves.empty(); moves = subject.BySlots()) {
			moves.resize(std::min<std::size_t>(moves.size(), 3));
			if (!subject.Apply(moves))
				return false;
			sum += moves.size();
		}
		if (sum != whole)
			return false;
	}
	return true;
}

} // namespace

int main()
{
	check::Ok(OneOfEach(), "72 slots from 8 to 9 nodes: 8 moves, one from each");
	check::Ok(WeightsAreKept(), "weights 1, 1, 2");
	check::Ok(FewestSlots(), "by slots: the fewest moves, shares within one slot, nothing twice");
	check::Ok(PiecesAddUp(), "by slots: in pieces as many moves as at once");
	return check::Done();
}
