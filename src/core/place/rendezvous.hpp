/* Rendezvous hashing (highest random weight): every node bids for a hash, the best bid owns it. */
#ifndef SHARDKIT_CORE_RENDEZVOUS_HPP
#define SHARDKIT_CORE_RENDEZVOUS_HPP

#include <cstddef>
#include <cstdint>

#include "core/place/mix.hpp"

namespace shardkit
{

/* Nodes of one weight lie together: [previous group's end, end). */
struct RendezvousGroup {
	double weight;
	std::uint32_t end;
};

/*
 * Seeds, with the first step of the mix taken, sorted by weight, then by rank, the position of the
 * node's name in byte order. Groups are looked at only when there are several.
 */
struct Rendezvous {
	const std::uint64_t *seeds;
	const std::uint16_t *nodes;
	const std::uint16_t *ranks;
	const RendezvousGroup *groups;
	std::uint32_t group_count;
	std::uint32_t count;
};

struct RendezvousBid {
	std::uint64_t score;
	std::uint32_t at;
};

/*
 * The highest score among seeds [begin, end), not empty; of equal ones the first. A score is
 * Fmix64(hash ^ seed), whose first step is taken once for the hash and beforehand for the seeds.
 */
inline RendezvousBid HighestBid(
	const std::uint64_t *seeds, std::uint32_t begin, std::uint32_t end, std::uint64_t hash) noexcept
{
	/* Both choices become conditional moves: a branch here would be mispredicted. */
	hash = Fmix64Begin(hash);
	std::uint64_t highest = Fmix64End(hash ^ seeds[begin]);
	std::size_t winner = begin;
	for (std::size_t at = begin + std::size_t{1}; at < end; ++at) {
		const std::uint64_t score = Fmix64End(hash ^ seeds[at]);
		winner = score > highest ? at : winner;
		highest = score > highest ? score : highest;
	}
	return {highest, static_cast<std::uint32_t>(winner)};
}

/*
 * The logarithmic method: the smallest -ln(u) / weight wins, u = ((score >> 11) + 0.5) * 2^-53.
 * Chances are exactly as the weights, and changing one weight moves only keys into or out of that
 * node. Within one weight the highest score wins, so a group costs one logarithm, and equal weights
 * place as no weights do.
 */
std::int32_t ElectWeighted(const Rendezvous &rendezvous, std::uint64_t hash) noexcept;

/* The node that owns hash. */
inline std::int32_t Elect(const Rendezvous &rendezvous, std::uint64_t hash) noexcept
{
	if (rendezvous.group_count > 1)
		return ElectWeighted(rendezvous, hash);
	return rendezvous.nodes[HighestBid(rendezvous.seeds, 0, rendezvous.count, hash).at];
}

} // namespace shardkit

#endif
