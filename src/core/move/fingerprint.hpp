/*
 * The fingerprint of a set of rows: a 128-bit number that does not depend on their order.
 *
 * It is the sum, modulo 2^128, of one 128-bit hash a row. A sum and not an exclusive or: a row that
 * is there twice must not cancel itself.
 */
#ifndef SHARDKIT_CORE_FINGERPRINT_HPP
#define SHARDKIT_CORE_FINGERPRINT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace shardkit
{

struct Fingerprint {
	std::uint64_t low;
	std::uint64_t high;

	friend bool operator==(const Fingerprint &, const Fingerprint &) = default;
};
static_assert(std::is_trivially_copyable_v<Fingerprint>);

/* The sum of two fingerprints: of two rows, or of two disjoint sets of rows. */
constexpr Fingerprint Sum(Fingerprint left, Fingerprint right) noexcept
{
	const std::uint64_t low = left.low + right.low;
	const std::uint64_t carry = low < left.low ? 1 : 0;
	return {.low = low, .high = left.high + right.high + carry};
}

/* How many hexadecimal digits a fingerprint has. */
inline constexpr std::size_t kFingerprintDigits = 32;

/* The fingerprint as a number in hexadecimal digits, most significant first. */
std::array<char, kFingerprintDigits> Digits(Fingerprint fingerprint) noexcept;

/* What a set of rows is recognised by: the certificate of a move compares two of them. */
struct RowSum {
	std::uint64_t rows;
	std::uint64_t bytes;
	Fingerprint fingerprint;
};
static_assert(std::is_trivially_copyable_v<RowSum>);

/* Adds one row of that many bytes. */
constexpr void Add(RowSum &sum, Fingerprint row, std::uint64_t bytes) noexcept
{
	++sum.rows;
	sum.bytes += bytes;
	sum.fingerprint = Sum(sum.fingerprint, row);
}

/* Same count and same fingerprint: taken for the same rows. */
constexpr bool SameRows(const RowSum &left, const RowSum &right) noexcept
{
	return left.rows == right.rows && left.fingerprint == right.fingerprint;
}

/* The bytes of a length, or of the mark for NULL, in a row's form: 32 bits, big-endian. */
inline constexpr std::uint32_t kNullMark = 0xffffffffU;
inline constexpr std::size_t kFrameBytes = 4;

constexpr void WriteFrame(std::span<unsigned char, kFrameBytes> out, std::uint32_t length) noexcept
{
	for (std::size_t i = 0; i < kFrameBytes; ++i)
		out[i] = static_cast<unsigned char>(length >> (8 * (kFrameBytes - 1 - i)));
}

} // namespace shardkit

#endif
