/* Jump consistent hash (Lamping, Veach, 2014): a hash to one of n shards, without state. */
#ifndef SHARDKIT_CORE_JUMP_HPP
#define SHARDKIT_CORE_JUMP_HPP

#include <cstdint>

namespace shardkit
{

/*
 * The shard of hash among shards > 0, in [0, shards). Bit-compatible with the paper's code; Guava's
 * consistentHash is another function and differs for about 3 keys in 2 * 10^8. Hash 0 is always in
 * shard 0.
 */
std::int32_t Jump(std::uint64_t hash, std::int32_t shards) noexcept;

} // namespace shardkit

#endif
