/* Dealing slots over the nodes of a layout. */
#include <algorithm>
#include <cassert>

#include "core/place/layout.hpp"
#include "core/place/reduce.hpp"

namespace shardkit
{

void Apportion(Layout &layout, std::int32_t slots) noexcept
{
	const auto quotas = layout.quotas.first(layout.nodes.size());
	std::uint64_t weights = 0;
	for (const auto &node : layout.nodes)
		weights += static_cast<std::uint64_t>(node.weight);
	assert(weights > 0);
	std::int32_t left = slots;
	for (std::size_t i = 0; i < quotas.size(); ++i) {
		const Uint128 share =
			static_cast<Uint128>(layout.nodes[i].weight) * static_cast<std::uint64_t>(slots);
		quotas[i] = {static_cast<std::uint64_t>(share % weights),
			static_cast<std::int32_t>(share / weights), 0, static_cast<std::uint16_t>(i)};
		left -= quotas[i].slots;
	}
	for (const auto owner : layout.owners)
		if (owner < quotas.size())
			++quotas[owner].has;
	/* The sum of the remainders is left times the sum of the weights: one each is enough. */
	assert(left >= 0 && static_cast<std::size_t>(left) < quotas.size());
	std::sort(quotas.begin(), quotas.end(), [](const Quota &one, const Quota &other) {
		if (one.remainder != other.remainder)
			return one.remainder > other.remainder;
		return one.has != other.has ? one.has > other.has : one.node < other.node;
	});
	for (std::int32_t i = 0; i < left; ++i)
		++quotas[static_cast<std::size_t>(i)].slots;
	std::sort(quotas.begin(), quotas.end(),
		[](const Quota &one, const Quota &other) { return one.node < other.node; });
}

void DealSlots(Layout &layout) noexcept
{
	std::fill(layout.owners.begin(), layout.owners.end(), kNoOwner);
	Apportion(layout, static_cast<std::int32_t>(layout.owners.size()));
	std::size_t slot = 0;
	for (const auto &quota : layout.quotas.first(layout.nodes.size()))
		for (std::int32_t i = 0; i < quota.slots; ++i)
			layout.owners[slot++] = quota.node;
}

bool IsDealt(Layout &layout) noexcept
{
	/* A text that leaves the slots to a deal must give every node one. */
	const auto owners = layout.owners;
	if (layout.nodes.size() > owners.size())
		return false;
	/* A deal knows no earlier owners: the same tie-break must not see them here. */
	layout.owners = {};
	Apportion(layout, static_cast<std::int32_t>(owners.size()));
	layout.owners = owners;
	std::size_t slot = 0;
	for (const auto &quota : layout.quotas.first(layout.nodes.size()))
		for (std::int32_t i = 0; i < quota.slots; ++i)
			if (owners[slot++] != quota.node)
				return false;
	return true;
}

} // namespace shardkit
