#include "pg/predict/tally_state.hpp"

#include "pg/place/layout_value.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

/* A table of more cells than this is a mistake in the layouts rather than a wish. */
constexpr uint64 kMaxFlowCells = 1 << 24;

[[noreturn]] void RefusePlan(const char *reason)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("invalid plan of a prediction: %s", reason)));
	pg_unreachable();
}

/* '#20,25': the types that the key must have, as the server that asks sees them. */
void ReadKeyTypes(std::string_view text, TallyPlan &plan)
{
	uint64 type = 0;
	for (std::size_t i = 1; i <= text.size(); ++i) {
		if (i < text.size() && text[i] >= '0' && text[i] <= '9' && type < PG_UINT32_MAX) {
			type = type * 10 + static_cast<uint64>(text[i] - '0');
			continue;
		}
		if (plan.key_columns == kMaxKeyColumns || type > PG_UINT32_MAX ||
			(i < text.size() && text[i] != ','))
			RefusePlan("types of the key are expected");
		plan.key_types[plan.key_columns++] = static_cast<Oid>(type);
		type = 0;
	}
}

FlowCell *AllocateCells(MemoryContext context, uint64 cells)
{
	return static_cast<FlowCell *>(MemoryContextAllocHuge(context, cells * sizeof(FlowCell)));
}

/* The text at the head of rest, which is cut off with its zero byte. */
std::string_view NextText(std::string_view &rest)
{
	const std::size_t end = rest.find('\0');
	if (end == std::string_view::npos)
		RefusePlan("a layout does not end");
	const std::string_view text = rest.substr(0, end);
	pg_verifymbstr(text.data(), static_cast<int>(text.size()), false);
	rest.remove_prefix(end + 1);
	return text;
}

void Match(const TallyPair &layouts, int32 *same)
{
	const auto before = static_cast<Size>(layouts.before->nodes);
	const Size all = before + static_cast<Size>(layouts.after->nodes);
	auto *scratch = static_cast<int32 *>(palloc(all * sizeof(int32)));
	MatchNodes(layouts, {same, before}, {scratch, all});
	pfree(scratch);
}

} // namespace

TallyPlan *ReadTallyPlan(const varlena *bytes, MemoryContext context)
{
	auto *plan = static_cast<TallyPlan *>(MemoryContextAllocZero(context, sizeof(TallyPlan)));
	std::string_view rest = BytesOf(bytes);
	if (rest.starts_with('#'))
		ReadKeyTypes(NextText(rest), *plan);
	while (!rest.empty()) {
		if (plan->pairs == kMaxLayoutPairs)
			RefusePlan("too many layouts");
		TallyPair &pair = plan->pair[plan->pairs++];
		pair.before = CompileText(NextText(rest), context);
		const std::string_view after = NextText(rest);
		pair.after = after.empty() ? nullptr : CompileText(after, context);
	}
	if (plan->pairs == 0)
		RefusePlan("no layouts");
	return plan;
}

Tally *NewTallyOf(MemoryContext context, int pairs)
{
	auto *tally = static_cast<Tally *>(MemoryContextAllocZero(context, sizeof(Tally)));
	tally->context = context;
	tally->pairs = pairs;
	tally->pair = static_cast<PairTally *>(
		MemoryContextAllocZero(context, static_cast<Size>(pairs) * sizeof(PairTally)));
	tally->block = InvalidBlockNumber;
	return tally;
}

void InitPairTally(Tally &tally, PairTally &pair, uint32 before, uint32 after, bool compares)
{
	const uint64 cells = FlowCells(before, after);
	pair.flows = MakeFlows(before, after, {AllocateCells(tally.context, cells), cells});
	if (compares)
		pair.same = static_cast<int32 *>(MemoryContextAlloc(tally.context, before * sizeof(int32)));
}

Tally *NewTally(MemoryContext context, const TallyPlan *plan)
{
	Tally *tally = NewTallyOf(context, plan->pairs);
	tally->plan = plan;
	for (int i = 0; i < plan->pairs; ++i) {
		const TallyPair &layouts = plan->pair[i];
		const auto before = static_cast<uint32>(layouts.before->nodes);
		const bool compares = layouts.after != nullptr;
		InitPairTally(*tally, tally->pair[i], before,
			compares ? static_cast<uint32>(layouts.after->nodes) : 1, compares);
		if (compares)
			Match(layouts, tally->pair[i].same);
	}
	return tally;
}

