#include "core/place/layout.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <optional>

#include "core/place/reduce.hpp"

namespace shardkit
{

namespace
{

constexpr std::string_view kNumberedPrefix = "node-";

template <typename Item>
std::span<Item> Take(char *&memory, std::size_t count) noexcept
{
	auto *first = reinterpret_cast<Item *>(memory);
	memory += count * sizeof(Item);
	return {first, count};
}

/* The number of a name like node-17 below limit, written as a count would write it. */
std::optional<std::uint32_t> NumberOf(std::string_view name, std::size_t limit) noexcept
{
	if (!name.starts_with(kNumberedPrefix))
		return std::nullopt;
	std::string_view digits = name;
	digits.remove_prefix(kNumberedPrefix.size());
	std::uint32_t number = 0;
	const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
	if (fault != std::errc{} || end != digits.data() + digits.size() || number >= limit ||
		(digits.size() > 1 && digits[0] == '0'))
		return std::nullopt;
	return number;
}

bool AllNumbered(const Layout &layout) noexcept
{
	return std::all_of(layout.nodes.begin(), layout.nodes.end(), [&](const LayoutNode &node) {
		return node.weight == kWeightOne && NumberOf(node.name, layout.nodes.size());
	});
}

} // namespace

Layout LayoutOver(const LayoutNeeds &needs, void *memory) noexcept
{
	auto *at = static_cast<char *>(memory);
	Layout layout = {};
	layout.nodes = Take<LayoutNode>(at, needs.nodes);
	layout.quotas = Take<Quota>(at, needs.nodes);
	layout.chain = Take<std::uint32_t>(at, needs.slots);
	layout.by_name = Take<std::uint16_t>(at, needs.nodes);
	layout.rank = Take<std::uint16_t>(at, needs.nodes);
	layout.owners = Take<std::uint16_t>(at, needs.slots);
	layout.names = Take<char>(at, needs.names);
	return layout;
}

std::int64_t CountTokens(const Layout &layout) noexcept
{
	std::int64_t tokens = 0;
	for (const auto &node : layout.nodes) {
		tokens += TokensOf(layout.vnodes, node.weight);
		if (tokens > kMaxTokens)
			return kMaxTokens + 1;
	}
	return tokens;
}

std::string_view KeepName(Layout &layout, std::string_view name) noexcept
{
	assert(layout.names_used + name.size() <= layout.names.size());
	char *copy = layout.names.data() + layout.names_used;
	if (!name.empty())
		std::memcpy(copy, name.data(), name.size());
	layout.names_used += name.size();
	return {copy, name.size()};
}

std::string_view KeepNumberedName(Layout &layout, std::uint32_t number) noexcept
{
	char digits[16];
	const auto [end, fault] = std::to_chars(digits, digits + sizeof(digits), number);
	assert(fault == std::errc{});
	const std::string_view prefix = KeepName(layout, kNumberedPrefix);
	const std::string_view rest =
		KeepName(layout, {digits, static_cast<std::size_t>(end - digits)});
	return {prefix.data(), prefix.size() + rest.size()};
}

std::int32_t OrderNodes(Layout &layout) noexcept
{
	const auto nodes = layout.nodes;
	if (layout.strategy == Strategy::kRing || layout.strategy == Strategy::kRendezvous) {
		const bool numbered = AllNumbered(layout);
		const auto limit = nodes.size();
		std::sort(nodes.begin(), nodes.end(), [=](const LayoutNode &left, const LayoutNode &right) {
			return numbered ? *NumberOf(left.name, limit) < *NumberOf(right.name, limit)
							: left.name < right.name;
		});
	}
	for (std::size_t i = 0; i < nodes.size(); ++i)
		layout.by_name[i] = static_cast<std::uint16_t>(i);
	std::sort(
		layout.by_name.begin(), layout.by_name.end(), [=](std::uint16_t left, std::uint16_t right) {
			return nodes[left].name != nodes[right].name ? nodes[left].name < nodes[right].name
														 : left < right;
		});
	std::int32_t repeated = -1;
	for (std::size_t i = 0; i < nodes.size(); ++i) {
		const auto node = layout.by_name[i];
		layout.rank[node] = static_cast<std::uint16_t>(i);
		if (i > 0 && nodes[layout.by_name[i - 1]].name == nodes[node].name)
			repeated = node;
	}
	return repeated;
}

bool IsNumbered(const Layout &layout) noexcept
{
	const auto limit = layout.nodes.size();
	for (std::size_t i = 0; i < limit; ++i)
		if (layout.nodes[i].weight != kWeightOne || NumberOf(layout.nodes[i].name, limit) != i)
			return false;
	return true;
}

std::int32_t FindNode(const Layout &layout, std::string_view name) noexcept
{
	const auto nodes = layout.nodes;
	const auto found = std::lower_bound(layout.by_name.begin(), layout.by_name.end(), name,
		[=](std::uint16_t node, std::string_view wanted) { return nodes[node].name < wanted; });
	return found != layout.by_name.end() && nodes[*found].name == name ? *found : -1;
}

void DrawEvenRanges(Layout &layout) noexcept
{
	for (std::size_t i = 0; i < layout.nodes.size(); ++i)
		layout.nodes[i].start = EvenPartStart(i, layout.nodes.size());
}

bool AreEvenRanges(const Layout &layout) noexcept
{
	for (std::size_t i = 0; i < layout.nodes.size(); ++i)
		if (layout.nodes[i].start != EvenPartStart(i, layout.nodes.size()))
			return false;
	return true;
}

} // namespace shardkit
