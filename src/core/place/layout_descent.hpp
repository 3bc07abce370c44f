/* The state of reading a layout's text, shared by the parser's files. */
#ifndef SHARDKIT_CORE_LAYOUT_DESCENT_HPP
#define SHARDKIT_CORE_LAYOUT_DESCENT_HPP

#include <cstddef>
#include <cstdint>

#include "core/place/layout.hpp"
#include "core/place/layout_scan.hpp"

namespace shardkit
{

/*
 * One descent serves both passes: the first only counts what the second stores. A fault ends it;
 * every step then answers false.
 */
struct Descent {
	LayoutScan scan;
	Layout *layout; /* nullptr in the first pass */
	Strategy strategy;
	Algorithm token_hash;
	std::int64_t vnodes;
	std::int64_t slots;
	std::size_t nodes;
	std::size_t names;
	bool assigned; /* slots or ranges written out for every node */
	bool has_vnodes;
	bool has_hash;
	bool has_slots;
};

/*
 * Reads what is written out of a node's part, if anything: its slots in brackets, or the first hash of
 * its range. All nodes of a layout have theirs written out, or none.
 */
bool ReadPart(Descent &descent, LayoutNode &node) noexcept;

} // namespace shardkit

#endif
