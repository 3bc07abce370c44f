#include "core/place/compiled_layout.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/place/mix.hpp"

namespace shardkit
{

namespace
{

/* Strategies that the look-up knows: uneven ranges are a ring whose tokens are their last hashes. */
Strategy LookUpOf(const Layout &layout) noexcept
{
	const bool uneven = layout.strategy == Strategy::kRanges && !AreEvenRanges(layout);
	return uneven ? Strategy::kRing : layout.strategy;
}

std::size_t CountGroups(const Layout &layout, std::span<const RingToken> seeds) noexcept
{
	std::size_t groups = 0;
	for (std::size_t i = 0; i < seeds.size(); ++i)
		if (i == 0 || layout.nodes[seeds[i].node].weight != layout.nodes[seeds[i - 1].node].weight)
			++groups;
	return groups;
}

/* Where each array of the block starts. */
CompiledLayout Plan(const Layout &layout, std::size_t tokens) noexcept
{
	constexpr std::size_t kAlign = 8;
	CompiledLayout plan = {};
	std::uint64_t at = sizeof(CompiledLayout);
	const auto place = [&at](std::uint64_t &offset, std::size_t bytes) {
		offset = at;
		at += (bytes + kAlign - 1) / kAlign * kAlign;
	};
	std::size_t names = 0;
	for (const auto &node : layout.nodes)
		names += node.name.size();
	plan.strategy = LookUpOf(layout);
	plan.origin = layout.strategy;
	plan.nodes = static_cast<std::int32_t>(layout.nodes.size());
	plan.tokens = tokens;
	if (plan.strategy == Strategy::kRing) {
		place(plan.hashes, RingTokenEntries(tokens) * sizeof(std::uint64_t));
		place(plan.owners, RingTokenEntries(tokens) * sizeof(std::uint16_t));
		place(plan.index, RingIndexEntries(tokens) * sizeof(std::uint32_t));
	} else if (plan.strategy == Strategy::kRendezvous) {
		place(plan.hashes, tokens * sizeof(std::uint64_t));
		place(plan.owners, tokens * sizeof(std::uint16_t));
		place(plan.index, tokens * sizeof(std::uint16_t));
		place(plan.groups, tokens * sizeof(RendezvousGroup));
	} else if (plan.strategy == Strategy::kSlots) {
		place(plan.owners, layout.owners.size() * sizeof(std::uint16_t));
	}
	place(plan.name_ends, layout.nodes.size() * sizeof(std::uint32_t));
	place(plan.names, names);
	plan.bytes = at;
	return plan;
}

template <typename Item>
std::span<Item> Array(CompiledLayout &block, std::uint64_t offset, std::size_t count) noexcept
{
	return {reinterpret_cast<Item *>(reinterpret_cast<char *>(&block) + offset), count};
}

void FillNames(const Layout &layout, CompiledLayout &block) noexcept
{
	const auto ends = Array<std::uint32_t>(block, block.name_ends, layout.nodes.size());
	char *names = Array<char>(block, block.names, 0).data();
	std::uint32_t at = 0;
	for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
		const std::string_view name = layout.nodes[i].name;
		std::memcpy(names + at, name.data(), name.size());
		at += static_cast<std::uint32_t>(name.size());
		ends[i] = at;
	}
}

void FillTokens(const Layout &layout, std::span<RingToken> tokens, CompiledLayout &block) noexcept
{
	SortTokens(tokens, layout.rank);
	block.shift = 64 - RingIndexBits(tokens.size());
	FillRing(tokens, Array<std::uint64_t>(block, block.hashes, RingTokenEntries(tokens.size())),
		Array<std::uint16_t>(block, block.owners, RingTokenEntries(tokens.size())),
		Array<std::uint32_t>(block, block.index, RingIndexEntries(tokens.size())));
}

void FillSeeds(const Layout &layout, std::span<RingToken> seeds, CompiledLayout &block) noexcept
{
	std::sort(seeds.begin(), seeds.end(), [&](const RingToken &left, const RingToken &right) {
		const std::int64_t one = layout.nodes[left.node].weight;
		const std::int64_t other = layout.nodes[right.node].weight;
		return one != other ? one < other : layout.rank[left.node] < layout.rank[right.node];
	});
	const auto hashes = Array<std::uint64_t>(block, block.hashes, seeds.size());
	const auto owners = Array<std::uint16_t>(block, block.owners, seeds.size());
	const auto ranks = Array<std::uint16_t>(block, block.index, seeds.size());
	block.group_count = static_cast<std::uint32_t>(CountGroups(layout, seeds));
	const auto groups = Array<RendezvousGroup>(block, block.groups, block.group_count);
	std::size_t group = 0;
	for (std::size_t i = 0; i < seeds.size(); ++i) {
		const double weight = WeightNumber(layout.nodes[seeds[i].node].weight);
		if (i > 0 && weight != groups[group].weight)
			++group;
		hashes[i] = Fmix64Begin(seeds[i].hash);
		owners[i] = seeds[i].node;
		ranks[i] = layout.rank[seeds[i].node];
		groups[group] = {weight, static_cast<std::uint32_t>(i + 1)};
	}
}

} // namespace

std::size_t CompileTokens(const Layout &layout) noexcept
{
	const Strategy look_up = LookUpOf(layout);
	if (layout.strategy == Strategy::kRing)
		return static_cast<std::size_t>(CountTokens(layout));
	return look_up == Strategy::kRing || look_up == Strategy::kRendezvous ? layout.nodes.size() : 0;
}

std::size_t CompiledBytes(const Layout &layout, std::size_t tokens) noexcept
{
	return Plan(layout, tokens).bytes;
}

void RangeTokens(const Layout &layout, std::span<RingToken> tokens) noexcept
{
	for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
		const bool last = i + 1 == layout.nodes.size();
		tokens[i] = {(last ? 0 : layout.nodes[i + 1].start) - 1, static_cast<std::uint16_t>(i)};
	}
}

const CompiledLayout *CompileLayout(
	const Layout &layout, std::span<RingToken> tokens, void *memory) noexcept
{
	assert(tokens.size() == CompileTokens(layout));
	auto &block = *static_cast<CompiledLayout *>(memory);
	block = Plan(layout, tokens.size());
	block.divisor = MakeDivisor(
		layout.strategy == Strategy::kSlots ? layout.owners.size() : layout.nodes.size());
	if (block.strategy == Strategy::kRing)
		FillTokens(layout, tokens, block);
	else if (block.strategy == Strategy::kRendezvous)
		FillSeeds(layout, tokens, block);
	else if (block.strategy == Strategy::kSlots)
		std::copy(layout.owners.begin(), layout.owners.end(),
			Array<std::uint16_t>(block, block.owners, layout.owners.size()).begin());
	FillNames(layout, block);
	return &block;
}

} // namespace shardkit