void ReserveFlows(Tally &tally, Flows &flows, uint64 more)
{
	while (!HasRoom(flows, more)) {
		const uint64 cells = flows.capacity * 2;
		if (cells > kMaxFlowCells)
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							   errmsg("too many pairs of nodes between which rows move"),
							   errhint("Use layouts with fewer nodes.")));
		FlowCell *smaller = flows.cells;
		Flows grown =
			MakeFlows(flows.before, flows.after, {AllocateCells(tally.context, cells), cells});
		for (uint64 i = 0; i < flows.capacity; ++i)
			AddFlow(grown, smaller[i]);
		flows = grown;
		pfree(smaller);
	}
}

void FlushTally(Tally &tally)
{
	if (tally.buffered == 0)
		return;
	const std::span<const uint64> hashes{tally.hashes, tally.buffered};
	const double *weights = tally.weighted ? tally.weights : nullptr;
	const bool in_block = tally.block != InvalidBlockNumber;
	for (int i = 0; i < tally.pairs; ++i) {
		PairTally &pair = tally.pair[i];
		ReserveFlows(tally, pair.flows, tally.buffered);
		const int32 *same = i == 0 && in_block ? pair.same : nullptr;
		const uint64 moved = CountBatch(tally.plan->pair[i], pair.flows, hashes, weights, same);
		if (i == 0)
			tally.block_moved += static_cast<double>(moved);
	}
	tally.block_rows += tally.buffered;
	tally.buffered = 0;
}

void KeepLargest(Tally &tally, uint32 node, uint64 rows, const char *key)
{
	if (tally.largest == nullptr)
		tally.largest = static_cast<LargestKey *>(
			MemoryContextAllocZero(tally.context, tally.pair[0].flows.before * sizeof(LargestKey)));
	LargestKey &largest = tally.largest[node];
	/* Of equal ones the first in byte order, so that every plan gives the same answer. */
	if (rows < largest.rows ||
		(rows == largest.rows && largest.key != nullptr && strcmp(key, largest.key) >= 0))
		return;
	largest.rows = rows;
	if (largest.key != nullptr)
		pfree(largest.key);
	largest.key = MemoryContextStrdup(tally.context, key);
}

void AddKeyToTally(Tally &tally, uint64 hash, uint64 rows, double weight, const char *key)
{
	for (int i = 0; i < tally.pairs; ++i) {
		const TallyPair &layouts = tally.plan->pair[i];
		const auto from = static_cast<uint32>(Place(*layouts.before, hash));
		const auto to =
			layouts.after == nullptr ? 0 : static_cast<uint32>(Place(*layouts.after, hash));
		ReserveFlows(tally, tally.pair[i].flows, 1);
		FlowCell &cell = FlowAt(tally.pair[i].flows, from, to);
		cell.rows += rows;
		cell.keys += 1;
		cell.weight += weight;
		if (i == 0 && key != nullptr)
			KeepLargest(tally, from, rows, key);
	}
}

void CloseBlock(Tally &tally)
{
	FlushTally(tally);
	if (tally.block != InvalidBlockNumber && tally.block_rows > 0)
		AddBlock(tally.blocks, tally.block_rows, tally.block_moved);
	tally.block_rows = 0;
	tally.block_moved = 0;
	tally.block = InvalidBlockNumber;
}

void EnterBlock(Tally &tally, Oid table, BlockNumber block)
{
	if (tally.table == table && tally.block == block)
		return;
	CloseBlock(tally);
	tally.table = table;
	tally.block = block;
}

void MergeTally(Tally &into, Tally &from)
{
	CloseBlock(into);
	CloseBlock(from);
	if (into.pairs != from.pairs)
		RefusePlan("parts of two different predictions");
	for (int i = 0; i < into.pairs; ++i) {
		Flows &own = into.pair[i].flows;
		const Flows &other = from.pair[i].flows;
		if (own.before != other.before || own.after != other.after)
			RefusePlan("parts of two different predictions");
		for (uint64 cell = 0; cell < other.capacity; ++cell) {
			ReserveFlows(into, own, 1);
			AddFlow(own, other.cells[cell]);
		}
	}
	MergeBlocks(into.blocks, from.blocks);
	into.null_keys += from.null_keys;
	for (uint32 node = 0; from.largest != nullptr && node < from.pair[0].flows.before; ++node)
		if (from.largest[node].key != nullptr)
			KeepLargest(into, node, from.largest[node].rows, from.largest[node].key);
}

} // namespace shardkit
