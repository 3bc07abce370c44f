/* MurmurHash3 x64 128 (Appleby), seed 0: its first 64 bits. */
#ifndef SHARDKIT_CORE_MURMUR3_HPP
#define SHARDKIT_CORE_MURMUR3_HPP

#include <cstdint>
#include <string_view>

namespace shardkit
{

/* Words are read as little-endian on every machine. */
std::uint64_t Murmur3(std::string_view bytes) noexcept;

} // namespace shardkit

#endif
