/* The value behind the SQL type layout: a whole placement rule with its nodes. */
#ifndef SHARDKIT_CORE_LAYOUT_HPP
#define SHARDKIT_CORE_LAYOUT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/place/algorithm.hpp"
#include "core/place/reduce.hpp"

namespace shardkit
{

enum class Strategy : std::uint8_t { kModulo, kJump, kRing, kRendezvous, kSlots, kRanges };

inline constexpr std::array<std::string_view, 6> kStrategyWords = {
	"modulo", "jump", "ring", "rendezvous", "slots", "ranges"};

constexpr std::string_view StrategyWord(Strategy strategy) noexcept
{
	return kStrategyWords[static_cast<std::size_t>(strategy)];
}

/* Bounds of what one layout may hold, so that no text asks for all memory. */
inline constexpr std::int64_t kMaxNodes = 65535; /* node indexes fit 16 bits, with one to spare */
inline constexpr std::int64_t kMaxSlots = 1 << 20;
inline constexpr std::int64_t kMaxTokens = 1 << 22;
inline constexpr std::int64_t kDefaultVnodes = 128;
inline constexpr std::int64_t kDefaultSlots = 1024;

/* Weights are counted in billionths: exact decimals, the same everywhere. */
inline constexpr std::int64_t kWeightOne = 1'000'000'000;
inline constexpr std::int64_t kMaxWeight = 100'000 * kWeightOne;

inline constexpr std::uint16_t kNoOwner = 0xffff;

struct LayoutNode {
	std::string_view name;
	std::int64_t weight;
	std::uint64_t start; /* ranges: the first hash of its part */
	std::uint32_t at;    /* where its name stood in the text */
};

/* One node's part when slots are dealt by weight. */
struct Quota {
	std::uint64_t remainder;
	std::int32_t slots;
	std::int32_t has;
	std::uint16_t node;
};

/*
 * Order of nodes: as written, except that ring and rendezvous, which do not depend on it, keep
 * names in byte order, or node-0 .. node-(n-1) in that of their numbers.
 */
struct Layout {
	Strategy strategy;
	Algorithm token_hash; /* ring */
	std::int32_t vnodes;  /* ring */
	std::span<LayoutNode> nodes;
	std::span<std::uint16_t> by_name; /* node indexes in byte order of names */
	std::span<std::uint16_t> rank;    /* each node's position in by_name */
	std::span<std::uint16_t> owners;  /* slots: the node of each */
	std::span<Quota> quotas;          /* room for a deal, one a node */
	std::span<std::uint32_t> chain;   /* room for a list of each node's slots, one a slot */
	std::span<char> names;            /* where names lie that are not in the text */
	std::size_t names_used;
};

/* How much room a layout needs. */
struct LayoutNeeds {
	std::size_t nodes;
	std::size_t names;
	std::size_t slots;
};

constexpr std::size_t LayoutBytes(const LayoutNeeds &needs) noexcept
{
	return needs.nodes * (sizeof(LayoutNode) + sizeof(Quota) + 2 * sizeof(std::uint16_t)) +
		   needs.slots * (sizeof(std::uint32_t) + sizeof(std::uint16_t)) + needs.names;
}

/* An empty layout over memory of LayoutBytes(needs) bytes, aligned for LayoutNode. */
Layout LayoutOver(const LayoutNeeds &needs, void *memory) noexcept;

/* Does the rule know weights? */
constexpr bool TakesWeights(Strategy strategy) noexcept
{
	return strategy == Strategy::kRing || strategy == Strategy::kRendezvous ||
		   strategy == Strategy::kSlots;
}

/* Tokens of a node of a ring: vnodes * weight, halves rounded up, at least one. */
constexpr std::int64_t TokensOf(std::int32_t vnodes, std::int64_t weight) noexcept
{
	const auto exact = static_cast<Uint128>(vnodes) * static_cast<std::uint64_t>(weight);
	const auto rounded = static_cast<std::int64_t>((exact + kWeightOne / 2) / kWeightOne);
	return rounded < 1 ? 1 : rounded;
}

/* Sum of a ring's tokens, or kMaxTokens + 1 when there are more than allowed. */
std::int64_t CountTokens(const Layout &layout) noexcept;

/* A weight as a number: one correctly rounded division. */
constexpr double WeightNumber(std::int64_t weight) noexcept
{
	return static_cast<double>(weight) / static_cast<double>(kWeightOne);
}

/* Copies a name into the layout's own room and answers the copy. */
std::string_view KeepName(Layout &layout, std::string_view name) noexcept;

/* Writes "node-<number>" into the layout's own room: what a count stands for. */
std::string_view KeepNumberedName(Layout &layout, std::uint32_t number) noexcept;

/*
 * Sorts by_name and, where the rule allows it, the nodes. Answers the index of a node whose name
 * another one has too, or -1.
 */
std::int32_t OrderNodes(Layout &layout) noexcept;

/* Are the nodes node-0 .. node-(n-1), in this order, without weights? */
bool IsNumbered(const Layout &layout) noexcept;

/* The node of that name, or -1. The nodes are ordered. */
std::int32_t FindNode(const Layout &layout, std::string_view name) noexcept;

/* Draws the bounds of ranges evenly. */
void DrawEvenRanges(Layout &layout) noexcept;

/* Are the bounds of ranges the even ones? */
bool AreEvenRanges(const Layout &layout) noexcept;

/*
 * Fills quotas: each node's whole number of slots by weight, the largest remainders rounded up; of
 * equal ones the node that has more slots already, then the earlier one.
 */
void Apportion(Layout &layout, std::int32_t slots) noexcept;

/* Deals all slots contiguously, in node order, by weight. */
void DealSlots(Layout &layout) noexcept;

/* Does the deal by weight give the owners that the slots have? */
bool IsDealt(Layout &layout) noexcept;

} // namespace shardkit

#endif
