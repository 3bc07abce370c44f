#include "core/place/layout_change.hpp"

#include <algorithm>

#include "core/place/layout_parse.hpp"

namespace shardkit
{

namespace
{

constexpr const char *kNotLast = "only the last node of this strategy can be removed";

/* The rule itself, without nodes and slots. */
void CopyRule(const Layout &from, Layout &to) noexcept
{
	to.strategy = from.strategy;
	to.token_hash = from.token_hash;
	to.vnodes = from.vnodes;
}

/* Slots of nodes beyond their worth go to the newcomer, the highest first. */
void HandOver(Layout &layout, std::size_t newcomer) noexcept
{
	Apportion(layout, static_cast<std::int32_t>(layout.owners.size()));
	std::int32_t wanted = layout.quotas[newcomer].slots;
	for (auto slot = layout.owners.size(); slot-- > 0 && wanted > 0;) {
		Quota &donor = layout.quotas[layout.owners[slot]];
		if (donor.has <= donor.slots)
			continue;
		layout.owners[slot] = static_cast<std::uint16_t>(newcomer);
		--donor.has;
		--wanted;
	}
}

/* Slots without an owner go to nodes below their worth, in node order. */
void TakeOver(Layout &layout) noexcept
{
	Apportion(layout, static_cast<std::int32_t>(layout.owners.size()));
	std::size_t receiver = 0;
	for (auto &owner : layout.owners) {
		if (owner != kNoOwner)
			continue;
		while (layout.quotas[receiver].has >= layout.quotas[receiver].slots)
			++receiver;
		owner = static_cast<std::uint16_t>(receiver);
		++layout.quotas[receiver].has;
	}
}

const char *SplitSlots(std::size_t node, std::size_t newcomer, Layout &to) noexcept
{
	auto give = std::count(to.owners.begin(), to.owners.end(), node) / 2;
	if (give == 0)
		return "node has fewer than two slots to split";
	for (auto slot = to.owners.size(); slot-- > 0 && give > 0;)
		if (to.owners[slot] == node) {
			to.owners[slot] = static_cast<std::uint16_t>(newcomer);
			--give;
		}
	return nullptr;
}

/* The newcomer, which lies last, goes to the middle of the node's part. */
const char *SplitRange(std::size_t node, Layout &to) noexcept
{
	const std::size_t newcomer = to.nodes.size() - 1;
	const std::uint64_t start = to.nodes[node].start;
	const std::uint64_t last = (node + 1 < newcomer ? to.nodes[node + 1].start : 0) - 1;
	if (last == start)
		return "range of one hash cannot be split";
	to.nodes[newcomer].start = start + (last - start) / 2 + 1;
	std::rotate(to.nodes.begin() + static_cast<std::ptrdiff_t>(node) + 1,
		to.nodes.begin() + static_cast<std::ptrdiff_t>(newcomer), to.nodes.end());
	return nullptr;
}

/* Copies rule, slots and nodes, and appends one. */
const char *Append(
	const Layout &from, std::string_view name, std::int64_t weight, Layout &to) noexcept
{
	if (name.empty())
		return "name of a node must not be empty";
	if (from.nodes.size() >= static_cast<std::size_t>(kMaxNodes))
		return "more than 65535 nodes";
	if (FindNode(from, name) >= 0)
		return "layout has a node of that name already";
	CopyRule(from, to);
	std::copy(from.owners.begin(), from.owners.end(), to.owners.begin());
	std::copy(from.nodes.begin(), from.nodes.end(), to.nodes.begin());
	to.nodes.back() = {name, weight, 0, 0};
	return nullptr;
}

} // namespace

const char *AddNode(
	const Layout &from, std::string_view name, std::int64_t weight, Layout &to) noexcept
{
	if (weight != kWeightOne && !TakesWeights(from.strategy))
		return "this strategy knows no weights";
	if (const char *message = Append(from, name, weight, to))
		return message;
	if (to.strategy == Strategy::kSlots)
		HandOver(to, to.nodes.size() - 1);
	return FinishLayout(to, to.strategy == Strategy::kRanges).message;
}

const char *SplitNode(
	const Layout &from, std::size_t node, std::string_view new_name, Layout &to) noexcept
{
	if (from.strategy != Strategy::kSlots && from.strategy != Strategy::kRanges)
		return "only slots and ranges can be split";
	if (const char *message = Append(from, new_name, from.nodes[node].weight, to))
		return message;
	const char *message = to.strategy == Strategy::kSlots
							  ? SplitSlots(node, to.nodes.size() - 1, to)
							  : SplitRange(node, to);
	return message != nullptr ? message : FinishLayout(to, false).message;
}

const char *RemoveNode(const Layout &from, std::size_t node, Layout &to) noexcept
{
	const bool ordered = from.strategy == Strategy::kModulo || from.strategy == Strategy::kJump;
	if (from.nodes.size() == 1)
		return "layout must keep a node";
	if (ordered && node + 1 != from.nodes.size())
		return kNotLast;
	CopyRule(from, to);
	for (std::size_t i = 0; i < to.nodes.size(); ++i)
		to.nodes[i] = from.nodes[i < node ? i : i + 1];
	for (std::size_t slot = 0; slot < to.owners.size(); ++slot) {
		const std::uint16_t owner = from.owners[slot];
		to.owners[slot] = owner == node ? kNoOwner : owner > node ? owner - 1 : owner;
	}
	if (to.strategy == Strategy::kSlots)
		TakeOver(to);
	return FinishLayout(to, to.strategy == Strategy::kRanges).message;
}

} // namespace shardkit
