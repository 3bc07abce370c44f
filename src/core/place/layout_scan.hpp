/* The words of a layout's text: what the parser reads with. */
#ifndef SHARDKIT_CORE_LAYOUT_SCAN_HPP
#define SHARDKIT_CORE_LAYOUT_SCAN_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/place/layout_parse.hpp"

namespace shardkit
{

/* A position in a text, and the first fault found. */
struct LayoutScan {
	std::string_view text;
	std::size_t at;
	LayoutFault fault;
};

/* A name as it stands in the text, without its quotes; empty: message says why. */
struct ScannedName {
	std::string_view text;
	const char *message;
	bool quoted;
};

/* Notes a fault, unless there is one; always false. */
bool Fail(LayoutScan &scan, const char *message, std::size_t at) noexcept;

void SkipSpace(LayoutScan &scan) noexcept;

/* Takes one character if it comes next. */
bool Accept(LayoutScan &scan, char wanted) noexcept;

/* The same, after space; anything else is a fault. */
bool Expect(LayoutScan &scan, char wanted, const char *message) noexcept;

/* Lower case letters, digits and underscores; may be empty. */
std::string_view ScanWord(LayoutScan &scan) noexcept;

/* Decimal digits, at most the number most. */
std::optional<std::int64_t> ScanNumber(LayoutScan &scan, std::int64_t most) noexcept;

/* Exactly 16 lower case hexadecimal digits. */
std::optional<std::uint64_t> ScanHash(LayoutScan &scan) noexcept;

/* A decimal number in billionths. */
std::optional<std::int64_t> ScanWeight(LayoutScan &scan) noexcept;

/* A node's name, bare or in double quotes. */
ScannedName ScanName(LayoutScan &scan) noexcept;

/* Do digits come next, and then an end of the list: a count of nodes? */
bool StartsCount(const LayoutScan &scan) noexcept;

/* May a name stand in a text without quotes? Not if it could be a number. */
bool IsBareName(std::string_view name) noexcept;

/* Copies the inside of a quoted name into the layout's room, doubled quotes made single. */
std::string_view KeepUnquoted(Layout &layout, std::string_view inside) noexcept;

} // namespace shardkit

#endif
