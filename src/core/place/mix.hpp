/* The 64-bit finaliser of MurmurHash3: every input bit reaches every output bit. */
#ifndef SHARDKIT_CORE_MIX_HPP
#define SHARDKIT_CORE_MIX_HPP

#include <cstdint>

namespace shardkit
{

/* Its first step, linear: the first step of a ^ b is that of a ^ that of b. */
constexpr std::uint64_t Fmix64Begin(std::uint64_t hash) noexcept
{
	return hash ^ (hash >> 33);
}

/* What follows the first step. */
constexpr std::uint64_t Fmix64End(std::uint64_t begun) noexcept
{
	begun *= 0xff51afd7ed558ccdU;
	begun ^= begun >> 33;
	begun *= 0xc4ceb9fe1a85ec53U;
	return begun ^ (begun >> 33);
}

/* A bijection of the 64-bit numbers; 0 stays 0. */
constexpr std::uint64_t Fmix64(std::uint64_t hash) noexcept
{
	return Fmix64End(Fmix64Begin(hash));
}

} // namespace shardkit

#endif
