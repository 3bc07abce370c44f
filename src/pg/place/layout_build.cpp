#include "pg/place/layout_build.hpp"

#include <algorithm>

#include "core/place/layout_parse.hpp"

#include "pg/pg.hpp"
#include "pg/place/digest.hpp"
#include "pg/place/layout_value.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

namespace shardkit
{

namespace
{

[[noreturn]] void RaiseBadNodes(const char *message)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message),
					   errhint("Name each node once, for example ARRAY['node-0', 'node-1'].")));
}

/* The values of an array without NULLs and of one dimension at most. */
std::span<Datum> ArrayValues(Datum argument, Oid type, int length, bool by_value, char alignment)
{
	ArrayType *array = DatumGetArrayTypeP(argument);
	if (ARR_NDIM(array) > 1)
		RaiseBadNodes("nodes and weights must be arrays of one dimension");
	if (array_contains_nulls(array))
		RaiseBadNodes("nodes and weights must not be null");
	Datum *values;
	int count;
	deconstruct_array(array, type, length, by_value, alignment, &values, nullptr, &count);
	return {values, static_cast<std::size_t>(count)};
}

/* A layout with these nodes, weight 1 each. */
Layout NamedNodes(Datum nodes)
{
	const auto names = ArrayValues(nodes, TEXTOID, -1, false, TYPALIGN_INT);
	if (names.empty())
		RaiseBadNodes("list of nodes is empty");
	if (names.size() > static_cast<std::size_t>(kMaxNodes))
		RaiseBadNodes("more than 65535 nodes");
	Layout layout = NewLayout({names.size(), 0, 0});
	for (std::size_t i = 0; i < names.size(); ++i) {
		const std::string_view name =
			BytesOf(reinterpret_cast<const varlena *>(DatumGetPointer(names[i])));
		if (name.empty())
			RaiseBadNodes("name of a node must not be empty");
		layout.nodes[i] = {name, kWeightOne, 0, static_cast<std::uint32_t>(i)};
	}
	return layout;
}

void AddWeights(Layout &layout, Datum argument)
{
	const auto weights =
		ArrayValues(argument, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	if (weights.size() != layout.nodes.size())
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("%zu weights for %zu nodes", weights.size(), layout.nodes.size()),
						   errhint("Give one weight a node, in the same order.")));
	for (std::size_t i = 0; i < weights.size(); ++i)
		layout.nodes[i].weight = WeightArgument(DatumGetFloat8(weights[i]));
}

void Finish(Layout &layout)
{
	const LayoutFault fault = FinishLayout(layout, true);
	if (fault.message == nullptr)
		return;
	const auto named = std::find_if(layout.nodes.begin(), layout.nodes.end(),
		[&](const LayoutNode &node) { return node.at == fault.at; });
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", fault.message),
					   errdetail("At node %zu, \"%.*s\".", fault.at + 1,
						   static_cast<int>(named->name.size()), named->name.data())));
}

} // namespace

std::int64_t WeightArgument(float8 weight)
{
	/* Written so that NaN fails too. */
	const bool fits = weight > 0 && weight <= WeightNumber(kMaxWeight);
	const auto billionths =
		fits ? static_cast<std::int64_t>(weight * static_cast<double>(kWeightOne) + 0.5) : 0;
	if (billionths < 1)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("weight %g is out of range", weight),
				errhint("A weight is above 0 and at most 100000; it counts in billionths.")));
	return std::min(billionths, kMaxWeight);
}

Layout BuildRing(FunctionCallInfo fcinfo)
{
	const int32 vnodes = PG_GETARG_INT32(2);
	if (vnodes < 1 || vnodes > kMaxTokens)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("vnodes must be from 1 to 4194304, not %d", vnodes)));
	Layout layout = NamedNodes(PG_GETARG_DATUM(1));
	layout.strategy = Strategy::kRing;
	layout.vnodes = vnodes;
	layout.token_hash = AlgorithmNamed(BytesOf(PG_GETARG_VARLENA_PP(3)));
	WarnOfTokenHash(layout.token_hash);
	Finish(layout);
	return layout;
}

Layout BuildRendezvous(FunctionCallInfo fcinfo)
{
	Layout layout = NamedNodes(PG_GETARG_DATUM(1));
	layout.strategy = Strategy::kRendezvous;
	if (PG_NARGS() > 2)
		AddWeights(layout, PG_GETARG_DATUM(2));
	Finish(layout);
	return layout;
}

} // namespace shardkit
