/* What a layout's text may say of one node: its slots, or where its range starts. */
#include "core/place/layout_descent.hpp"

namespace shardkit
{

namespace
{

/* "17" or "0-8": slots of the node just read. */
bool ReadSlotRange(Descent &descent) noexcept
{
	const std::size_t at = descent.scan.at;
	const auto first = ScanNumber(descent.scan, kMaxSlots - 1);
	if (!first)
		return Fail(descent.scan, "slot number expected, from 0 to 1048575", at);
	std::int64_t last = *first;
	if (Accept(descent.scan, '-')) {
		const auto end = ScanNumber(descent.scan, kMaxSlots - 1);
		if (!end)
			return Fail(descent.scan, "slot number expected, from 0 to 1048575", at);
		if (*end < *first)
			return Fail(descent.scan, "slot range must end at or after its start", at);
		last = *end;
	}
	if (descent.layout == nullptr)
		return true;
	const auto owners = descent.layout->owners;
	if (last >= static_cast<std::int64_t>(owners.size()))
		return Fail(descent.scan, "slot number is not below the number of slots", at);
	for (auto slot = static_cast<std::size_t>(*first); slot <= static_cast<std::size_t>(last);
		 ++slot) {
		if (owners[slot] != kNoOwner)
			return Fail(descent.scan, "slot has an owner already", at);
		owners[slot] = static_cast<std::uint16_t>(descent.nodes);
	}
	return true;
}

bool ReadSlots(Descent &descent) noexcept
{
	SkipSpace(descent.scan);
	if (Accept(descent.scan, ']'))
		return true;
	do {
		SkipSpace(descent.scan);
		if (!ReadSlotRange(descent))
			return false;
		SkipSpace(descent.scan);
	} while (Accept(descent.scan, ','));
	return Expect(descent.scan, ']', "\",\" or \"]\" expected");
}

bool ReadStart(Descent &descent, LayoutNode &node) noexcept
{
	const std::size_t at = descent.scan.at;
	const auto start = ScanHash(descent.scan);
	if (!start)
		return Fail(descent.scan, "start of a range expected: 16 hexadecimal digits", at);
	node.start = *start;
	if (descent.layout == nullptr)
		return true;
	if (descent.nodes == 0 ? *start != 0 : *start <= descent.layout->nodes[descent.nodes - 1].start)
		return Fail(descent.scan, "ranges must start at 0 and ascend", at);
	return true;
}

} // namespace

bool ReadPart(Descent &descent, LayoutNode &node) noexcept
{
	const std::size_t at = descent.scan.at;
	const bool has_slots = descent.strategy == Strategy::kSlots && Accept(descent.scan, '[');
	const bool has_start =
		!has_slots && descent.strategy == Strategy::kRanges && Accept(descent.scan, '@');
	const bool written = has_slots || has_start;
	if (descent.nodes > 0 && written != descent.assigned)
		return Fail(descent.scan, "every node needs its part written out, or none", at);
	descent.assigned = written;
	if (has_slots)
		return ReadSlots(descent);
	return !has_start || ReadStart(descent, node);
}

} // namespace shardkit
