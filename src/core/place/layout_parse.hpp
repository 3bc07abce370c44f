/* From a layout's text to its value. */
#ifndef SHARDKIT_CORE_LAYOUT_PARSE_HPP
#define SHARDKIT_CORE_LAYOUT_PARSE_HPP

#include <cstddef>
#include <string_view>

#include "core/place/layout.hpp"

namespace shardkit
{

/* What is wrong with a text, and at which byte. A nullptr message: nothing. */
struct LayoutFault {
	const char *message;
	std::size_t at;
};

/* Checks the grammar of text and answers how much room its layout needs. */
LayoutFault MeasureLayout(std::string_view text, LayoutNeeds &needs) noexcept;

/*
 * Reads text, already measured, into a layout over room of that size, and checks what it means.
 * Names that are not quoted stay where they are: the text must live as long as the layout.
 */
LayoutFault ParseLayout(std::string_view text, Layout &layout) noexcept;

/*
 * The same checks for a layout that was put together otherwise: orders the nodes, and deals slots or
 * draws ranges if deal is set. The fault's place is that of the node.
 */
LayoutFault FinishLayout(Layout &layout, bool deal) noexcept;

} // namespace shardkit

#endif
