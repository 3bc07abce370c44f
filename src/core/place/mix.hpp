/* The 64-bit finaliser of MurmurHash3: every input bit reaches every output bit. */
#ifndef SHARDKIT_CORE_MIX_HPP
#define SHARDKIT_CORE_MIX_HPP

#include <cstdint>

namespace shardkit
{

/* A bijection of the 64-bit numbers; 0 stays 0. */
constexpr std::uint64_t Fmix64(std::uint64_t hash) noexcept
{
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdU;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53U;
	return hash ^ (hash >> 33);
}

} // namespace shardkit

#endif
