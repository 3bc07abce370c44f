#include "core/place/layout_change.hpp"

#include <cmath>
#include <cstdio>

#include "check.hpp"
#include "layouts.hpp"

using layouts::Hash;

namespace
{

constexpr std::uint64_t kHashes = 100'000;
constexpr int kGrowths = 20;

const char *const kStrategies[] = {"modulo(%)", "jump(%)", "ring(%; vnodes=64)", "rendezvous(%)",
	"slots(%; slots=480)", "ranges(%)"};

std::string WithCount(std::string text, int count)
{
	return text.replace(text.find('%'), 1, std::to_string(count));
}

bool IsMonotone(const layouts::Owned &fewer, const layouts::Owned &more, std::string_view extra)
{
	for (std::uint64_t i = 0; i < kHashes; ++i) {
		const auto with = more.Owner(Hash(6, i));
		if (with != extra && with != fewer.Owner(Hash(6, i)))
			return false;
	}
	return true;
}

bool GrowthIsMonotone(const std::string &strategy)
{
	auto layout = layouts::Read(WithCount(strategy, 3));
	for (int i = 3; i < 13; ++i) {
		const std::string name = "node-" + std::to_string(i);
		auto grown = layouts::Add(*layout, name);
		if (!IsMonotone(*layout, *grown, name))
			return false;
		layout = std::move(grown);
	}
	return true;
}

/* Any node may leave, and only its own keys move; of jump it is the last. */
bool ShrinkingIsMonotone(const std::string &strategy, bool last_only)
{
	const auto layout = layouts::Read(WithCount(strategy, 9));
	for (std::size_t node = last_only ? 8 : 0; node < 9; ++node) {
		const std::string name{layout->layout.nodes[node].name};
		if (!IsMonotone(*layouts::Remove(*layout, node), *layout, name))
			return false;
	}
	return true;
}

std::vector<std::int64_t> SlotCounts(const shardkit::Layout &layout)
{
	std::vector<std::int64_t> counts(layout.nodes.size() + 1);
	for (const auto owner : layout.owners)
		++counts[owner];
	return counts;
}

std::int64_t SlotsMoved(const shardkit::Layout &before, const shardkit::Layout &after)
{
	std::int64_t moved = 0;
	for (std::size_t slot = 0; slot < before.owners.size(); ++slot)
		moved += before.nodes[before.owners[slot]].name != after.nodes[after.owners[slot]].name;
	return moved;
}

/* Never more than sum max(0, has - target), the target being what the grown layout really gives. */
bool SlotsMoveFewest(double weight)
{
	auto layout = layouts::Read("slots(5; slots=1024)");
	for (int i = 5; i < 60; ++i) {
		const auto grown = layouts::Add(*layout, "node-" + std::to_string(i), weight);
		const auto has = SlotCounts(layout->layout);
		auto after = layouts::Read(layouts::Text(grown->layout));
		shardkit::Apportion(after->layout, 1024);
		std::int64_t fewest = 0;
		for (std::size_t node = 0; node < layout->layout.nodes.size(); ++node)
			fewest += std::max<std::int64_t>(0, has[node] - after->layout.quotas[node].slots);
		const auto counts = SlotCounts(grown->layout);
		for (std::size_t node = 0; node < grown->layout.nodes.size(); ++node)
			if (std::abs(counts[node] - after->layout.quotas[node].slots) > 1)
				return false;
		if (SlotsMoved(layout->layout, grown->layout) > fewest)
			return false;
		layout = layouts::Read(layouts::Text(grown->layout));
	}
	return true;
}

/* Counted churn against the closed form, for one strategy's growths; prints the worst. */
bool ChurnIsCounted(const std::string &strategy, std::uint64_t seed)
{
	double worst = 0;
	auto layout = layouts::Read(WithCount(strategy, 2));
	for (int i = 2; i < 2 + kGrowths; ++i) {
		auto grown = layouts::Add(*layout, "node-" + std::to_string(i));
		std::uint64_t moved = 0;
		for (std::uint64_t j = 0; j < kHashes; ++j)
			moved += layout->Owner(Hash(seed, j)) != grown->Owner(Hash(seed, j)) ? 1 : 0;
		const double share = layouts::Churn(*layout, *grown);
		const double error = std::sqrt(share * (1 - share) / kHashes);
		worst = std::fmax(worst, std::fabs(static_cast<double>(moved) / kHashes - share) / error);
		layout = std::move(grown);
	}
	std::printf(
		"# %s: worst of %d growths %.2f standard errors\n", strategy.c_str(), kGrowths, worst);
	return worst < 3;
}

bool SharesAreCounted(const std::string &text)
{
	const auto layout = layouts::Read(text);
	const auto shares = layouts::Shares(*layout);
	std::vector<double> counts(shares.size());
	for (std::uint64_t i = 0; i < kHashes; ++i)
		counts[static_cast<std::size_t>(layout->Place(Hash(7, i)))] += 1;
	double sum = 0;
	for (std::size_t node = 0; node < shares.size(); ++node) {
		const double error = std::sqrt(shares[node] * (1 - shares[node]) * kHashes);
		if (std::fabs(counts[node] - shares[node] * kHashes) > 3 * error)
			return false;
		sum += shares[node];
	}
	return std::fabs(sum - 1) < 1e-12;
}

/* The same names in another order: a jump of more shards reaches old names at new places. */
bool ReorderedJumpIsCounted(const std::string &before, const std::string &after)
{
	const auto one = layouts::Read(before);
	const auto other = layouts::Read(after);
	std::uint64_t moved = 0;
	for (std::uint64_t i = 0; i < kHashes; ++i)
		moved += one->Owner(Hash(8, i)) != other->Owner(Hash(8, i)) ? 1 : 0;
	const double share = layouts::Churn(*one, *other);
	const double error = std::sqrt(share * (1 - share) / kHashes);
	return share < 1 && std::fabs(static_cast<double>(moved) / kHashes - share) < 3 * error;
}

/* A token hash that gives every node the same tokens: the smallest name has them all. */
bool EqualTokensBelongToOne()
{
	const auto owned = layouts::Read("ring(c, a, b; vnodes=4)");
	std::vector<shardkit::RingToken> tokens;
	for (std::uint16_t node = 0; node < 3; ++node)
		for (std::uint64_t i = 0; i < 4; ++i)
			tokens.push_back({i << 62 | 5, node});
	shardkit::CompileLayout(owned->layout, tokens, owned->block.data());
	const auto shares = layouts::Shares(*owned);
	for (std::size_t node = 0; node < 3; ++node)
		if (shares[node] != (owned->layout.nodes[node].name == "a" ? 1 : 0))
			return false;
	for (std::uint64_t i = 0; i < kHashes; ++i)
		if (owned->Owner(Hash(9, i)) != "a")
			return false;
	return true;
}

} // namespace

