#include "core/move/fingerprint.hpp"

namespace shardkit
{

std::array<char, kFingerprintDigits> Digits(Fingerprint fingerprint) noexcept
{
	constexpr char kDigits[] = "0123456789abcdef";
	std::array<char, kFingerprintDigits> text{};
	for (std::size_t i = 0; i < kFingerprintDigits; ++i) {
		const std::uint64_t half = i < 16 ? fingerprint.high : fingerprint.low;
		text[i] = kDigits[(half >> (60 - 4 * (i % 16))) & 0xf];
	}
	return text;
}

} // namespace shardkit
