/* A layout made for look-ups: one flat block that can be copied, and the way from a hash to a node. */
#ifndef SHARDKIT_CORE_COMPILED_LAYOUT_HPP
#define SHARDKIT_CORE_COMPILED_LAYOUT_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/place/jump.hpp"
#include "core/place/layout.hpp"
#include "core/place/reduce.hpp"
#include "core/place/rendezvous.hpp"
#include "core/place/ring.hpp"

namespace shardkit
{

/*
 * Head of the block; its arrays lie behind it and are reached by offset, so that the whole block may
 * be moved or shared. Node indexes are those of the layout.
 */
struct CompiledLayout {
	std::uint64_t bytes; /* of the whole block */
	Divisor divisor;     /* modulo: nodes; slots: slots */
	std::int32_t nodes;
	std::int32_t shift;        /* ring: of its index */
	std::uint32_t group_count; /* rendezvous: distinct weights */
	Strategy strategy;         /* kRanges only when even; others look up as a ring does */
	Strategy origin;           /* the strategy that the layout has */
	std::uint64_t hashes;      /* offset of a ring's tokens or rendezvous's seeds */
	std::uint64_t owners;      /* offset of the node of each token, seed or slot */
	std::uint64_t index;       /* offset of a ring's index or rendezvous's ranks */
	std::uint64_t groups;      /* offset of rendezvous's groups */
	std::uint64_t name_ends;   /* offset of where each node's name ends */
	std::uint64_t names;       /* offset of the names */
	std::uint64_t tokens;      /* ring: how many */
};
static_assert(std::is_trivially_copyable_v<CompiledLayout>);

template <typename Item>
const Item *BlockArray(const CompiledLayout &layout, std::uint64_t offset) noexcept
{
	return reinterpret_cast<const Item *>(reinterpret_cast<const char *>(&layout) + offset);
}

inline Ring RingOf(const CompiledLayout &layout) noexcept
{
	return {BlockArray<std::uint64_t>(layout, layout.hashes),
		BlockArray<std::uint16_t>(layout, layout.owners),
		BlockArray<std::uint32_t>(layout, layout.index), layout.shift};
}

inline Rendezvous RendezvousOf(const CompiledLayout &layout) noexcept
{
	return {BlockArray<std::uint64_t>(layout, layout.hashes),
		BlockArray<std::uint16_t>(layout, layout.owners),
		BlockArray<std::uint16_t>(layout, layout.index),
		BlockArray<RendezvousGroup>(layout, layout.groups), layout.group_count,
		static_cast<std::uint32_t>(layout.nodes)};
}

/* Without different weights two arrays are enough: the whole view is made only for the rare case. */
inline std::int32_t ElectIn(const CompiledLayout &layout, std::uint64_t hash) noexcept
{
	if (layout.group_count > 1)
		return ElectWeighted(RendezvousOf(layout), hash);
	const auto *seeds = BlockArray<std::uint64_t>(layout, layout.hashes);
	const auto nodes = static_cast<std::uint32_t>(layout.nodes);
	return BlockArray<std::uint16_t>(layout, layout.owners)[HighestBid(seeds, 0, nodes, hash).at];
}

/* The index of the node that owns hash, in [0, layout.nodes). */
inline std::int32_t Place(const CompiledLayout &layout, std::uint64_t hash) noexcept
{
	switch (layout.strategy) {
	case Strategy::kModulo:
		return static_cast<std::int32_t>(Remainder(hash, layout.divisor));
	case Strategy::kJump:
		return Jump(hash, layout.nodes);
	case Strategy::kRendezvous:
		return ElectIn(layout, hash);
	case Strategy::kSlots:
		return BlockArray<std::uint16_t>(layout, layout.owners)[Remainder(hash, layout.divisor)];
	case Strategy::kRanges:
		return static_cast<std::int32_t>(EvenPart(hash, layout.divisor.value));
	case Strategy::kRing:
		break;
	}
	return Locate(RingOf(layout), hash);
}

/* The name of a node. */
inline std::string_view NodeName(const CompiledLayout &layout, std::int32_t node) noexcept
{
	const auto *ends = BlockArray<std::uint32_t>(layout, layout.name_ends);
	const std::uint32_t start = node == 0 ? 0 : ends[node - 1];
	return {BlockArray<char>(layout, layout.names) + start, ends[node] - start};
}

/* Hashes that the caller must have ready: tokens of a ring, seeds of rendezvous, bounds of ranges. */
std::size_t CompileTokens(const Layout &layout) noexcept;

/* Bytes of the block of a layout with that many tokens. */
std::size_t CompiledBytes(const Layout &layout, std::size_t tokens) noexcept;

/* The tokens of uneven ranges: a part belongs to the token at its last hash. */
void RangeTokens(const Layout &layout, std::span<RingToken> tokens) noexcept;

/*
 * Fills the block at memory, CompiledBytes long and aligned for 8 bytes. tokens holds, for a ring,
 * every token with its node, for rendezvous one seed a node, in any order; they are sorted here.
 */
const CompiledLayout *CompileLayout(
	const Layout &layout, std::span<RingToken> tokens, void *memory) noexcept;

} // namespace shardkit

#endif
