/* The planner for SQL: over arrays, so that it can be asked about maps that do not exist. */
#include "core/map/plan.hpp"
#include "core/map/plan_best.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

struct Array {
	Datum *values;
	bool *nulls;
	int length;
};

Array ReadArray(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(
			ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be null", name)));
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						   errmsg("%s must be an array of one dimension", name)));
	int16 length;
	bool by_value;
	char alignment;
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
	Array result;
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &result.values,
		&result.nulls, &result.length);
	return result;
}

Datum NotNull(const Array &array, int index, const char *name)
{
	if (array.nulls[index])
		ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain a null", name)));
	return array.values[index];
}

void CheckLength(const Array &array, const char *name, const Array &other, const char *other_name)
{
	if (array.length != other.length)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						   errmsg("%s must have as many elements as %s: %d, not %d", name,
							   other_name, other.length, array.length)));
}

std::span<PlanNode> ReadNodes(FunctionCallInfo fcinfo, int weights_argument)
{
	const Array weights = ReadArray(fcinfo, weights_argument, "weights");
	const Array draining = ReadArray(fcinfo, weights_argument + 1, "draining");
	CheckLength(draining, "draining", weights, "weights");
	auto *nodes = static_cast<PlanNode *>(
		palloc(sizeof(PlanNode) * static_cast<size_t>(Max(weights.length, 1))));
	bool any_active = false;
	for (int i = 0; i < weights.length; ++i) {
		const double weight = DatumGetFloat8(NotNull(weights, i, "weights"));
		if (!(weight > 0 && weight < get_float8_infinity()))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							   errmsg("weights must be positive and finite")));
		if (!IsWeight(weight))
			ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
							   errmsg("weights must be between 1e-100 and 1e+100"),
							   errhint("They count relative to each other: scale all of them.")));
		nodes[i] = {weight, DatumGetBool(NotNull(draining, i, "draining"))};
		any_active = any_active || !nodes[i].draining;
	}
	if (!any_active)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						   errmsg("there is no node to move slots to"),
						   errhint("Add a node, or make a draining one active again.")));
	return {nodes, static_cast<size_t>(weights.length)};
}

struct Slots {
	std::span<PlanSlot> slots;
	bool have_loads;
};

constexpr int64 kMostLoad = int64{1} << 62;

Slots ReadSlots(FunctionCallInfo fcinfo, size_t nodes)
{
	const Array owners = ReadArray(fcinfo, 0, "owners");
	const Array moving = ReadArray(fcinfo, 1, "moving");
	CheckLength(moving, "moving", owners, "owners");
	const bool have_loads = !PG_ARGISNULL(2);
	Array loads{};
	if (have_loads) {
		loads = ReadArray(fcinfo, 2, "loads");
		CheckLength(loads, "loads", owners, "owners");
	}
	auto *slots = static_cast<PlanSlot *>(
		palloc(sizeof(PlanSlot) * static_cast<size_t>(Max(owners.length, 1))));
	int64 total = 0;
	for (int i = 0; i < owners.length; ++i) {
		const int32 owner = owners.nulls[i] ? 0 : DatumGetInt32(owners.values[i]);
		const int64 load = have_loads ? DatumGetInt64(NotNull(loads, i, "loads")) : 1;
		if (!owners.nulls[i] && (owner < 1 || static_cast<size_t>(owner) > nodes))
			ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("owners must be between 1 and the number of nodes, not %d", owner)));
		if (load < 0 || load >= kMostLoad - total)
			ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
							   errmsg("loads must not be negative, and less than 2^62 together")));
		total += load;
		slots[i] = {load, owner - 1, DatumGetBool(NotNull(moving, i, "moving"))};
	}
	return {{slots, static_cast<size_t>(owners.length)}, have_loads};
}

double ReadTolerance(FunctionCallInfo fcinfo, int argument)
{
	const double tolerance = PG_ARGISNULL(argument) ? -1 : PG_GETARG_FLOAT8(argument);
	if (!(tolerance >= 0 && tolerance <= 1))
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("tolerance must be between 0 and 1"),
				errhint("0.05 lets every node hold 5 %% more or less than its share.")));
	return tolerance;
}

