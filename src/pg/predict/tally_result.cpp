#include "pg/place/layout_value.hpp"
#include "pg/predict/tally_state.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

Datum NameDatum(const CompiledLayout &layout, uint32 node)
{
	const std::string_view name = NodeName(layout, static_cast<int32>(node));
	return PointerGetDatum(cstring_to_text_with_len(name.data(), static_cast<int>(name.size())));
}

void CheckShape(const Tally &tally, const TallyPlan &plan)
{
	bool fits = tally.pairs == plan.pairs;
	for (int i = 0; fits && i < plan.pairs; ++i) {
		const TallyPair &layouts = plan.pair[i];
		fits = tally.pair[i].flows.before == static_cast<uint32>(layouts.before->nodes) &&
			   tally.pair[i].flows.after ==
				   (layouts.after == nullptr ? 1 : static_cast<uint32>(layouts.after->nodes));
	}
	if (!fits)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("the counts do not belong to these layouts")));
}

void PutFlows(ReturnSetInfo *result, int number, const PairTally &pair, const TallyPair &layouts)
{
	for (uint64 i = 0; i < pair.flows.capacity; ++i) {
		CHECK_FOR_INTERRUPTS();
		const FlowCell &cell = pair.flows.cells[i];
		if (cell.rows == 0)
			continue;
		const auto from = static_cast<uint32>(cell.id / pair.flows.after);
		const auto to = static_cast<uint32>(cell.id % pair.flows.after);
		Datum values[6] = {Int32GetDatum(number), NameDatum(*layouts.before, from), 0,
			Int64GetDatum(static_cast<int64>(cell.rows)),
			Int64GetDatum(static_cast<int64>(cell.keys)), Float8GetDatum(cell.weight)};
		bool nulls[6] = {};
		nulls[2] = layouts.after == nullptr;
		if (!nulls[2])
			values[2] = NameDatum(*layouts.after, to);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

} // namespace

/* (old layout[], new layout[]) -> plan; no new layout, or NULL in its place: count under old. */
SHARDKIT_FUNCTION(shardkit_tally_plan)
Datum shardkit_tally_plan(PG_FUNCTION_ARGS)
{
	StringInfoData plan;
	initStringInfo(&plan);
	plan.len = VARHDRSZ;
	ArrayType *arrays[2] = {PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1)};
	Datum *layouts[2];
	bool *nulls[2];
	int counts[2];
	for (int i = 0; i < 2; ++i)
		deconstruct_array(arrays[i], ARR_ELEMTYPE(arrays[i]), -1, false, TYPALIGN_INT, &layouts[i],
			&nulls[i], &counts[i]);
	if (counts[0] != counts[1] || counts[0] < 1 || counts[0] > kMaxLayoutPairs)
		ereport(
			ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("a prediction compares 1 to %d pairs of layouts", kMaxLayoutPairs)));
	for (int pair = 0; pair < counts[0]; ++pair)
		for (int i = 0; i < 2; ++i) {
			if (!nulls[i][pair]) {
				const auto *layout = PG_DETOAST_DATUM_PACKED(layouts[i][pair]);
				const std::string_view text = BytesOf(layout);
				appendBinaryStringInfo(&plan, text.data(), static_cast<int>(text.size()));
			} else if (i == 0)
				ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a layout must not be null")));
			appendStringInfoChar(&plan, '\0');
		}
	SET_VARSIZE(plan.data, plan.len);
	PG_RETURN_BYTEA_P(plan.data);
}

/* (plan, types) -> the plan, to be refused where the key has other types. */
SHARDKIT_FUNCTION(shardkit_tally_typed_plan)
Datum shardkit_tally_typed_plan(PG_FUNCTION_ARGS)
{
	const varlena *plan = PG_GETARG_VARLENA_PP(0);
	ArrayType *types = PG_GETARG_ARRAYTYPE_P(1);
	Datum *values = nullptr;
	int count = 0;
	if (ARR_HASNULL(types))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("types must not be null")));
	deconstruct_array(
		types, ARR_ELEMTYPE(types), sizeof(Oid), true, TYPALIGN_INT, &values, nullptr, &count);
	StringInfoData typed;
	initStringInfo(&typed);
	typed.len = VARHDRSZ;
	for (int i = 0; i < count; ++i)
		appendStringInfo(&typed, "%c%u", i == 0 ? '#' : ',', DatumGetObjectId(values[i]));
	appendStringInfoChar(&typed, '\0');
	appendBinaryStringInfo(&typed, VARDATA_ANY(plan), static_cast<int>(VARSIZE_ANY_EXHDR(plan)));
	SET_VARSIZE(typed.data, typed.len);
	PG_RETURN_BYTEA_P(typed.data);
}

/* (counts, plan) -> (pair, from_node, to_node, rows, keys, weight), what occurs only. */
SHARDKIT_FUNCTION(shardkit_tally_flows)
Datum shardkit_tally_flows(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
	const Tally *tally = ReadTally(CurrentMemoryContext, PG_GETARG_VARLENA_PP(0));
	const TallyPlan *plan = ReadTallyPlan(PG_GETARG_VARLENA_PP(1), CurrentMemoryContext);
	CheckShape(*tally, *plan);
	for (int i = 0; i < tally->pairs; ++i)
		PutFlows(result, i + 1, tally->pair[i], plan->pair[i]);
	return 0;
}

/* (counts, plan) -> (node, rows, key): the largest key of each node of the first layout. */
SHARDKIT_FUNCTION(shardkit_tally_largest)
Datum shardkit_tally_largest(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
	const Tally *tally = ReadTally(CurrentMemoryContext, PG_GETARG_VARLENA_PP(0));
	const TallyPlan *plan = ReadTallyPlan(PG_GETARG_VARLENA_PP(1), CurrentMemoryContext);
	CheckShape(*tally, *plan);
	for (uint32 node = 0; tally->largest != nullptr && node < tally->pair[0].flows.before; ++node) {
		const LargestKey &largest = tally->largest[node];
		if (largest.rows == 0)
			continue;
		Datum values[3] = {NameDatum(*plan->pair[0].before, node),
			Int64GetDatum(static_cast<int64>(largest.rows)), CStringGetTextDatum(largest.key)};
		bool nulls[3] = {};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return 0;
}

/* (counts, all_blocks) -> (null_keys, blocks, share_low, share_high). */
SHARDKIT_FUNCTION(shardkit_tally_sample)
Datum shardkit_tally_sample(PG_FUNCTION_ARGS)
{
	TupleDesc description = nullptr;
	if (get_call_result_type(fcinfo, nullptr, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	const Tally *tally = ReadTally(CurrentMemoryContext, PG_GETARG_VARLENA_PP(0));
	const ShareRange interval = ShareInterval(tally->blocks, PG_GETARG_FLOAT8(1));
	Datum values[4] = {Int64GetDatum(static_cast<int64>(tally->null_keys)),
		Float8GetDatum(tally->blocks.blocks), Float8GetDatum(interval.low),
		Float8GetDatum(interval.high)};
	bool nulls[4] = {};
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(description), values, nulls)));
}
