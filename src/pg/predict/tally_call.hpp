/* What a call site of a prediction aggregate keeps for all its groups and rows. */
#ifndef SHARDKIT_PG_TALLY_CALL_HPP
#define SHARDKIT_PG_TALLY_CALL_HPP

#include "pg/key/key_arguments.hpp"
#include "pg/predict/tally_state.hpp"

namespace shardkit
{

struct TallyCall {
	TallyPlan *plan;
	bool is_constant; /* the layouts cannot differ from row to row */
	Datum given[2];   /* copies of what the plan was made from, to tell whether it does */
	KeyArguments arguments;
	KeyHasher *hasher;
};

/* Are these arguments of an aggregate's call the same for all rows of the statement? */
bool AreConstantArguments(FunctionCallInfo fcinfo, int first, int count);

/* The call's kept data; a first call has no plan yet. */
TallyCall &CallOf(FunctionCallInfo fcinfo);

/* The state of an aggregate's transition function; makes it on the first row of a group. */
Tally &TransitionState(FunctionCallInfo fcinfo, const TallyPlan *plan);

/* The plan in argument 1, as bytes; made ready once a statement. */
inline const TallyPlan *PlanArgument(FunctionCallInfo fcinfo, TallyCall &call);
const TallyPlan *CheckPlanArgument(FunctionCallInfo fcinfo, TallyCall &call);

inline const TallyPlan *PlanArgument(FunctionCallInfo fcinfo, TallyCall &call)
{
	return call.is_constant ? call.plan : CheckPlanArgument(fcinfo, call);
}

[[noreturn]] void RefuseOtherLayouts();

} // namespace shardkit

#endif