std::span<std::byte> Memory(size_t bytes)
{
	return {static_cast<std::byte *>(palloc_extended(bytes, MCXT_ALLOC_HUGE)), bytes};
}

struct Ranges {
	std::span<PlanRange> ranges;
	std::span<int32> hosts;
};

Ranges FindRanges(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	double tolerance, std::span<std::byte> scratch)
{
	Ranges found{{static_cast<PlanRange *>(palloc(sizeof(PlanRange) * nodes.size())), nodes.size()},
		{static_cast<int32 *>(palloc(sizeof(int32) * (slots.size() + 1))), slots.size()}};
	PlanRanges(nodes, slots, tolerance, scratch, found.ranges, found.hosts);
	return found;
}

size_t PlanByLoad(std::span<const PlanNode> nodes, std::span<const PlanSlot> slots,
	double tolerance, std::span<std::byte> scratch, std::span<PlanMove> moves)
{
	const Ranges found = FindRanges(nodes, slots, tolerance, scratch);
	const std::span<int32> owner{
		static_cast<int32 *>(palloc(sizeof(int32) * (slots.size() + 1))), slots.size()};
	BestLoadPlan(nodes, slots, found.ranges, found.hosts,
		Memory(BestPlanScratch(slots.size(), nodes.size())), owner,
		[]() { CHECK_FOR_INTERRUPTS(); });
	return OrderMoves(slots, found.ranges, owner, scratch, moves);
}

} // namespace

/* plan_moves(owners, moving, loads, weights, draining, tolerance, max_moves) */
SHARDKIT_FUNCTION(shardkit_plan_moves)
Datum shardkit_plan_moves(PG_FUNCTION_ARGS)
{
	const std::span<PlanNode> nodes = ReadNodes(fcinfo, 3);
	const Slots read = ReadSlots(fcinfo, nodes.size());
	const std::span<PlanSlot> slots = read.slots;
	const double tolerance = ReadTolerance(fcinfo, 5);
	const int32 most = PG_ARGISNULL(6) ? PG_INT32_MAX : PG_GETARG_INT32(6);
	if (most < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("max_moves must not be negative, not %d", most)));

	const std::span<std::byte> scratch = Memory(PlanScratch(slots.size(), nodes.size()));
	const std::span<PlanMove> moves{
		static_cast<PlanMove *>(palloc(sizeof(PlanMove) * (slots.size() + 1))), slots.size()};
	const size_t found = read.have_loads ? PlanByLoad(nodes, slots, tolerance, scratch, moves)
										 : PlanBySlots(nodes, slots, scratch, moves);

	InitMaterializedSRF(fcinfo, 0);
	auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
	for (const auto &move : moves.first(Min(found, static_cast<size_t>(most)))) {
		Datum values[] = {
			Int32GetDatum(move.slot), Int32GetDatum(move.from + 1), Int32GetDatum(move.to + 1)};
		bool nulls[] = {false, false, false};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return Datum{0};
}

/* plan_ranges(owners, moving, loads, weights, draining, tolerance) */
SHARDKIT_FUNCTION(shardkit_plan_ranges)
Datum shardkit_plan_ranges(PG_FUNCTION_ARGS)
{
	const std::span<PlanNode> nodes = ReadNodes(fcinfo, 3);
	const std::span<PlanSlot> slots = ReadSlots(fcinfo, nodes.size()).slots;
	const std::span<std::byte> scratch = Memory(PlanScratch(slots.size(), nodes.size()));
	const Ranges found = FindRanges(nodes, slots, ReadTolerance(fcinfo, 5), scratch);
	const int64 bound = PlanLowerBound(nodes, slots, found.ranges, scratch);

	InitMaterializedSRF(fcinfo, 0);
	auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
	for (size_t node = 0; node < nodes.size(); ++node) {
		Datum values[] = {Int32GetDatum(static_cast<int32>(node) + 1),
			Int64GetDatum(found.ranges[node].lowest), Int64GetDatum(found.ranges[node].highest),
			Int64GetDatum(bound)};
		bool nulls[] = {false, false, false, false};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return Datum{0};
}
