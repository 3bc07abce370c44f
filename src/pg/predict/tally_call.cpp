#include "pg/predict/tally_call.hpp"

#include "pg/place/layout_value.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

bool AreConstantArguments(FunctionCallInfo fcinfo, int first, int count)
{
	const Aggref *call = AggGetAggref(fcinfo);
	if (call == nullptr)
		return false;
	for (int i = first; i < first + count; ++i) {
		/* The aggregate's own arguments do not count the state. */
		const auto *entry = static_cast<const TargetEntry *>(list_nth(call->args, i - 1));
		const Node *value = reinterpret_cast<const Node *>(entry->expr);
		const bool is_parameter =
			IsA(value, Param) && reinterpret_cast<const Param *>(value)->paramkind == PARAM_EXTERN;
		if (!IsA(value, Const) && !is_parameter)
			return false;
	}
	return true;
}

TallyCall &CallOf(FunctionCallInfo fcinfo)
{
	if (fcinfo->flinfo->fn_extra == nullptr)
		fcinfo->flinfo->fn_extra =
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(TallyCall));
	return *static_cast<TallyCall *>(fcinfo->flinfo->fn_extra);
}

Tally &TransitionState(FunctionCallInfo fcinfo, const TallyPlan *plan)
{
	if (!PG_ARGISNULL(0))
		return *reinterpret_cast<Tally *>(PG_GETARG_POINTER(0));
	MemoryContext context = nullptr;
	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("this function runs only as part of an aggregate")));
	return *NewTally(context, plan);
}

void RefuseOtherLayouts()
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("the layouts of a prediction must be the same for all rows"),
					   errhint("Give them as constants, or group by them in a subquery.")));
	pg_unreachable();
}

const TallyPlan *CheckPlanArgument(FunctionCallInfo fcinfo, TallyCall &call)
{
	if (PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						   errmsg("the plan of a prediction must not be null")));
	const varlena *bytes = PG_GETARG_VARLENA_PP(1);
	if (call.plan != nullptr) {
		if (BytesOf(bytes) !=
			BytesOf(reinterpret_cast<const varlena *>(DatumGetPointer(call.given[0]))))
			RefuseOtherLayouts();
		return call.plan;
	}
	const MemoryContext context = fcinfo->flinfo->fn_mcxt;
	TallyPlan *plan = ReadTallyPlan(bytes, context);
	const MemoryContext before = MemoryContextSwitchTo(context);
	call.given[0] = datumCopy(PointerGetDatum(bytes), false, -1);
	MemoryContextSwitchTo(before);
	call.is_constant = AreConstantArguments(fcinfo, 1, 1);
	call.plan = plan;
	return plan;
}

} // namespace shardkit
