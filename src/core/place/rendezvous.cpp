#include "core/place/rendezvous.hpp"

#include "core/place/logarithm.hpp"

namespace shardkit
{

namespace
{

double Distance(std::uint64_t score, double weight) noexcept
{
	const double u = (static_cast<double>(score >> 11) + 0.5) * 0x1p-53;
	/* The highest scores round to u = 1, whose logarithm must not become a negative zero. */
	return (0.0 - Logarithm(u)) / weight;
}

} // namespace

std::int32_t ElectWeighted(const Rendezvous &rendezvous, std::uint64_t hash) noexcept
{
	std::uint32_t winner = 0;
	double nearest = 0;
	std::uint32_t begin = 0;
	for (std::uint32_t i = 0; i < rendezvous.group_count; ++i) {
		const RendezvousGroup &group = rendezvous.groups[i];
		const RendezvousBid bid = HighestBid(rendezvous.seeds, begin, group.end, hash);
		const double distance = Distance(bid.score, group.weight);
		if (i == 0 || distance < nearest ||
			(distance == nearest && rendezvous.ranks[bid.at] < rendezvous.ranks[winner])) {
			winner = bid.at;
			nearest = distance;
		}
		begin = group.end;
	}
	return rendezvous.nodes[winner];
}

} // namespace shardkit
