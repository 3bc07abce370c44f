/*
 * Rows into the target table by the page instead of by the row, as COPY does it, and read back.
 *
 * What is fingerprinted as stored is what lies on the target's pages, fetched again by its place.
 */
#ifndef SHARDKIT_PG_MOVE_INSERT_HPP
#define SHARDKIT_PG_MOVE_INSERT_HPP

#include "pg/move/move.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/*
 * Whether rows may arrive so, each as it is deleted: into an ordinary table, and with no trigger of
 * users that fires for a replica, on either side. Where one fires, rows are copied first: only then
 * does a row that a trigger kept from being deleted show as a difference.
 */
bool CanInsertByPage(const MoveTable &table);

struct PageInserter;

/* Rows come in this shape behind skip leading columns; columns are matched by name. */
PageInserter *OpenTarget(Oid table, TupleDesc incoming, int skip, std::span<RowSum> stored);

/* Adds a row; place is that of its slot in stored. The row is copied. */
void InsertRow(PageInserter &inserter, TupleTableSlot *row, int32 place, uint64 bytes);

/* Writes what is still buffered, and closes. */
void CloseTarget(PageInserter &inserter);

} // namespace shardkit

#endif
