#include "pg/place/layout_value.hpp"
#include "pg/predict/tally_call.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

bool IsSameLayout(Datum one, Datum other)
{
	return BytesOf(PG_DETOAST_DATUM_PACKED(one)) == BytesOf(PG_DETOAST_DATUM_PACKED(other));
}

/* The plan of the two layouts in arguments 2 and 3. */
const TallyPlan *PlanOfLayouts(FunctionCallInfo fcinfo, TallyCall &call)
{
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(
			ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a layout must not be null")));
	if (call.plan != nullptr) {
		for (int i = 0; i < 2; ++i)
			if (!IsSameLayout(PG_GETARG_DATUM(2 + i), call.given[i]))
				RefuseOtherLayouts();
		return call.plan;
	}
	const MemoryContext context = fcinfo->flinfo->fn_mcxt;
	auto *plan = static_cast<TallyPlan *>(MemoryContextAllocZero(context, sizeof(TallyPlan)));
	plan->pairs = 1;
	plan->pair[0].before = CompileLayout(PG_GETARG_DATUM(2), context);
	plan->pair[0].after = CompileLayout(PG_GETARG_DATUM(3), context);
	const MemoryContext before = MemoryContextSwitchTo(context);
	for (int i = 0; i < 2; ++i)
		call.given[i] = datumCopy(PG_GETARG_DATUM(2 + i), false, -1);
	MemoryContextSwitchTo(before);
	call.is_constant = AreConstantArguments(fcinfo, 2, 2);
	call.plan = plan;
	return plan;
}

} // namespace

/* (state, hash, old_layout, new_layout [, weight]) */
SHARDKIT_FUNCTION(shardkit_churn_add)
Datum shardkit_churn_add(PG_FUNCTION_ARGS)
{
	TallyCall &call = CallOf(fcinfo);
	Tally &tally =
		TransitionState(fcinfo, call.is_constant ? call.plan : PlanOfLayouts(fcinfo, call));
	if (PG_ARGISNULL(1)) {
		++tally.null_keys;
		PG_RETURN_POINTER(&tally);
	}
	double weight = 0;
	if (PG_NARGS() > 4 && !PG_ARGISNULL(4)) {
		tally.weighted = true;
		weight = static_cast<double>(PG_GETARG_INT64(4));
	}
	AddToTally(tally, static_cast<uint64>(PG_GETARG_INT64(1)), weight);
	PG_RETURN_POINTER(&tally);
}

/* -> (rows, rows_moved, share_moved, null_keys, weight, weight_moved) */
SHARDKIT_FUNCTION(shardkit_churn_final)
Datum shardkit_churn_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!AggCheckCallContext(fcinfo, nullptr))
		elog(ERROR, "shardkit_churn_final called outside an aggregate");
	auto *tally = reinterpret_cast<Tally *>(PG_GETARG_POINTER(0));
	FlushTally(*tally);
	TupleDesc description = nullptr;
	if (get_call_result_type(fcinfo, nullptr, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	const PairTally &pair = tally->pair[0];
	FlowCell all = {};
	FlowCell moved = {};
	for (uint64 i = 0; i < pair.flows.capacity; ++i) {
		const FlowCell &cell = pair.flows.cells[i];
		if (cell.rows == 0)
			continue;
		all.rows += cell.rows;
		all.weight += cell.weight;
		if (pair.same[cell.id / pair.flows.after] == static_cast<int32>(cell.id % pair.flows.after))
			continue;
		moved.rows += cell.rows;
		moved.weight += cell.weight;
	}
	const double share =
		all.rows > 0 ? static_cast<double>(moved.rows) / static_cast<double>(all.rows) : 0;
	Datum values[6] = {Int64GetDatum(static_cast<int64>(all.rows)),
		Int64GetDatum(static_cast<int64>(moved.rows)), Float8GetDatum(share),
		Int64GetDatum(static_cast<int64>(tally->null_keys)), Float8GetDatum(all.weight),
		Float8GetDatum(moved.weight)};
	bool nulls[6] = {};
	nulls[2] = all.rows == 0;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(description), values, nulls)));
}
