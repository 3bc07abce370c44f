/* The guard lets the mover's own rows pass: they arrive before their slots change owner. */
#ifndef SHARDKIT_PG_GUARD_HPP
#define SHARDKIT_PG_GUARD_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* SQLSTATEs of shardkit's own. */
constexpr int kWrongOwner = MAKE_SQLSTATE('S', 'K', '0', '0', '1');
constexpr int kOwnerChanged = MAKE_SQLSTATE('S', 'K', '0', '0', '2');

/*
 * From now on this backend's rows go into this one table unchecked, until ResumeGuard or the end of
 * the (sub)transaction that is current. Rows that triggers write elsewhere are still checked.
 */
void SuspendGuard(Oid relation);
void ResumeGuard();

} // namespace shardkit

#endif
