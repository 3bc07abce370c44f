#include "pg/predict/tally_state.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

/* Raised with every change of this form: another server may run another version. */
constexpr uint32 kTallyForm = 0x534b5401;

constexpr uint32 kMaxTallyNodes = 65'535;

struct TallyHead {
	uint32 form;
	uint32 pairs;
	uint64 null_keys;
	BlockSums blocks;
	uint32 has_largest;
	uint32 unused;
};

struct PairHead {
	uint32 before;
	uint32 after;
	uint64 cells;
	uint32 compares;
	uint32 unused;
};

template <typename Item>
void Append(StringInfo out, const Item &item)
{
	appendBinaryStringInfo(out, reinterpret_cast<const char *>(&item), sizeof(Item));
}

void AppendPair(StringInfo out, const PairTally &pair)
{
	PairHead head = {.before = pair.flows.before,
		.after = pair.flows.after,
		.cells = 0,
		.compares = pair.same != nullptr ? 1U : 0U,
		.unused = 0};
	for (uint64 i = 0; i < pair.flows.capacity; ++i)
		head.cells += pair.flows.cells[i].rows > 0 ? 1 : 0;
	Append(out, head);
	if (pair.same != nullptr)
		appendBinaryStringInfo(out, reinterpret_cast<const char *>(pair.same),
			static_cast<int>(pair.flows.before * sizeof(int32)));
	for (uint64 i = 0; i < pair.flows.capacity; ++i)
		if (pair.flows.cells[i].rows > 0)
			Append(out, pair.flows.cells[i]);
}

void AppendLargest(StringInfo out, const Tally &tally)
{
	for (uint32 node = 0; node < tally.pair[0].flows.before; ++node) {
		const LargestKey &largest = tally.largest[node];
		Append(out, largest.rows);
		appendBinaryStringInfo(out, largest.key != nullptr ? largest.key : "",
			static_cast<int>(largest.key != nullptr ? strlen(largest.key) : 0) + 1);
	}
}

/* What is left to read. */
struct Rest {
	const char *at;
	const char *end;
};

[[noreturn]] void Refuse()
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					   errmsg("not the counts of a prediction by this version of shardkit"),
					   errhint("Install the same version of shardkit on all servers.")));
	pg_unreachable();
}

void Take(Rest &rest, void *into, uint64 bytes)
{
	if (static_cast<uint64>(rest.end - rest.at) < bytes)
		Refuse();
	memcpy(into, rest.at, bytes);
	rest.at += bytes;
}

void TakePair(Rest &rest, Tally &tally, PairTally &pair)
{
	PairHead head;
	Take(rest, &head, sizeof(head));
	if (head.before < 1 || head.before > kMaxTallyNodes || head.after < 1 ||
		head.after > kMaxTallyNodes)
		Refuse();
	InitPairTally(tally, pair, head.before, head.after, head.compares == 1);
	if (pair.same != nullptr)
		Take(rest, pair.same, head.before * sizeof(int32));
	for (uint64 i = 0; i < head.cells; ++i) {
		FlowCell cell;
		Take(rest, &cell, sizeof(cell));
		if (cell.id >= static_cast<uint64>(head.before) * head.after)
			Refuse();
		ReserveFlows(tally, pair.flows, 1);
		AddFlow(pair.flows, cell);
	}
}

void TakeLargest(Rest &rest, Tally &tally)
{
	for (uint32 node = 0; node < tally.pair[0].flows.before; ++node) {
		uint64 rows = 0;
		Take(rest, &rows, sizeof(rows));
		const auto *end =
			static_cast<const char *>(memchr(rest.at, '\0', static_cast<Size>(rest.end - rest.at)));
		if (end == nullptr)
			Refuse();
		pg_verifymbstr(rest.at, static_cast<int>(end - rest.at), false);
		if (rows > 0)
			KeepLargest(tally, node, rows, rest.at);
		rest.at = end + 1;
	}
}

} // namespace

bytea *WriteTally(Tally &tally)
{
	CloseBlock(tally);
	StringInfoData out;
	initStringInfo(&out);
	out.len = VARHDRSZ;
	Append(&out, TallyHead{.form = kTallyForm,
					 .pairs = static_cast<uint32>(tally.pairs),
					 .null_keys = tally.null_keys,
					 .blocks = tally.blocks,
					 .has_largest = tally.largest != nullptr ? 1U : 0U,
					 .unused = 0});
	for (int i = 0; i < tally.pairs; ++i)
		AppendPair(&out, tally.pair[i]);
	if (tally.largest != nullptr)
		AppendLargest(&out, tally);
	SET_VARSIZE(out.data, out.len);
	return reinterpret_cast<bytea *>(out.data);
}

Tally *ReadTally(MemoryContext context, const varlena *bytes)
{
	Rest rest = {VARDATA_ANY(bytes), VARDATA_ANY(bytes) + VARSIZE_ANY_EXHDR(bytes)};
	TallyHead head;
	Take(rest, &head, sizeof(head));
	if (head.form != kTallyForm || head.pairs < 1 || head.pairs > kMaxLayoutPairs)
		Refuse();
	Tally *tally = NewTallyOf(context, static_cast<int>(head.pairs));
	tally->null_keys = head.null_keys;
	tally->blocks = head.blocks;
	for (int i = 0; i < tally->pairs; ++i)
		TakePair(rest, *tally, tally->pair[i]);
	if (head.has_largest == 1)
		TakeLargest(rest, *tally);
	if (rest.at != rest.end)
		Refuse();
	return tally;
}

} // namespace shardkit
