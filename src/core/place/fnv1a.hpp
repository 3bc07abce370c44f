/* FNV-1a, 64 bits: here because others use it; its last bytes hardly reach the top bits. */
#ifndef SHARDKIT_CORE_FNV1A_HPP
#define SHARDKIT_CORE_FNV1A_HPP

#include <cstdint>
#include <string_view>

namespace shardkit
{

constexpr std::uint64_t Fnv1a(std::string_view bytes) noexcept
{
	std::uint64_t hash = 0xcbf29ce484222325U;
	for (const char byte : bytes) {
		hash ^= static_cast<unsigned char>(byte);
		hash *= 0x100000001b3U;
	}
	return hash;
}

} // namespace shardkit

#endif
