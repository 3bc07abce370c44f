/* The guard lets the mover's own rows pass: they arrive before their slots change owner. */
#ifndef SHARDKIT_PG_GUARD_HPP
#define SHARDKIT_PG_GUARD_HPP

#include <span>

#include "pg/pg.hpp"

namespace shardkit
{

/* SQLSTATEs of shardkit's own. */
constexpr int kWrongOwner = MAKE_SQLSTATE('S', 'K', '0', '0', '1');
constexpr int kOwnerChanged = MAKE_SQLSTATE('S', 'K', '0', '0', '2');

/*
 * From now on this backend's rows of these slots go into this one table unchecked, until ResumeGuard
 * or the end of the (sub)transaction that is current. What triggers write besides is still checked.
 * The slots are the caller's, and must stay until then.
 */
void SuspendGuard(Oid relation, std::span<const int32> slots);
void ResumeGuard();

} // namespace shardkit

#endif
