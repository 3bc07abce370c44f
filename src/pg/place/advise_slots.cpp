/* advise_slots: numbers of slots that can be dealt evenly. */
#include "core/place/advise_slots.hpp"

#include "core/place/layout.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "funcapi.h"
}

namespace
{

constexpr int kMaxNodeCounts = 1000;

std::span<const std::int32_t> NodeCounts(ArrayType *array)
{
	const int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (count < 1 || count > kMaxNodeCounts || array_contains_nulls(array))
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("node counts must be 1 to %d numbers, none of them null", kMaxNodeCounts)));
	const std::span<const std::int32_t> counts{
		reinterpret_cast<const int32 *>(ARR_DATA_PTR(array)), static_cast<std::size_t>(count)};
	for (const auto nodes : counts)
		if (nodes < 1)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							   errmsg("node count must be at least 1, not %d", nodes)));
	return counts;
}

} // namespace

SHARDKIT_FUNCTION(shardkit_advise_slots)
Datum shardkit_advise_slots(PG_FUNCTION_ARGS)
{
	const auto counts = NodeCounts(PG_GETARG_ARRAYTYPE_P(0));
	const int32 at_least = PG_GETARG_INT32(1);
	const int32 at_most = PG_GETARG_INT32(2);
	if (at_least < 1 || at_most < at_least || at_most > shardkit::kMaxSlots)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("no number of slots lies between %d and %d", at_least, at_most),
						   errhint("Give two numbers from 1 to 1048576, the smaller one first.")));
	InitMaterializedSRF(fcinfo, 0);
	const auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);

	const auto rows = static_cast<std::size_t>(at_most - at_least) + 1;
	auto *advice = static_cast<shardkit::SlotAdvice *>(palloc(rows * sizeof(shardkit::SlotAdvice)));
	for (std::size_t i = 0; i < rows; ++i) {
		advice[i] = shardkit::JudgeSlots(at_least + static_cast<int32>(i), counts);
		CHECK_FOR_INTERRUPTS();
	}
	shardkit::RankAdvice({advice, rows});
	for (std::size_t i = 0; i < rows; ++i) {
		Datum values[] = {Int32GetDatum(advice[i].slots), Int32GetDatum(advice[i].even_for),
			Float8GetDatum(advice[i].worst_over_mean)};
		bool nulls[] = {false, false, false};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		CHECK_FOR_INTERRUPTS();
	}
	return Datum{0};
}
