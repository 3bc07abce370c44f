#include "core/predict/tally.hpp"

#include "check.hpp"
#include "layouts.hpp"

using namespace shardkit;

namespace
{

/* Pairs for which a batch takes a way of its own, in both directions, and ordinary ones. */
const char *const kPairs[][2] = {{"jump(8)", "jump(9)"}, {"jump(9)", "jump(8)"},
	{"jump(5)", "jump(5)"}, {"rendezvous(8)", "rendezvous(9)"}, {"rendezvous(9)", "rendezvous(8)"},
	{"rendezvous(b, c)", "rendezvous(a, b, c)"}, {"rendezvous(a*2, b)", "rendezvous(a*2, b, c)"},
	{"modulo(8)", "ring(9; vnodes=16)"}, {"slots(5; slots=72)", "ranges(7)"},
	{"modulo(300)", "modulo(301)"}};

std::vector<std::uint64_t> Hashes()
{
	std::vector<std::uint64_t> hashes(kTallyBatch);
	for (std::size_t i = 0; i < hashes.size(); ++i)
		hashes[i] = layouts::Hash(3, i);
	return hashes;
}

/* A batch is counted as its hashes are placed one by one, by name. */
bool CountsOneByOne(const char *before_text, const char *after_text)
{
	const auto before = layouts::Read(before_text);
	const auto after = layouts::Read(after_text);
	const TallyPair pair = {&before->Compiled(), &after->Compiled()};
	const auto from = static_cast<std::uint32_t>(pair.before->nodes);
	const auto to = static_cast<std::uint32_t>(pair.after->nodes);
	std::vector<std::int32_t> same(from);
	std::vector<std::int32_t> scratch(from + to);
	MatchNodes(pair, same, scratch);

	std::vector<FlowCell> cells(FlowCells(from, to));
	std::vector<FlowCell> expected(FlowCells(from, to));
	Flows flows = MakeFlows(from, to, cells);
	Flows by_hand = MakeFlows(from, to, expected);
	const auto hashes = Hashes();
	const std::vector<double> weights(hashes.size(), 2.0);
	const std::uint64_t moved = CountBatch(pair, flows, hashes, weights.data(), same.data());
	std::uint64_t moved_by_name = 0;
	for (const std::uint64_t hash : hashes) {
		FlowCell &cell = FlowAt(by_hand, static_cast<std::uint32_t>(before->Place(hash)),
			static_cast<std::uint32_t>(after->Place(hash)));
		++cell.rows;
		cell.weight += 2;
		moved_by_name += before->Owner(hash) != after->Owner(hash) ? 1 : 0;
	}
	for (std::size_t i = 0; i < cells.size(); ++i)
		if (cells[i].id != expected[i].id || cells[i].rows != expected[i].rows ||
			cells[i].weight != expected[i].weight)
			return false;
	return moved == moved_by_name;
}

bool CountsUnderOne()
{
	const auto layout = layouts::Read("modulo(8)");
	std::vector<FlowCell> cells(8);
	Flows flows = MakeFlows(8, 1, cells);
	CountBatch({&layout->Compiled(), nullptr}, flows, Hashes(), nullptr, nullptr);
	std::uint64_t rows = 0;
	for (const FlowCell &cell : cells)
		rows += cell.rows;
	return rows == kTallyBatch;
}

} // namespace

int main()
{
	for (const auto &pair : kPairs)
		check::Ok(CountsOneByOne(pair[0], pair[1]), pair[1]);
	check::Ok(CountsUnderOne(), "rows counted under one layout");
	return check::Done();
}
