/* How far a mover has come, for other sessions to see while its transaction is open. */
#ifndef SHARDKIT_PG_MOVE_PROGRESS_HPP
#define SHARDKIT_PG_MOVE_PROGRESS_HPP

#include "pg/pg.hpp"

namespace shardkit
{

enum class Phase : int64 { kWaiting, kMoving, kChecking };

void BeginProgress(int32 map_id, int64 slots_total);
void EndProgress();

void ReportPhase(Phase phase);
void ReportTable(Oid relation);
void ReportRows(int64 rows, int64 bytes);
void ReportSlots(int64 slots_done);

} // namespace shardkit

#endif
