/* From a layout's value to its canonical text. */
#ifndef SHARDKIT_CORE_LAYOUT_TEXT_HPP
#define SHARDKIT_CORE_LAYOUT_TEXT_HPP

#include <cstddef>
#include <span>

#include "core/place/layout.hpp"

namespace shardkit
{

/*
 * Writes the canonical text of a layout as far as room reaches and answers its whole length, so that
 * a first call with no room measures. Equal layouts have equal texts. What a count, a deal or a
 * default says is not written out; a ring's vnodes and a number of slots always are.
 */
std::size_t FormatLayout(Layout &layout, std::span<char> room) noexcept;

} // namespace shardkit

#endif
