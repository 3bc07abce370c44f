#include "core/place/deal.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"

using shardkit::Deal;

namespace
{

std::vector<std::int32_t> Dealt(
	const std::vector<double> &weights, const std::vector<std::int32_t> &owned, std::int32_t slots)
{
	std::vector<std::int32_t> given(weights.size());
	Deal(weights, owned, slots, given);
	return given;
}

/* Every node within one slot of its part, all slots given away, whatever the weights. */
bool FairFromNothing()
{
	std::uint32_t random = 1;
	for (int run = 0; run < 2000; ++run) {
		std::vector<double> weights(1 + run % 40);
		for (double &weight : weights)
			weight = ((random = random * 1664525 + 1013904223) >> 20) / 64.0 + 0.01;
		const std::int32_t slots = 1 + static_cast<std::int32_t>((random >> 8) % 3000);
		const auto given = Dealt(weights, std::vector<std::int32_t>(weights.size(), 0), slots);
		const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
		if (std::accumulate(given.begin(), given.end(), 0) != slots)
			return false;
		for (std::size_t node = 0; node < weights.size(); ++node)
			if (std::abs(given[node] - slots * weights[node] / total) >= 1)
				return false;
	}
	return true;
}

} // namespace

int main()
{
	using Counts = std::vector<std::int32_t>;
	check::Ok(Dealt({1, 1, 1}, {0, 0, 0}, 72) == Counts{24, 24, 24}, "even");
	check::Ok(Dealt({1, 1, 1}, {0, 0, 0}, 8) == Counts{3, 3, 2}, "the rest goes to the first");
	check::Ok(Dealt({1, 1, 2}, {0, 0, 0}, 72) == Counts{18, 18, 36}, "weights");
	check::Ok(Dealt({1, 0, 1}, {0, 5, 0}, 9) == Counts{2, 0, 2}, "a drained node gets nothing");
	check::Ok(Dealt({1, 1, 1}, {9, 0, 0}, 12) == Counts{0, 2, 1}, "a full node gives nothing back");
	check::Ok(Dealt({1, 1}, {5, 5}, 10) == Counts{0, 0}, "nothing is left");
	check::Ok(Dealt({1e308, 1e308}, {0, 0}, 4) == Counts{2, 2}, "weights beyond their sum");
	check::Ok(FairFromNothing(), "within one slot of the weighted part, 2000 random cases");
	return check::Done();
}
