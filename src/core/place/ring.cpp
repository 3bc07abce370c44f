#include "core/place/ring.hpp"

#include <cassert>

namespace shardkit
{

void SortTokens(std::span<RingToken> tokens, std::span<const std::uint16_t> rank) noexcept
{
	std::sort(tokens.begin(), tokens.end(), [rank](const RingToken &left, const RingToken &right) {
		return left.hash != right.hash ? left.hash < right.hash
									   : rank[left.node] < rank[right.node];
	});
}

void FillRing(std::span<const RingToken> tokens, std::span<std::uint64_t> hashes,
	std::span<std::uint16_t> nodes, std::span<std::uint32_t> index) noexcept
{
	assert(!tokens.empty() && hashes.size() == RingTokenEntries(tokens.size()));
	assert(index.size() == RingIndexEntries(tokens.size()));
	for (std::size_t i = 0; i < tokens.size(); ++i) {
		hashes[i] = tokens[i].hash;
		nodes[i] = tokens[i].node;
	}
	hashes[tokens.size()] = ~std::uint64_t{0};
	nodes[tokens.size()] = tokens[0].node;

	const std::int32_t shift = 64 - RingIndexBits(tokens.size());
	std::uint32_t at = 0;
	for (std::size_t part = 0; part + 1 < index.size(); ++part) {
		while (at < tokens.size() && (tokens[at].hash >> shift) < part)
			++at;
		index[part] = at;
	}
	index[index.size() - 1] = static_cast<std::uint32_t>(tokens.size());
}

} // namespace shardkit
