/* Shares slots out among nodes by weight, without taking any away. */
#ifndef SHARDKIT_CORE_DEAL_HPP
#define SHARDKIT_CORE_DEAL_HPP

#include <cstdint>
#include <span>

namespace shardkit
{

/*
 * How many of the free slots each node gets: each comes as near as it can to its part of all slots,
 * rounded by the largest remainder; equal remainders: the first. Nodes above their part get none.
 *
 * weights: at least one positive, 0 takes no part; owned: slots that each node has already, in all
 * not more than slots; given: the result, as long as both.
 */
void Deal(std::span<const double> weights, std::span<const std::int32_t> owned, std::int32_t slots,
	std::span<std::int32_t> given) noexcept;

} // namespace shardkit

#endif
