/* How unevenly a ring divides the hash space. */
#ifndef SHARDKIT_CORE_RING_SPREAD_HPP
#define SHARDKIT_CORE_RING_SPREAD_HPP

#include <cstdint>
#include <span>

#include "core/place/ring.hpp"

namespace shardkit
{

/*
 * The busiest node's part of the circle as a multiple of the mean. Sorts the tokens, of which there
 * is at least one; shares has one entry a node.
 */
double BusiestOverMean(std::span<RingToken> tokens, std::span<double> shares) noexcept;

/* The value below or at which a part of the sorted values lie; 0 < part <= 1, values not empty. */
double Percentile(std::span<const double> sorted, double part) noexcept;

} // namespace shardkit

#endif