int main()
{
	for (const std::string strategy :
		{"ring(%; vnodes=64)", "rendezvous(%)", "jump(%)", "slots(%; slots=480)"}) {
		check::Ok(GrowthIsMonotone(strategy), (strategy + " grows monotonically").c_str());
		check::Ok(ShrinkingIsMonotone(strategy, strategy.starts_with("jump")),
			(strategy + " shrinks monotonically").c_str());
	}
	check::Ok(SlotsMoveFewest(1) && SlotsMoveFewest(2.5), "slots move as few as can be");
	std::uint64_t seed = 100;
	for (const std::string strategy : kStrategies)
		check::Ok(ChurnIsCounted(strategy, seed++),
			(strategy + ": churn as counted, within 3 standard errors").c_str());
	for (const std::string text : {"ring(a, b*2, c*0.5; vnodes=100)", "rendezvous(a, b*2, c*0.5)",
			 "slots(a, b*2, c*0.5; slots=1000)", "modulo(7)", "jump(7)", "ranges(7)",
			 "ranges(a@0000000000000000, b@4000000000000000)"})
		check::Ok(SharesAreCounted(text),
			(text + ": shares as counted, within 3 standard errors").c_str());
	for (const char *more : {"jump(b, c, d, e, a)", "jump(c, d, a, b)"})
		check::Ok(ReorderedJumpIsCounted("jump(a, b, c)", more) &&
					  ReorderedJumpIsCounted(more, "jump(a, b, c)"),
			(std::string{"jump(a, b, c) and "} + more + ": churn as counted, both ways").c_str());
	check::Ok(EqualTokensBelongToOne(), "equal tokens: all shares to the smallest name");
	return check::Done();
}
