/* How much of the hash space each node owns, and how much changes owner between two layouts. */
#ifndef SHARDKIT_CORE_LAYOUT_SHARE_HPP
#define SHARDKIT_CORE_LAYOUT_SHARE_HPP

#include <cstdint>
#include <span>

#include "core/place/compiled_layout.hpp"
#include "core/place/layout.hpp"

namespace shardkit
{

/* A layout in both forms. */
struct LayoutPair {
	const Layout &layout;
	const CompiledLayout &compiled;
};

/*
 * Each node's part of the hash space, exact but for the rounding of the sums; rendezvous and jump
 * only mix the bits, so theirs is the expected part.
 */
void NodeShares(const LayoutPair &pair, std::span<double> shares) noexcept;

/* Two weights of one node, 0 where it is missing. */
struct WeightPair {
	std::int64_t before;
	std::int64_t after;
};

/* What KeptShare works in: each span holds as many entries as both layouts have nodes together. */
struct ChurnRoom {
	std::span<double> shares;
	std::span<std::int32_t> numbers;
	std::span<std::int64_t> counts;
	std::span<WeightPair> weights;
};

/*
 * The part of the hash space whose owner has the same name in both layouts. Exact between rings and
 * ranges, and between modulo and slots. Between jumps, and between rendezvous layouts, it is the
 * closed form of their definitions. Different kinds are taken as independent: their mixing makes
 * them so.
 */
double KeptShare(const LayoutPair &before, const LayoutPair &after, const ChurnRoom &room) noexcept;

} // namespace shardkit

#endif
