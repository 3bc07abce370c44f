#include "core/place/layout_share.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace shardkit
{

namespace
{

constexpr double kHashes = 0x1p64;

/* The hash space as intervals in order: interval i ends at End(i), inclusive, and has one owner. */
struct Intervals {
	explicit Intervals(const CompiledLayout &compiled) noexcept
		: ring(RingOf(compiled)), parts(compiled.divisor.value),
		  even(compiled.strategy == Strategy::kRanges)
	{
	}
	/* A ring's guard is the interval behind its last token. */
	std::uint64_t End(std::size_t i) const noexcept
	{
		if (!even)
			return ring.tokens[i];
		return i + 1 == parts ? ~std::uint64_t{0} : EvenPartStart(i + 1, parts) - 1;
	}
	std::size_t Owner(std::size_t i) const noexcept
	{
		return even ? i : ring.nodes[i];
	}
	Ring ring;
	std::uint64_t parts;
	bool even;
};

bool HasIntervals(const CompiledLayout &compiled) noexcept
{
	return compiled.origin == Strategy::kRing || compiled.origin == Strategy::kRanges;
}

bool HasPeriod(const CompiledLayout &compiled) noexcept
{
	return compiled.origin == Strategy::kModulo || compiled.origin == Strategy::kSlots;
}

/* Hashes from start to end, inclusive, as a part of all. */
double Part(std::uint64_t start, std::uint64_t end) noexcept
{
	return (static_cast<double>(end - start) + 1.0) / kHashes;
}

void IntervalShares(const CompiledLayout &compiled, std::span<double> shares) noexcept
{
	const Intervals intervals(compiled);
	std::uint64_t start = 0;
	for (std::size_t i = 0;; ++i) {
		const std::uint64_t end = intervals.End(i);
		if (end < start)
			continue; /* an equal token, never reached */
		shares[intervals.Owner(i)] += Part(start, end);
		if (end == ~std::uint64_t{0})
			return;
		start = end + 1;
	}
}

/* The new layout's nodes as node numbers of the old one, -1 where a name is missing there. */
void MatchNodes(const Layout &before, const Layout &after, std::span<std::int32_t> numbers) noexcept
{
	for (std::size_t i = 0; i < after.nodes.size(); ++i)
		numbers[i] = FindNode(before, after.nodes[i].name);
}

double KeptIntervals(const CompiledLayout &before, const CompiledLayout &after,
	std::span<const std::int32_t> numbers) noexcept
{
	const Intervals left(before);
	const Intervals right(after);
	Uint128 kept = 0;
	std::size_t i = 0;
	std::size_t j = 0;
	std::uint64_t start = 0;
	while (true) {
		while (left.End(i) < start)
			++i;
		while (right.End(j) < start)
			++j;
		const std::uint64_t end = std::min(left.End(i), right.End(j));
		if (numbers[right.Owner(j)] == static_cast<std::int32_t>(left.Owner(i)))
			kept += static_cast<Uint128>(end - start) + 1;
		if (end == ~std::uint64_t{0})
			return static_cast<double>(kept) / kHashes;
		start = end + 1;
	}
}

/*
 * Two remainders go together when they are equal modulo the greatest common divisor, each such pair
 * equally often: within each class the slots of one side meet all of the other.
 */
double KeptPeriods(const CompiledLayout &before, const CompiledLayout &after,
	std::span<const std::int32_t> numbers, std::span<std::int64_t> counts) noexcept
{
	const std::uint64_t left = before.divisor.value;
	const std::uint64_t right = after.divisor.value;
	const std::uint64_t common = std::gcd(left, right);
	assert(common > 0);
	std::fill(counts.begin(), counts.end(), 0);
	std::int64_t kept = 0;
	for (std::uint64_t part = 0; part < common; ++part) {
		for (std::uint64_t slot = part; slot < left; slot += common)
			++counts[static_cast<std::size_t>(Place(before, slot))];
		for (std::uint64_t slot = part; slot < right; slot += common) {
			const std::int32_t node = numbers[static_cast<std::size_t>(Place(after, slot))];
			kept += node < 0 ? 0 : counts[static_cast<std::size_t>(node)];
		}
		for (std::uint64_t slot = part; slot < left; slot += common)
			counts[static_cast<std::size_t>(Place(before, slot))] = 0;
	}
	return static_cast<double>(kept) /
		   (static_cast<double>(left / common) * static_cast<double>(right));
}

/* From few to many shards a key stays with chance few / many, or goes to any of the new ones. */
double KeptJump(
	std::size_t before, std::size_t after, std::span<const std::int32_t> numbers) noexcept
{
	const std::size_t few = std::min(before, after);
	const std::size_t many = std::max(before, after);
	double kept = 0;
	for (std::size_t i = 0; i < after; ++i) {
		if (numbers[i] < 0)
			continue;
		const auto same = static_cast<std::size_t>(numbers[i]);
		if (same == i)
			kept += 1.0 / static_cast<double>(many);
		else if ((i < few) != (same < few) && (before < after ? i >= few : same >= few))
			kept += 1.0 / (static_cast<double>(few) * static_cast<double>(many));
	}
	return kept;
}

/*
 * Bids are exponential arrivals E / weight with the same E in both layouts, so a node wins both with
 * chance 1 / sum over all nodes of max(before / its before, after / its after). Sorted by after /
 * before, the maximum is the first kind up to the node itself and the second kind behind it.
 */
double KeptRendezvous(const Layout &before, const Layout &after,
	std::span<const std::int32_t> numbers, std::span<WeightPair> room) noexcept
{
	std::size_t count = before.nodes.size();
	for (std::size_t i = 0; i < count; ++i)
		room[i] = {before.nodes[i].weight, 0};
	for (std::size_t i = 0; i < after.nodes.size(); ++i) {
		if (numbers[i] >= 0)
			room[static_cast<std::size_t>(numbers[i])].after = after.nodes[i].weight;
		else
			room[count++] = {0, after.nodes[i].weight};
	}
	const auto pairs = room.first(count);
	std::sort(pairs.begin(), pairs.end(), [](const WeightPair &one, const WeightPair &other) {
		return static_cast<Uint128>(one.after) * static_cast<std::uint64_t>(other.before) <
			   static_cast<Uint128>(other.after) * static_cast<std::uint64_t>(one.before);
	});
	double upto = 0;
	double behind = 0;
	for (const auto &pair : pairs)
		behind += static_cast<double>(pair.after);
	double kept = 0;
	for (const auto &pair : pairs) {
		const auto first = static_cast<double>(pair.before);
		const auto second = static_cast<double>(pair.after);
		upto += first;
		behind -= second;
		if (pair.before > 0 && pair.after > 0)
			kept += 1.0 / (upto / first + behind / second);
	}
	return kept;
}

double KeptIndependent(const LayoutPair &before, const LayoutPair &after,
	std::span<const std::int32_t> numbers, std::span<double> shares) noexcept
{
	const auto left = shares.first(before.layout.nodes.size());
	const auto right = shares.subspan(left.size(), after.layout.nodes.size());
	NodeShares(before, left);
	NodeShares(after, right);
	double kept = 0;
	for (std::size_t i = 0; i < right.size(); ++i)
		if (numbers[i] >= 0)
			kept += left[static_cast<std::size_t>(numbers[i])] * right[i];
	return kept;
}

} // namespace

void NodeShares(const LayoutPair &pair, std::span<double> shares) noexcept
{
	const auto &nodes = pair.layout.nodes;
	assert(shares.size() == nodes.size());
	std::fill(shares.begin(), shares.end(), 0.0);
	if (HasIntervals(pair.compiled))
		return IntervalShares(pair.compiled, shares);
	if (pair.layout.strategy == Strategy::kSlots) {
		for (const auto owner : pair.layout.owners)
			shares[owner] += 1.0;
		for (auto &share : shares)
			share /= static_cast<double>(pair.layout.owners.size());
		return;
	}
	double weights = 0;
	for (const auto &node : nodes)
		weights += static_cast<double>(node.weight);
	for (std::size_t i = 0; i < nodes.size(); ++i)
		shares[i] = static_cast<double>(nodes[i].weight) / weights;
}

double KeptShare(const LayoutPair &before, const LayoutPair &after, const ChurnRoom &room) noexcept
{
	const auto numbers = room.numbers.first(after.layout.nodes.size());
	MatchNodes(before.layout, after.layout, numbers);
	if (HasIntervals(before.compiled) && HasIntervals(after.compiled))
		return KeptIntervals(before.compiled, after.compiled, numbers);
	if (HasPeriod(before.compiled) && HasPeriod(after.compiled))
		return KeptPeriods(before.compiled, after.compiled, numbers, room.counts);
	if (before.layout.strategy == Strategy::kJump && after.layout.strategy == Strategy::kJump)
		return KeptJump(before.layout.nodes.size(), after.layout.nodes.size(), numbers);
	if (before.layout.strategy == Strategy::kRendezvous &&
		after.layout.strategy == Strategy::kRendezvous)
		return KeptRendezvous(before.layout, after.layout, numbers, room.weights);
	return KeptIndependent(before, after, numbers, room.shares);
}

} // namespace shardkit
