#include "pg/move/move_stream.hpp"

#include <algorithm>

#include "pg/move/move_insert.hpp"
#include "pg/move/move_progress.hpp"
#include "pg/move/row_hash.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "nodes/params.h"
#include "tcop/dest.h"
}

namespace shardkit
{

namespace
{

/* The receiver comes first: the executor sees only that. */
struct RowStream {
	DestReceiver receiver;
	MemoryContext memory;
	RowHasher *hasher;
	std::span<const int32> places;
	std::span<RowSum> sums;
	const MoveTable *target; /* nullptr: rows are only counted */
	PageInserter *inserter;
	int64 unreported_rows;
	int64 unreported_bytes;
};

void Report(RowStream &stream)
{
	ReportRows(stream.unreported_rows, stream.unreported_bytes);
	stream.unreported_rows = stream.unreported_bytes = 0;
}

RowStream &StreamOf(DestReceiver *receiver)
{
	return *reinterpret_cast<RowStream *>(receiver);
}

void Start(DestReceiver *receiver, int, TupleDesc shape)
{
	RowStream &stream = StreamOf(receiver);
	MemoryContext caller = MemoryContextSwitchTo(stream.memory);
	stream.hasher = MakeRowHasher(shape, 1, stream.memory);
	if (stream.target != nullptr)
		stream.inserter = OpenTarget(stream.target->target, shape, 1, stream.target->stored);
	MemoryContextSwitchTo(caller);
}

/* A trigger that fires always may have changed the key on its way: then the slot is another. */
[[noreturn]] void RaiseStraySlot(Datum slot, bool null)
{
	ereport(ERROR, (errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
					   null ? errmsg("a moved row got a key without slot")
							: errmsg("a moved row got a key of slot %d, which is not moved",
								  DatumGetInt32(slot)),
					   errhint("An ENABLE ALWAYS trigger changes the key of moved rows.")));
	pg_unreachable();
}

bool Receive(TupleTableSlot *row, DestReceiver *receiver)
{
	RowStream &stream = StreamOf(receiver);
	slot_getallattrs(row);
	const Datum slot = row->tts_values[0];
	const auto number = static_cast<std::size_t>(DatumGetInt32(slot));
	if (row->tts_isnull[0] || number >= stream.places.size() || stream.places[number] < 0)
		RaiseStraySlot(slot, row->tts_isnull[0]);
	const RowHash hash = HashRow(*stream.hasher, row->tts_values, row->tts_isnull);
	const int32 place = stream.places[number];
	Add(stream.sums[static_cast<std::size_t>(place)], hash.hash, hash.bytes);
	constexpr int64 kReportEach = 1000;
	stream.unreported_bytes += static_cast<int64>(hash.bytes);
	if (++stream.unreported_rows == kReportEach)
		Report(stream);
	if (stream.inserter != nullptr) {
		MemoryContext caller = MemoryContextSwitchTo(stream.memory);
		InsertRow(*stream.inserter, row, place, hash.bytes);
		MemoryContextSwitchTo(caller);
	}
	return true;
}

void Stop(DestReceiver *receiver)
{
	RowStream &stream = StreamOf(receiver);
	if (stream.inserter != nullptr)
		CloseTarget(*stream.inserter);
	stream.inserter = nullptr;
	Report(stream);
}

void Ignore(DestReceiver *)
{
}

ParamListInfo SlotParameter(std::span<const int32> slots)
{
	ParamListInfo parameters = makeParamList(1);
	parameters->params[0].value = SlotArray(slots);
	parameters->params[0].isnull = false;
	parameters->params[0].pflags = PARAM_FLAG_CONST;
	parameters->params[0].ptype = INT4ARRAYOID;
	return parameters;
}

} // namespace

std::span<const int32> PlacesOfSlots(int32 map_slots, std::span<const int32> slots)
{
	const std::span<int32> places(
		static_cast<int32 *>(palloc(sizeof(int32) * static_cast<Size>(map_slots))),
		static_cast<std::size_t>(map_slots));
	std::ranges::fill(places, -1);
	for (std::size_t i = 0; i < slots.size(); ++i)
		places[static_cast<std::size_t>(slots[i])] = static_cast<int32>(i);
	return places;
}

Datum SlotArray(std::span<const int32> slots)
{
	auto *values = static_cast<Datum *>(palloc(sizeof(Datum) * Max(slots.size(), 1)));
	std::ranges::transform(slots, values, [](int32 slot) { return Int32GetDatum(slot); });
	return PointerGetDatum(construct_array(
		values, static_cast<int>(slots.size()), INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

namespace
{

void Run(const char *statement, const MoveBatch &batch, RowStream &stream)
{
	stream.receiver.receiveSlot = Receive;
	stream.receiver.rStartup = Start;
	stream.receiver.rShutdown = Stop;
	stream.receiver.rDestroy = Ignore;
	stream.receiver.mydest = DestNone;
	stream.memory =
		AllocSetContextCreate(CurrentMemoryContext, "shardkit stream", ALLOCSET_DEFAULT_SIZES);
	SPIExecuteOptions options{};
	options.params = SlotParameter(batch.slots);
	options.dest = &stream.receiver;
	const int result = SPI_execute_extended(statement, &options);
	if (result < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						   errmsg("statement failed: %s", SPI_result_code_string(result)),
						   errdetail_internal("%s", statement)));
	MemoryContextDelete(stream.memory);
}

} // namespace

void RunStreamed(const char *statement, const MoveBatch &batch, std::span<const int32> places,
	std::span<RowSum> sums)
{
	RowStream stream{};
	stream.places = places;
	stream.sums = sums;
	Run(statement, batch, stream);
}

void RunStreamedInto(const char *statement, const MoveBatch &batch, std::span<const int32> places,
	const MoveTable &table)
{
	RowStream stream{};
	stream.places = places;
	stream.sums = table.left;
	stream.target = &table;
	Run(statement, batch, stream);
}

} // namespace shardkit
