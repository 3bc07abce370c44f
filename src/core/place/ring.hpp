/* The consistent-hashing ring: a hash belongs to the first token at or after it, wrapping. */
#ifndef SHARDKIT_CORE_RING_HPP
#define SHARDKIT_CORE_RING_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shardkit
{

struct RingToken {
	std::uint64_t hash;
	std::uint16_t node;
};

/*
 * A ring made for look-ups: sorted tokens, each one's node, and for every value of the top bits
 * the first token that is not before it. A guard stands behind the last token and leads back to
 * the first one's node, so that wrapping costs nothing.
 */
struct Ring {
	const std::uint64_t *tokens;
	const std::uint16_t *nodes;
	const std::uint32_t *index;
	std::int32_t shift;
};

/* Number of top bits that index a ring: about twice as many entries as tokens. */
constexpr std::int32_t RingIndexBits(std::size_t tokens) noexcept
{
	return static_cast<std::int32_t>(std::bit_width(tokens));
}

/* Entries of a ring's three arrays for a number of tokens > 0. */
constexpr std::size_t RingTokenEntries(std::size_t tokens) noexcept
{
	return tokens + 1;
}
constexpr std::size_t RingIndexEntries(std::size_t tokens) noexcept
{
	return (std::size_t{1} << RingIndexBits(tokens)) + 1;
}

/* Sorts tokens as a ring wants them; of equal hashes that of the lowest rank[node] comes first. */
void SortTokens(std::span<RingToken> tokens, std::span<const std::uint16_t> rank) noexcept;

/* Fills a ring's arrays, sized as above, from sorted tokens; there is at least one. */
void FillRing(std::span<const RingToken> tokens, std::span<std::uint64_t> hashes,
	std::span<std::uint16_t> nodes, std::span<std::uint32_t> index) noexcept;

/* The node that owns hash. */
inline std::int32_t Locate(const Ring &ring, std::uint64_t hash) noexcept
{
	constexpr std::uint32_t kScan = 8; /* beyond this a search is cheaper: a bad hash clusters */
	const std::uint64_t part = hash >> ring.shift;
	std::uint32_t at = ring.index[part];
	const std::uint32_t end = ring.index[part + 1];
	if (end - at > kScan)
		return ring
			.nodes[std::lower_bound(ring.tokens + at, ring.tokens + end, hash) - ring.tokens];
	/* Two steps without a branch are nearly always enough, and nothing is mispredicted. */
	at += ring.tokens[at] < hash ? 1 : 0;
	at += ring.tokens[at] < hash ? 1 : 0;
	while (ring.tokens[at] < hash)
		++at;
	return ring.nodes[at];
}

} // namespace shardkit

#endif
