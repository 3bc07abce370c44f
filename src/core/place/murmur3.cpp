#include "core/place/murmur3.hpp"

#include <bit>
#include <cstddef>

#include "core/place/mix.hpp"

namespace shardkit
{

namespace
{

constexpr std::uint64_t kFirst = 0x87c37b91114253d5U;
constexpr std::uint64_t kSecond = 0x4cf5ad432745937fU;
constexpr std::size_t kBlock = 16;

/* Up to eight bytes from start on, which is not behind the end, as a little-endian number. */
std::uint64_t Word(std::string_view bytes, std::size_t start) noexcept
{
	bytes.remove_prefix(start);
	std::uint64_t word = 0;
	for (std::size_t i = 0; i < bytes.size() && i < 8; ++i)
		word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
	return word;
}

std::uint64_t MixFirst(std::uint64_t word) noexcept
{
	return std::rotl(word * kFirst, 31) * kSecond;
}

std::uint64_t MixSecond(std::uint64_t word) noexcept
{
	return std::rotl(word * kSecond, 33) * kFirst;
}

} // namespace

std::uint64_t Murmur3(std::string_view bytes) noexcept
{
	const std::uint64_t length = bytes.size();
	std::uint64_t low = 0;
	std::uint64_t high = 0;
	for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) {
		low = std::rotl(low ^ MixFirst(Word(bytes, 0)), 27) + high;
		low = low * 5 + 0x52dce729U;
		high = std::rotl(high ^ MixSecond(Word(bytes, 8)), 31) + low;
		high = high * 5 + 0x38495ab5U;
	}
	/* An empty rest adds nothing: both mixes keep 0. */
	if (bytes.size() > 8)
		high ^= MixSecond(Word(bytes, 8));
	low ^= MixFirst(Word(bytes, 0));

	low ^= length;
	high ^= length;
	low += high;
	high += low;
	return Fmix64(low) + Fmix64(high);
}

} // namespace shardkit
