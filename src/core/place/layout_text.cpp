#include "core/place/layout_text.hpp"

#include <charconv>

#include "core/place/layout_scan.hpp"

namespace shardkit
{

namespace
{

constexpr std::int32_t kNoSlot = -1;

/* Writes what fits and counts everything. */
struct Writer {
	std::span<char> room;
	std::size_t length;
};

void Put(Writer &writer, char c) noexcept
{
	if (writer.length < writer.room.size())
		writer.room[writer.length] = c;
	++writer.length;
}

void Put(Writer &writer, std::string_view text) noexcept
{
	for (const char c : text)
		Put(writer, c);
}

void PutNumber(Writer &writer, std::int64_t number) noexcept
{
	char digits[24];
	const auto [end, fault] = std::to_chars(digits, digits + sizeof(digits), number);
	Put(writer, std::string_view{digits, static_cast<std::size_t>(end - digits)});
}

void PutHash(Writer &writer, std::uint64_t hash) noexcept
{
	for (int shift = 60; shift >= 0; shift -= 4)
		Put(writer, "0123456789abcdef"[(hash >> shift) & 15]);
}

void PutName(Writer &writer, std::string_view name) noexcept
{
	if (IsBareName(name))
		return Put(writer, name);
	Put(writer, '"');
	for (const char c : name) {
		if (c == '"')
			Put(writer, '"');
		Put(writer, c);
	}
	Put(writer, '"');
}

/* "*1.5"; nothing for the weight 1. */
void PutWeight(Writer &writer, std::int64_t weight) noexcept
{
	if (weight == kWeightOne)
		return;
	Put(writer, '*');
	PutNumber(writer, weight / kWeightOne);
	std::int64_t rest = weight % kWeightOne;
	if (rest > 0)
		Put(writer, '.');
	for (std::int64_t unit = kWeightOne / 10; rest > 0; unit /= 10) {
		Put(writer, static_cast<char>('0' + rest / unit));
		rest %= unit;
	}
}

/*
 * Lists each node's slots in ascending order: its quota has the first, the chain what follows. One
 * pass, since nobody can cancel what is written here.
 */
void ChainSlots(Layout &layout) noexcept
{
	for (auto &quota : layout.quotas)
		quota.has = kNoSlot;
	for (auto slot = static_cast<std::int32_t>(layout.owners.size()); slot-- > 0;) {
		const auto at = static_cast<std::size_t>(slot);
		std::int32_t &first = layout.quotas[layout.owners[at]].has;
		layout.chain[at] = static_cast<std::uint32_t>(first);
		first = slot;
	}
}

void PutRun(Writer &writer, std::size_t start, std::size_t end) noexcept
{
	PutNumber(writer, static_cast<std::int64_t>(start));
	if (end - start == 1)
		return;
	Put(writer, '-');
	PutNumber(writer, static_cast<std::int64_t>(end - 1));
}

void PutSlots(Writer &writer, const Layout &layout, std::size_t node) noexcept
{
	Put(writer, '[');
	bool later = false;
	for (std::int32_t slot = layout.quotas[node].has; slot != kNoSlot;) {
		const auto start = static_cast<std::size_t>(slot);
		std::size_t end = start;
		do
			slot = static_cast<std::int32_t>(layout.chain[end++]);
		while (slot == static_cast<std::int32_t>(end));
		if (later)
			Put(writer, ',');
		PutRun(writer, start, end);
		later = true;
	}
	Put(writer, ']');
}

void PutNodes(Writer &writer, const Layout &layout, bool slots, bool starts) noexcept
{
	for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
		const LayoutNode &node = layout.nodes[i];
		if (i > 0)
			Put(writer, ", ");
		PutName(writer, node.name);
		PutWeight(writer, node.weight);
		if (slots)
			PutSlots(writer, layout, i);
		if (starts) {
			Put(writer, '@');
			PutHash(writer, node.start);
		}
	}
}

void PutOptions(Writer &writer, const Layout &layout) noexcept
{
	if (layout.strategy == Strategy::kRing) {
		Put(writer, "; vnodes=");
		PutNumber(writer, layout.vnodes);
		if (layout.token_hash != Algorithm::kSha256) {
			Put(writer, ", token_hash=");
			Put(writer, AlgorithmName(layout.token_hash));
		}
	}
	if (layout.strategy == Strategy::kSlots) {
		Put(writer, "; slots=");
		PutNumber(writer, static_cast<std::int64_t>(layout.owners.size()));
	}
}

} // namespace

std::size_t FormatLayout(Layout &layout, std::span<char> room) noexcept
{
	Writer writer = {room, 0};
	const bool slots = layout.strategy == Strategy::kSlots && !IsDealt(layout);
	const bool starts = layout.strategy == Strategy::kRanges && !AreEvenRanges(layout);
	if (slots)
		ChainSlots(layout);
	Put(writer, StrategyWord(layout.strategy));
	Put(writer, '(');
	if (!slots && !starts && IsNumbered(layout))
		PutNumber(writer, static_cast<std::int64_t>(layout.nodes.size()));
	else
		PutNodes(writer, layout, slots, starts);
	PutOptions(writer, layout);
	Put(writer, ')');
	return writer.length;
}

} // namespace shardkit
