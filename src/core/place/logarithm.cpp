#include "core/place/logarithm.hpp"

#include <bit>
#include <cstdint>

namespace shardkit
{

/*
 * value = 2^e * m with m in [sqrt(1/2), sqrt(2)), ln(m) = 2 artanh(s), s = (m - 1) / (m + 1). The
 * series in s^2 <= 0.0295 needs eleven terms; m - 1 is exact, so values near 1 keep their digits.
 */
double Logarithm(double value) noexcept
{
	constexpr double kLn2High = 0x1.62e42feep-1; /* 32 bits: times an exponent it stays exact */
	constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
	constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdU;
	const auto bits = std::bit_cast<std::uint64_t>(value);
	const std::int64_t exponent =
		static_cast<std::int64_t>(bits - kSqrtHalf) >> 52; /* arithmetic since C++20 */
	const auto mantissa =
		std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));

	const double f = mantissa - 1.0;
	const double s = f / (2.0 + f);
	const double z = s * s;
	double sum = 2.0 / 23;
	for (int odd = 21; odd >= 3; odd -= 2)
		sum = sum * z + 2.0 / odd;
	/* 2s = f - s*f: keeps f's digits where f is small. */
	const double scale = static_cast<double>(exponent);
	return scale * kLn2High + (f - (s * f - s * (z * sum) - scale * kLn2Low));
}

} // namespace shardkit
