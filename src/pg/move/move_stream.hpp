/* Counts and fingerprints the rows that a statement returns, slot by slot, as they stream past. */
#ifndef SHARDKIT_PG_MOVE_STREAM_HPP
#define SHARDKIT_PG_MOVE_STREAM_HPP

#include "pg/move/move.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/* From a slot to its place in the batch, or -1. */
std::span<const int32> PlacesOfSlots(int32 map_slots, std::span<const int32> slots);

/*
 * Runs a statement of one parameter, the batch's slots, that returns the slot and then the columns
 * of each row, and adds each row to the sum of its slot.
 */
void RunStreamed(const char *statement, const MoveBatch &batch, std::span<const int32> places,
	std::span<RowSum> sums);

/* The same for the rows that leave; each is stored in the target table as it passes. */
void RunStreamedInto(const char *statement, const MoveBatch &batch, std::span<const int32> places,
	const MoveTable &table);

/* The slots as an SQL array. */
Datum SlotArray(std::span<const int32> slots);

} // namespace shardkit

#endif
