/* The statements that carry a table's rows, and the pieces that other statements share. */
#ifndef SHARDKIT_PG_MOVE_STATEMENT_HPP
#define SHARDKIT_PG_MOVE_STATEMENT_HPP

#include "pg/move/move.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/* The table's name for a statement, behind ONLY where it has no partitions. */
char *TableInStatement(Oid table);

/* The slot of a row of alias, as an index of the table would have it. */
char *SlotExpression(const MapEntry &map, const MoveTable &table, const char *alias);

/* INSERT INTO target SELECT .. RETURNING slot, columns; $1 is the slots. */
char *CopyStatement(const MapEntry &map, const MoveTable &table);

/* SELECT slot, columns FROM target; $1 is the slots. */
char *ReadStatement(const MapEntry &map, const MoveTable &table);

/* DELETE FROM source .. RETURNING slot, columns; $1 is the slots. */
char *DeleteStatement(const MapEntry &map, const MoveTable &table);

} // namespace shardkit

#endif
