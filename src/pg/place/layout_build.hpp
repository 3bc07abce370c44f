/* Layouts from SQL arguments: arrays of names and weights. */
#ifndef SHARDKIT_PG_LAYOUT_BUILD_HPP
#define SHARDKIT_PG_LAYOUT_BUILD_HPP

#include "core/place/layout.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/* A weight in billionths, rounded; raises an error unless it is above 0 and at most 100000. */
std::int64_t WeightArgument(float8 weight);

/* The layout of ring(hash, nodes, vnodes, token_hash), in the current memory context. */
Layout BuildRing(FunctionCallInfo fcinfo);

/* The layout of rendezvous(hash, nodes) and rendezvous(hash, nodes, weights). */
Layout BuildRendezvous(FunctionCallInfo fcinfo);

} // namespace shardkit

#endif
