#include "core/predict/tally.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace shardkit
{

namespace
{

template <typename PlaceOne>
void ForEach(std::span<const std::uint64_t> hashes, std::uint32_t *nodes, PlaceOne place) noexcept
{
	for (std::size_t i = 0; i < hashes.size(); ++i)
		nodes[i] = static_cast<std::uint32_t>(place(hashes[i]));
}

/* Two jumps from one walk: the walk to the larger count passes the answer for the smaller one. */
void JumpBoth(std::span<const std::uint64_t> hashes, std::int32_t fewer, std::int32_t more,
	std::uint32_t *at_fewer, std::uint32_t *at_more) noexcept
{
	for (std::size_t i = 0; i < hashes.size(); ++i) {
		at_more[i] = static_cast<std::uint32_t>(Jump(hashes[i], more));
		at_fewer[i] = at_more[i];
		/* Most keys stay: only those beyond the smaller count are walked again. */
		if (at_more[i] >= static_cast<std::uint32_t>(fewer))
			at_fewer[i] = static_cast<std::uint32_t>(Jump(hashes[i], fewer));
	}
}

/* Do the bids of fewer open those of more, as where nodes are added behind the others? */
bool IsPrefix(const Rendezvous &fewer, const Rendezvous &more) noexcept
{
	return fewer.group_count == 1 && more.group_count == 1 && fewer.count <= more.count &&
		   std::equal(fewer.seeds, fewer.seeds + fewer.count, more.seeds) &&
		   std::equal(fewer.nodes, fewer.nodes + fewer.count, more.nodes);
}

/* Both elections from one round of bids. */
void ElectBoth(std::span<const std::uint64_t> hashes, const Rendezvous &fewer,
	const Rendezvous &more, std::uint32_t *at_fewer, std::uint32_t *at_more) noexcept
{
	for (std::size_t i = 0; i < hashes.size(); ++i) {
		RendezvousBid best = HighestBid(more.seeds, 0, fewer.count, hashes[i]);
		at_fewer[i] = more.nodes[best.at];
		if (fewer.count < more.count) {
			const RendezvousBid late = HighestBid(more.seeds, fewer.count, more.count, hashes[i]);
			best = late.score > best.score ? late : best;
		}
		at_more[i] = more.nodes[best.at];
	}
}

bool PlaceByRendezvous(const TallyPair &pair, std::span<const std::uint64_t> hashes,
	std::uint32_t *from, std::uint32_t *to) noexcept
{
	if (pair.before->strategy != Strategy::kRendezvous ||
		pair.after->strategy != Strategy::kRendezvous)
		return false;
	const Rendezvous before = RendezvousOf(*pair.before);
	const Rendezvous after = RendezvousOf(*pair.after);
	if (IsPrefix(before, after))
		ElectBoth(hashes, before, after, from, to);
	else if (IsPrefix(after, before))
		ElectBoth(hashes, after, before, to, from);
	else
		return false;
	return true;
}

void PlacePair(const TallyPair &pair, std::span<const std::uint64_t> hashes, std::uint32_t *from,
	std::uint32_t *to) noexcept
{
	if (pair.after == nullptr) {
		PlaceBatch(*pair.before, hashes, from);
		std::fill_n(to, hashes.size(), 0);
	} else if (pair.before->strategy == Strategy::kJump &&
			   pair.after->strategy == Strategy::kJump) {
		if (pair.before->nodes <= pair.after->nodes)
			JumpBoth(hashes, pair.before->nodes, pair.after->nodes, from, to);
		else
			JumpBoth(hashes, pair.after->nodes, pair.before->nodes, to, from);
	} else if (!PlaceByRendezvous(pair, hashes, from, to)) {
		PlaceBatch(*pair.before, hashes, from);
		PlaceBatch(*pair.after, hashes, to);
	}
}

void SortByName(const CompiledLayout &layout, std::span<std::int32_t> nodes) noexcept
{
	std::iota(nodes.begin(), nodes.end(), 0);
	std::sort(nodes.begin(), nodes.end(), [&](std::int32_t one, std::int32_t other) {
		return NodeName(layout, one) < NodeName(layout, other);
	});
}

} // namespace

void MatchNodes(
	const TallyPair &pair, std::span<std::int32_t> same, std::span<std::int32_t> scratch) noexcept
{
	const auto before = scratch.first(static_cast<std::size_t>(pair.before->nodes));
	const auto after = scratch.subspan(before.size(), static_cast<std::size_t>(pair.after->nodes));
	SortByName(*pair.before, before);
	SortByName(*pair.after, after);
	auto other = after.begin();
	for (const std::int32_t node : before) {
		const std::string_view name = NodeName(*pair.before, node);
		while (other != after.end() && NodeName(*pair.after, *other) < name)
			++other;
		const bool stays = other != after.end() && NodeName(*pair.after, *other) == name;
		same[static_cast<std::size_t>(node)] = stays ? *other : -1;
	}
}

void PlaceBatch(const CompiledLayout &layout, std::span<const std::uint64_t> hashes,
	std::uint32_t *nodes) noexcept
{
	switch (layout.strategy) {
	case Strategy::kModulo:
		return ForEach(
			hashes, nodes, [&](std::uint64_t hash) { return Remainder(hash, layout.divisor); });
	case Strategy::kSlots: {
		const auto *owners = BlockArray<std::uint16_t>(layout, layout.owners);
		return ForEach(hashes, nodes,
			[&](std::uint64_t hash) { return owners[Remainder(hash, layout.divisor)]; });
	}
	case Strategy::kRing: {
		const Ring ring = RingOf(layout);
		return ForEach(hashes, nodes, [&](std::uint64_t hash) { return Locate(ring, hash); });
	}
	case Strategy::kRendezvous: {
		const Rendezvous rendezvous = RendezvousOf(layout);
		return ForEach(hashes, nodes, [&](std::uint64_t hash) { return Elect(rendezvous, hash); });
	}
	case Strategy::kJump:
	case Strategy::kRanges:
		return ForEach(hashes, nodes, [&](std::uint64_t hash) { return Place(layout, hash); });
	}
}

std::uint64_t CountBatch(const TallyPair &pair, Flows &flows, std::span<const std::uint64_t> hashes,
	const double *weights, const std::int32_t *same) noexcept
{
	assert(hashes.size() <= kTallyBatch);
	std::uint32_t from[kTallyBatch] = {};
	std::uint32_t to[kTallyBatch] = {};
	PlacePair(pair, hashes, from, to);

	if (IsDense(flows.before, flows.after))
		for (std::size_t i = 0; i < hashes.size(); ++i)
			++flows.cells[from[i] * flows.after + to[i]].rows;
	else
		for (std::size_t i = 0; i < hashes.size(); ++i)
			++FlowAt(flows, from[i], to[i]).rows;

	if (weights != nullptr)
		for (std::size_t i = 0; i < hashes.size(); ++i)
			FlowAt(flows, from[i], to[i]).weight += weights[i];

	std::uint64_t moved = 0;
	if (same != nullptr)
		for (std::size_t i = 0; i < hashes.size(); ++i)
			moved += same[from[i]] != static_cast<std::int32_t>(to[i]) ? 1 : 0;
	return moved;
}

} // namespace shardkit
