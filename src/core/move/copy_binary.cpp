#include "core/move/copy_binary.hpp"

#include <algorithm>
#include <array>

namespace shardkit
{

namespace
{

constexpr std::array<unsigned char, 11> kSignature = {
	'P', 'G', 'C', 'O', 'P', 'Y', '\n', 0xff, '\r', '\n', 0};
/* Signature, flags, length of the header's extension. */
constexpr std::size_t kHeaderSize = kSignature.size() + 4 + 4;
/* Bits 16 and up are critical: a reader that does not know one must stop. */
constexpr std::uint32_t kCriticalFlags = 0xffff0000U;
constexpr std::int16_t kTrailer = -1;

/* A big-endian number of so many bytes; the caller has seen to the length. */
std::uint32_t ReadNumber(std::span<const std::byte> input, std::size_t size) noexcept
{
	std::uint32_t number = 0;
	for (const std::byte digit : input.first(size))
		number = number << 8 | std::to_integer<std::uint32_t>(digit);
	return number;
}

CopyStep ReadHeader(CopyReader &reader, std::span<const std::byte> &input) noexcept
{
	const auto known = std::min(input.size(), kSignature.size());
	const auto same = [](std::byte found, unsigned char wanted) {
		return std::to_integer<unsigned char>(found) == wanted;
	};
	if (!std::ranges::equal(input.first(known), std::span(kSignature).first(known), same))
		return CopyStep::kBroken;
	if (input.size() < kHeaderSize)
		return CopyStep::kMore;
	const auto flags = ReadNumber(input.subspan(kSignature.size()), 4);
	const std::size_t extension = ReadNumber(input.subspan(kSignature.size() + 4), 4);
	if ((flags & kCriticalFlags) != 0 || extension > INT32_MAX)
		return CopyStep::kBroken;
	if (input.size() - kHeaderSize < extension)
		return CopyStep::kMore;
	input = input.subspan(kHeaderSize + extension);
	reader.header_read = true;
	return CopyStep::kTuple;
}

} // namespace

CopyStep NextTuple(
	CopyReader &reader, std::span<const std::byte> &input, std::span<CopyField> fields) noexcept
{
	if (reader.ended)
		return input.empty() ? CopyStep::kEnd : CopyStep::kBroken;
	if (!reader.header_read)
		if (const auto step = ReadHeader(reader, input); step != CopyStep::kTuple)
			return step;

	auto rest = input;
	if (rest.size() < 2)
		return CopyStep::kMore;
	const auto count = static_cast<std::int16_t>(ReadNumber(rest, 2));
	rest = rest.subspan(2);
	if (count == kTrailer) {
		reader.ended = true;
		input = rest;
		return rest.empty() ? CopyStep::kEnd : CopyStep::kBroken;
	}
	if (count < 0 || static_cast<std::size_t>(count) != fields.size())
		return CopyStep::kBroken;
	for (auto &field : fields) {
		if (rest.size() < 4)
			return CopyStep::kMore;
		const auto length = static_cast<std::int32_t>(ReadNumber(rest, 4));
		rest = rest.subspan(4);
		if (length < -1)
			return CopyStep::kBroken;
		const std::size_t size = length == -1 ? 0 : static_cast<std::size_t>(length);
		if (rest.size() < size)
			return CopyStep::kMore;
		field = {rest.first(size), length == -1};
		rest = rest.subspan(size);
	}
	input = rest;
	return CopyStep::kTuple;
}

} // namespace shardkit
