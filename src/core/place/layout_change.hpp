/* Layouts that grow and shrink, each by its strategy's own rule. */
#ifndef SHARDKIT_CORE_LAYOUT_CHANGE_HPP
#define SHARDKIT_CORE_LAYOUT_CHANGE_HPP

#include <cstdint>
#include <string_view>

#include "core/place/layout.hpp"

namespace shardkit
{

/*
 * Each fills `to`, which has room for one node more or less and the same slots, and answers nullptr,
 * or else what forbids the change. Names stay where they are: `to` lives no longer than `from` and
 * the name given.
 */

/*
 * Slots: the newcomer gets as many whole slots as its weight is worth, each from a node that has more
 * than its own worth, and no other slot moves. Ring and rendezvous: one node more. Modulo and jump:
 * appended. Ranges: appended, and all bounds drawn anew.
 */
const char *AddNode(
	const Layout &from, std::string_view name, std::int64_t weight, Layout &to) noexcept;

/* Slots and ranges: the upper half of one node's part goes to a new node of the same weight. */
const char *SplitNode(
	const Layout &from, std::size_t node, std::string_view new_name, Layout &to) noexcept;

/*
 * Slots: only the leaver's slots move, to the nodes that have less than they are worth. Modulo and
 * jump: only the last node can go. Ranges: all bounds are drawn anew.
 */
const char *RemoveNode(const Layout &from, std::size_t node, Layout &to) noexcept;

} // namespace shardkit

#endif
