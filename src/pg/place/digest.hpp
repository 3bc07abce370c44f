/* 64 bits of a named hash of some bytes. */
#ifndef SHARDKIT_PG_DIGEST_HPP
#define SHARDKIT_PG_DIGEST_HPP

#include <cstdint>
#include <string_view>

#include "core/place/algorithm.hpp"

namespace shardkit
{

/* hash64 of the bytes, as the algorithm defines it; raises an error only if the server's library fails. */
std::uint64_t Hash64(Algorithm algorithm, std::string_view bytes);

/* The algorithm of that name, or an error that lists them. */
Algorithm AlgorithmNamed(std::string_view name);

/* Warns when an algorithm must not be used for the tokens of a ring. */
void WarnOfTokenHash(Algorithm algorithm);

} // namespace shardkit

#endif
