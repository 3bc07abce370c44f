#include "pg/move/move.hpp"

#include <algorithm>

#include "pg/arguments.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/move/move_progress.hpp"
#include "pg/server/server_command.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
}

namespace shardkit
{

namespace
{

/* What shall go where: of move_rows and of a plan alike. Names live as long as the move. */
struct Transfer {
	int32 slot;
	const char *from;
	const char *to;
};

bool IsAtomic(FunctionCallInfo fcinfo)
{
	const auto *call = reinterpret_cast<CallContext *>(fcinfo->context);
	return call == nullptr || !IsA(call, CallContext) || call->atomic;
}

int64 Microseconds(const Interval &interval)
{
	const int64 days = interval.day + int64{interval.month} * DAYS_PER_MONTH;
	int64 microseconds = 0;
	if (pg_mul_s64_overflow(days, USECS_PER_DAY, &microseconds) ||
		pg_add_s64_overflow(microseconds, interval.time, &microseconds) || microseconds < 0 ||
		microseconds > INT64CONST(1000) * USECS_PER_DAY)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("max_wait must be between 0 and 1000 days")));
	return microseconds;
}

int32 BatchSlots(FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		return 0;
	const int32 slots = PG_GETARG_INT32(argument);
	if (slots < 1 || slots > kMaxBatchSlots)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("batch_slots must be between 1 and %d, not %d", kMaxBatchSlots, slots)));
	return slots;
}

/* The arguments that both procedures end with. SPI is connected: the memory is the call's. */
Move BeginMove(FunctionCallInfo fcinfo, const char *map, int batch_slots, int max_wait)
{
	Move move{};
	move.memory = CurrentMemoryContext;
	move.map = map;
	move.atomic = IsAtomic(fcinfo);
	move.batch_slots = BatchSlots(fcinfo, batch_slots);
	CheckNotNull(fcinfo, max_wait, "max_wait");
	move.max_wait = Microseconds(*PG_GETARG_INTERVAL_P(max_wait));
	CheckTransaction();
	const MapEntry &entry = GetMap(map);
	CheckMapOwner(entry);
	CheckMapIsAtHome(entry);
	move.per_slot = !entry.tables.empty() && entry.tables[0].per_slot;
	/* A partition's lock keeps readers out: few at a time are free at the same moment. */
	if (move.batch_slots == 0)
		move.batch_slots = move.per_slot && !move.atomic ? 1 : kMaxBatchSlots;
	return move;
}

/* By nodes, then by slot; each slot once. */
std::span<Transfer> InOrder(std::span<Transfer> transfers)
{
	const auto before = [](const Transfer &a, const Transfer &b) {
		const int from = strcmp(a.from, b.from);
		const int to = strcmp(a.to, b.to);
		return from != 0 ? from < 0 : to != 0 ? to < 0 : a.slot < b.slot;
	};
	std::ranges::sort(transfers, before);
	const auto same = [](const Transfer &a, const Transfer &b) {
		return a.slot == b.slot;
	};
	const auto end = std::unique(transfers.begin(), transfers.end(), same);
	return transfers.first(static_cast<std::size_t>(end - transfers.begin()));
}

/* How many of the first transfers go the same way, up to a batch's size. */
std::size_t BatchLength(const Move &move, std::span<const Transfer> transfers)
{
	std::size_t length = 1;
	while (length < transfers.size() && length < static_cast<std::size_t>(move.batch_slots) &&
		   strcmp(transfers[length].from, transfers[0].from) == 0 &&
		   strcmp(transfers[length].to, transfers[0].to) == 0)
		++length;
	return length;
}

bool LiesOnServer(const char *map, const char *node)
{
	const MapEntry &entry = GetMap(map);
	return entry.nodes[static_cast<std::size_t>(GetNode(entry, node))].server != nullptr;
}

/* To or from a server each slot is a protocol of several transactions. */
int64 MoveOverServer(const Move &move, const Transfer &transfer)
{
	constexpr int64 kMicrosecondsPerMs = 1000;
	CheckMayCommit(move.atomic, "a move to or from a server");
	return MoveServerSlot(move.map, transfer.slot, transfer.to, move.max_wait / kMicrosecondsPerMs);
}

int64 MoveLocally(Move &move, std::span<const Transfer> transfers)
{
	auto *slots =
		static_cast<int32 *>(MemoryContextAlloc(move.memory, sizeof(int32) * transfers.size()));
	std::ranges::transform(transfers, slots, &Transfer::slot);
	const MoveBatch batch{.from = transfers[0].from,
		.to = transfers[0].to,
		.slots = {slots, transfers.size()},
		.per_slot = move.per_slot};
	const int64 rows = MoveWhenFree(move, batch);
	pfree(slots);
	return rows;
}

