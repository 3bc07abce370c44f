#include "core/predict/flows.hpp"

#include <map>
#include <vector>

#include "check.hpp"

using namespace shardkit;

namespace
{

std::uint64_t Next(std::uint64_t &state)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return state >> 33;
}

/* A table that grows as the server's layer grows it. */
struct Grown {
	std::vector<FlowCell> memory;
	Flows flows;

	Grown(std::uint32_t before, std::uint32_t after)
		: memory(FlowCells(before, after)), flows(MakeFlows(before, after, memory))
	{
	}

	void Reserve(std::uint64_t more)
	{
		while (!HasRoom(flows, more)) {
			std::vector<FlowCell> larger(memory.size() * 2);
			Flows grown = MakeFlows(flows.before, flows.after, larger);
			for (const FlowCell &cell : memory)
				AddFlow(grown, cell);
			memory.swap(larger);
			flows = grown;
			flows.cells = memory.data();
		}
	}
};

bool CountsEqualMap(std::uint32_t before, std::uint32_t after, int rows)
{
	Grown grown(before, after);
	std::map<std::uint64_t, std::uint64_t> expected;
	std::uint64_t state = 1;
	for (int i = 0; i < rows; ++i) {
		const auto from = static_cast<std::uint32_t>(Next(state) % before);
		const auto to = static_cast<std::uint32_t>(Next(state) % after);
		grown.Reserve(1);
		FlowCell &cell = FlowAt(grown.flows, from, to);
		++cell.rows;
		cell.weight += 2;
		++expected[std::uint64_t{from} * after + to];
	}
	std::uint64_t found = 0;
	for (const FlowCell &cell : grown.memory) {
		if (cell.id == kEmptyFlow || cell.rows == 0)
			continue;
		++found;
		if (expected[cell.id] != cell.rows || cell.weight != 2.0 * static_cast<double>(cell.rows))
			return false;
	}
	return found == expected.size();
}

bool MergeAddsUp()
{
	Grown one(9, 12);
	Grown other(9, 12);
	FlowAt(one.flows, 8, 11).rows = 3;
	FlowAt(other.flows, 8, 11).rows = 4;
	FlowAt(other.flows, 0, 1).rows = 5;
	for (const FlowCell &cell : other.memory)
		AddFlow(one.flows, cell);
	return FlowAt(one.flows, 8, 11).rows == 7 && FlowAt(one.flows, 0, 1).rows == 5;
}

} // namespace

int main()
{
	check::Ok(IsDense(256, 256) && !IsDense(257, 256), "dense up to 65,536 cells");
	check::Ok(CountsEqualMap(9, 12, 10'000), "dense counts");
	check::Ok(CountsEqualMap(1, 1, 100), "one cell");
	check::Ok(CountsEqualMap(300, 300, 200'000), "sparse counts, grown");
	check::Ok(CountsEqualMap(4'000'000'000U, 4'000'000'000U, 20'000), "counts beyond any memory");
	check::Ok(MergeAddsUp(), "cells of two tables add up");
	return check::Done();
}
