/*
 * What the server's own triggers do not check for rows that a mover carries, since it runs as a
 * replica: foreign keys, and deferrable unique and exclusion constraints. And what triggers of users
 * that fire nevertheless have done.
 */
#ifndef SHARDKIT_PG_MOVE_CHECK_HPP
#define SHARDKIT_PG_MOVE_CHECK_HPP

#include "pg/move/move.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/* An error for the first thing in the catalogs that would stop or spoil the move. */
void CheckHazards(const char *map, const MoveBatch &batch);

/*
 * Where a trigger of users fired, its own statements may have changed what was stored, or put rows
 * back: an error if the target does not hold what was stored, or the source holds any of it.
 */
void CheckAfterTriggers(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables);

/* An error if a moved row refers to nothing, or something still refers to where it was. */
void CheckMovedForeignKeys(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables);

/* An error if a moved row breaks a deferrable unique or exclusion constraint of the target. */
void CheckMovedUniqueness(
	const MapEntry &map, const MoveBatch &batch, std::span<const MoveTable> tables);

} // namespace shardkit

#endif
