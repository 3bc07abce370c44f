#include "core/place/layout_scan.hpp"

#include <algorithm>

namespace shardkit
{

namespace
{

constexpr bool IsDigit(char c) noexcept
{
	return c >= '0' && c <= '9';
}

constexpr bool IsSpace(char c) noexcept
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* What would end a bare name, or read as something else. */
constexpr bool IsSeparator(char c) noexcept
{
	return static_cast<unsigned char>(c) <= ' ' || c == 0x7f ||
		   std::string_view{",;()[]*=@\""}.find(c) != std::string_view::npos;
}

/* substr without its exception. */
std::string_view Slice(std::string_view text, std::size_t start, std::size_t end) noexcept
{
	return {text.data() + start, end - start};
}

char Peek(const LayoutScan &scan) noexcept
{
	return scan.at < scan.text.size() ? scan.text[scan.at] : '\0';
}

/* The characters from here on that keep a condition. */
template <typename Condition>
std::string_view TakeWhile(LayoutScan &scan, Condition holds) noexcept
{
	const std::size_t start = scan.at;
	while (scan.at < scan.text.size() && holds(scan.text[scan.at]))
		++scan.at;
	return Slice(scan.text, start, scan.at);
}

/* The value of decimal digits, or nothing when there are none or it is above most. */
std::optional<std::int64_t> DigitsValue(std::string_view digits, std::int64_t most) noexcept
{
	std::int64_t value = 0;
	for (const char digit : digits) {
		value = value * 10 + (digit - '0');
		if (value > most)
			return std::nullopt;
	}
	if (digits.empty())
		return std::nullopt;
	return value;
}

} // namespace

bool Fail(LayoutScan &scan, const char *message, std::size_t at) noexcept
{
	if (scan.fault.message == nullptr)
		scan.fault = {message, at};
	return false;
}

void SkipSpace(LayoutScan &scan) noexcept
{
	TakeWhile(scan, IsSpace);
}

bool Accept(LayoutScan &scan, char wanted) noexcept
{
	if (scan.at >= scan.text.size() || scan.text[scan.at] != wanted)
		return false;
	++scan.at;
	return true;
}

bool Expect(LayoutScan &scan, char wanted, const char *message) noexcept
{
	SkipSpace(scan);
	return Accept(scan, wanted) || Fail(scan, message, scan.at);
}

std::string_view ScanWord(LayoutScan &scan) noexcept
{
	return TakeWhile(scan, [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_'; });
}

std::optional<std::int64_t> ScanNumber(LayoutScan &scan, std::int64_t most) noexcept
{
	return DigitsValue(TakeWhile(scan, IsDigit), most);
}

std::optional<std::uint64_t> ScanHash(LayoutScan &scan) noexcept
{
	constexpr std::size_t kDigits = 16;
	const std::string_view digits =
		TakeWhile(scan, [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
	if (digits.size() != kDigits)
		return std::nullopt;
	std::uint64_t value = 0;
	for (const char digit : digits)
		value = value << 4 |
				static_cast<std::uint64_t>(IsDigit(digit) ? digit - '0' : digit - 'a' + 10);
	return value;
}

std::optional<std::int64_t> ScanWeight(LayoutScan &scan) noexcept
{
	constexpr std::size_t kDecimals = 9;
	const auto whole = DigitsValue(TakeWhile(scan, IsDigit), kMaxWeight / kWeightOne);
	if (!whole)
		return std::nullopt;
	std::int64_t weight = *whole * kWeightOne;
	if (Accept(scan, '.')) {
		const std::string_view decimals = TakeWhile(scan, IsDigit);
		if (decimals.empty() || decimals.size() > kDecimals)
			return std::nullopt;
		std::int64_t unit = kWeightOne;
		for (const char digit : decimals)
			weight += (unit /= 10) * (digit - '0');
	}
	if (weight < 1 || weight > kMaxWeight)
		return std::nullopt;
	return weight;
}

ScannedName ScanName(LayoutScan &scan) noexcept
{
	if (!Accept(scan, '"')) {
		const std::string_view name = TakeWhile(scan, [](char c) { return !IsSeparator(c); });
		if (name.empty())
			return {{}, "name of a node expected", false};
		if (!IsBareName(name))
			return {{}, "a name of digits only must stand in double quotes", false};
		return {name, nullptr, false};
	}
	const std::size_t start = scan.at;
	while (scan.at < scan.text.size()) {
		TakeWhile(scan, [](char c) { return c != '"'; });
		const std::size_t end = scan.at;
		if (!Accept(scan, '"'))
			break;
		if (Accept(scan, '"'))
			continue;
		if (end == start)
			return {{}, "name of a node must not be empty", true};
		return {Slice(scan.text, start, end), nullptr, true};
	}
	return {{}, "quoted name has no end", true};
}

bool StartsCount(const LayoutScan &scan) noexcept
{
	LayoutScan ahead = scan;
	Accept(ahead, '-'); /* so that a negative count is one, if a wrong one */
	if (TakeWhile(ahead, IsDigit).empty())
		return false;
	SkipSpace(ahead);
	return Peek(ahead) == ')' || Peek(ahead) == ';';
}

bool IsBareName(std::string_view name) noexcept
{
	if (!std::none_of(name.begin(), name.end(), IsSeparator))
		return false;
	if (name.starts_with('-'))
		name.remove_prefix(1);
	return !std::all_of(name.begin(), name.end(), IsDigit);
}

std::string_view KeepUnquoted(Layout &layout, std::string_view inside) noexcept
{
	const std::size_t start = layout.names_used;
	for (std::size_t i = 0; i < inside.size(); ++i) {
		layout.names[layout.names_used++] = inside[i];
		if (inside[i] == '"')
			++i;
	}
	return {layout.names.data() + start, layout.names_used - start};
}

} // namespace shardkit
