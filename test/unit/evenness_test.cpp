#include "core/place/advise_slots.hpp"
#include "core/place/ring_spread.hpp"

#include <cmath>
#include <vector>

#include "core/place/mix.hpp"

#include "check.hpp"

using namespace shardkit;

namespace
{

constexpr std::int32_t kNodeCounts[] = {3, 4, 5, 6, 8, 10, 12, 15, 16, 24, 32};

bool BestComesFirst()
{
	std::vector<SlotAdvice> advice;
	for (std::int32_t slots = 16; slots <= 4096; ++slots)
		advice.push_back(JudgeSlots(slots, kNodeCounts));
	RankAdvice(advice);
	return advice[0].slots == 480 && advice[0].even_for == 11 && advice[0].worst_over_mean == 1;
}

/* Coefficient of variation of one node's part: sqrt((n - 1) / (n v + 1)). */
bool SpreadIsAsTheory()
{
	constexpr std::size_t kNodes = 8;
	constexpr std::size_t kVnodes = 16;
	constexpr int kRings = 2000;
	double squares = 0;
	std::vector<RingToken> tokens(kNodes * kVnodes);
	std::vector<double> shares(kNodes);
	for (int ring = 0; ring < kRings; ++ring) {
		for (std::size_t i = 0; i < tokens.size(); ++i)
			tokens[i] = {Fmix64(static_cast<std::uint64_t>(ring) * 1000 + i + 1),
				static_cast<std::uint16_t>(i % kNodes)};
		BusiestOverMean(tokens, shares);
		for (const double share : shares)
			squares += std::pow(share / 0x1p64 * kNodes - 1, 2);
	}
	const double cv = std::sqrt(squares / (kRings * kNodes));
	return std::fabs(cv / std::sqrt((kNodes - 1.0) / (kNodes * kVnodes + 1)) - 1) < 0.03;
}

} // namespace

int main()
{
	check::Ok(BestComesFirst(), "480 slots for eleven node counts");
	check::Ok(JudgeSlots(479, kNodeCounts).even_for == 0, "479 is even for none");
	check::Ok(JudgeSlots(500, kNodeCounts).even_for == 3, "500 is even for 4, 5 and 10");
	check::Ok(JudgeSlots(7, std::vector<std::int32_t>{9}).worst_over_mean == 9.0 / 7,
		"fewer slots than nodes");
	check::Ok(SpreadIsAsTheory(), "a node's part varies as theory says");
	std::vector<RingToken> one = {{77, 0}};
	std::vector<double> shares(2);
	check::Ok(BusiestOverMean(one, shares) == 2, "one token owns the whole circle");
	const std::vector<double> sorted = {1, 2, 3, 4};
	check::Ok(Percentile(sorted, 0.5) == 2 && Percentile(sorted, 0.99) == 4 &&
				  Percentile(sorted, 0.01) == 1,
		"percentiles");
	return check::Done();
}
