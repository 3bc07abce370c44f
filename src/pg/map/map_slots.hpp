/* First owners of slots. */
#ifndef SHARDKIT_PG_MAP_SLOTS_HPP
#define SHARDKIT_PG_MAP_SLOTS_HPP

#include "pg/map/map_cache.hpp"

namespace shardkit
{

/*
 * The owners once the slots that have none are dealt to the active nodes by weight: in one run
 * each, in the order given. Without an active node they stay as they are.
 */
std::span<const int32> DealtOwners(const MapEntry &map, std::span<const int32> order);

} // namespace shardkit

#endif
