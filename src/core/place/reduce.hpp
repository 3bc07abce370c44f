/* From a 64-bit hash to one of a number of parts: by remainder, or by position in the hash space. */
#ifndef SHARDKIT_CORE_REDUCE_HPP
#define SHARDKIT_CORE_REDUCE_HPP

#include <cstdint>

namespace shardkit
{

__extension__ using Uint128 = unsigned __int128;

/* The upper half of the 128-bit product. */
constexpr std::uint64_t MultiplyHigh(std::uint64_t left, std::uint64_t right) noexcept
{
	return static_cast<std::uint64_t>((static_cast<Uint128>(left) * right) >> 64);
}

/* A divisor > 0 with its reciprocal: a remainder then costs two multiplications. */
struct Divisor {
	std::uint64_t value;
	std::uint64_t reciprocal;
};

constexpr Divisor MakeDivisor(std::uint64_t value) noexcept
{
	return {value, ~std::uint64_t{0} / value};
}

/* hash mod divisor: the estimated quotient is the right one or one less. */
constexpr std::uint64_t Remainder(std::uint64_t hash, const Divisor &divisor) noexcept
{
	const std::uint64_t rest = hash - MultiplyHigh(hash, divisor.reciprocal) * divisor.value;
	return rest >= divisor.value ? rest - divisor.value : rest;
}

/* The part of hash when the hash space is cut into equal contiguous parts. */
constexpr std::uint64_t EvenPart(std::uint64_t hash, std::uint64_t parts) noexcept
{
	return MultiplyHigh(hash, parts);
}

/* The first hash of a part < parts: the smallest hash with EvenPart(hash, parts) = part. */
constexpr std::uint64_t EvenPartStart(std::uint64_t part, std::uint64_t parts) noexcept
{
	return static_cast<std::uint64_t>(((static_cast<Uint128>(part) << 64) + parts - 1) / parts);
}

} // namespace shardkit

#endif
