#include "core/place/ring_spread.hpp"

#include <algorithm>
#include <cassert>

namespace shardkit
{

double BusiestOverMean(std::span<RingToken> tokens, std::span<double> shares) noexcept
{
	assert(!tokens.empty() && !shares.empty());
	std::sort(tokens.begin(), tokens.end(),
		[](const RingToken &left, const RingToken &right) { return left.hash < right.hash; });
	std::fill(shares.begin(), shares.end(), 0.0);
	for (std::size_t i = 1; i < tokens.size(); ++i)
		shares[tokens[i].node] += static_cast<double>(tokens[i].hash - tokens[i - 1].hash);
	/* The first token owns the arc across zero: all of the circle when it is the only one. */
	const std::uint64_t across = tokens.front().hash - tokens.back().hash;
	shares[tokens.front().node] += across == 0 ? 0x1p64 : static_cast<double>(across);
	return *std::max_element(shares.begin(), shares.end()) / 0x1p64 *
		   static_cast<double>(shares.size());
}

double Percentile(std::span<const double> sorted, double part) noexcept
{
	const double wanted = part * static_cast<double>(sorted.size());
	auto at = static_cast<std::size_t>(wanted);
	if (static_cast<double>(at) >= wanted && at > 0)
		--at;
	return sorted[std::min(at, sorted.size() - 1)];
}

} // namespace shardkit