void CheckOneBatch(const Move &move, std::span<const Transfer> transfers)
{
	if (move.atomic && !transfers.empty() && BatchLength(move, transfers) < transfers.size())
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				errmsg("inside a transaction block only one batch can be moved"),
				errdetail("A batch has slots of one node for one other, at most batch_slots."),
				errhint("CALL outside of a transaction block, or name fewer slots.")));
}

void MoveAll(Move &move, std::span<const Transfer> transfers)
{
	CheckOneBatch(move, transfers);
	BeginProgress(GetMap(move.map).id, static_cast<int64>(transfers.size()));
	int64 slots_done = 0;
	while (!transfers.empty()) {
		const bool over_server =
			LiesOnServer(move.map, transfers[0].from) || LiesOnServer(move.map, transfers[0].to);
		const std::size_t length = over_server ? 1 : BatchLength(move, transfers);
		move.rows_moved += over_server ? MoveOverServer(move, transfers[0])
									   : MoveLocally(move, transfers.first(length));
		transfers = transfers.subspan(length);
		slots_done += static_cast<int64>(length);
		ReportSlots(slots_done);
	}
	EndProgress();
	FinishMove(move);
}

/* The slots that are not yet there, with their owners. */
std::span<Transfer> TransfersTo(const Move &move, std::span<const int32> slots, const char *to)
{
	const MapEntry &map = GetMap(move.map);
	const int32 target = GetNode(map, to);
	auto *transfers = static_cast<Transfer *>(palloc(sizeof(Transfer) * Max(slots.size(), 1)));
	std::size_t count = 0;
	for (const int32 slot : slots) {
		CheckSlotOfMap(map, slot);
		const char *from = OwnerName(map, slot);
		if (from == nullptr)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							   errmsg("slot %d of map \"%s\" has no owner yet", slot, map.name),
							   errhint("Give it one with shardkit.assign_slots.")));
		if (map.owners[static_cast<std::size_t>(slot)] != target)
			transfers[count++] = {.slot = slot, .from = pstrdup(from), .to = to};
	}
	return InOrder({transfers, count});
}

char *ResultText(uint64 row, int column)
{
	char *text = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
	if (text == nullptr)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a plan has no empty fields")));
	return text;
}

std::span<Transfer> TransfersOfPlan(
	const char *map, const char *by_what, double tolerance, SqlValue max_moves)
{
	const uint64 count =
		RunAsCaller("SELECT slot, from_node, to_node FROM shardkit.plan_rebalance($1, $2, $3, $4)",
			{SqlText(map), SqlText(by_what), SqlFloat(tolerance), max_moves});
	auto *transfers = static_cast<Transfer *>(palloc(sizeof(Transfer) * Max(count, 1)));
	for (uint64 i = 0; i < count; ++i)
		transfers[i] = {.slot = static_cast<int32>(strtol(ResultText(i, 1), nullptr, 10)),
			.from = ResultText(i, 2),
			.to = ResultText(i, 3)};
	return InOrder({transfers, count});
}

/* An invoker's procedure that commits between batches where it can. */
void Connect(FunctionCallInfo fcinfo)
{
	if (SPI_connect_ext(IsAtomic(fcinfo) ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("SPI does not connect")));
}

/* The procedure's one INOUT argument. */
Datum OneRow(int64 rows_moved)
{
	TupleDesc shape = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(shape, 1, "rows_moved", INT8OID, -1, 0);
	Datum values[] = {Int64GetDatum(rows_moved)};
	bool nulls[] = {false};
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(shape), values, nulls));
}

} // namespace

} // namespace shardkit

SHARDKIT_FUNCTION(shardkit_move_rows)
Datum shardkit_move_rows(PG_FUNCTION_ARGS)
{
	using namespace shardkit;
	Connect(fcinfo);
	Move move = BeginMove(fcinfo, TextArgument(fcinfo, 0, "map"), 3, 4);
	const auto slots = IntArrayArgument(fcinfo, 1, "slots");
	MoveAll(move, TransfersTo(move, slots, TextArgument(fcinfo, 2, "to_node")));
	SPI_finish();
	return OneRow(move.rows_moved);
}

SHARDKIT_FUNCTION(shardkit_rebalance)
Datum shardkit_rebalance(PG_FUNCTION_ARGS)
{
	using namespace shardkit;
	Connect(fcinfo);
	Move move = BeginMove(fcinfo, TextArgument(fcinfo, 0, "map"), 4, 5);
	const SqlValue max_moves = {INT4OID, PG_ARGISNULL(3) ? 0 : PG_GETARG_DATUM(3), PG_ARGISNULL(3)};
	MoveAll(move, TransfersOfPlan(move.map, TextArgument(fcinfo, 1, "by_what"),
					  FloatArgument(fcinfo, 2, "tolerance"), max_moves));
	SPI_finish();
	return OneRow(move.rows_moved);
}
