/* Layouts that grow and shrink, what each node owns, and what changes between two. */
#include "core/place/layout_change.hpp"

#include "core/place/layout_share.hpp"

#include "pg/pg.hpp"
#include "pg/place/layout_build.hpp"
#include "pg/place/layout_value.hpp"

extern "C" {
#include "funcapi.h"
}

namespace
{

using shardkit::BytesOf;
using shardkit::Layout;
using shardkit::ReadLayout;

/* An empty layout with room for so many nodes and for the slots of another. */
Layout RoomLike(const Layout &from, std::size_t nodes)
{
	return shardkit::NewLayout({nodes, 0, from.owners.size()});
}

std::size_t NodeNamed(const Layout &layout, std::string_view name)
{
	const std::int32_t node = shardkit::FindNode(layout, name);
	if (node < 0)
		ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("layout has no node \"%.*s\"", static_cast<int>(name.size()), name.data()),
				errhint("layout_nodes() lists its nodes.")));
	return static_cast<std::size_t>(node);
}

void CheckChange(const char *message, const char *hint)
{
	if (message != nullptr)
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message), errhint("%s", hint)));
}

/* A layout with what it compiles to, in the current memory context. */
struct Compared {
	Layout layout;
	const shardkit::CompiledLayout *compiled;
};

Compared ReadCompared(const varlena *value)
{
	const Layout layout = ReadLayout(BytesOf(value));
	return {layout, shardkit::CompileParsed(layout, CurrentMemoryContext)};
}

template <typename Item>
std::span<Item> Room(std::size_t count)
{
	return {static_cast<Item *>(palloc(count * sizeof(Item))), count};
}

} // namespace

SHARDKIT_FUNCTION(shardkit_layout_add)
Datum shardkit_layout_add(PG_FUNCTION_ARGS)
{
	const Layout from = ReadLayout(BytesOf(PG_GETARG_VARLENA_PP(0)));
	Layout to = RoomLike(from, from.nodes.size() + 1);
	CheckChange(shardkit::AddNode(from, BytesOf(PG_GETARG_VARLENA_PP(1)),
					shardkit::WeightArgument(PG_GETARG_FLOAT8(2)), to),
		"Weights are for ring, rendezvous and slots; each name stands once.");
	PG_RETURN_POINTER(shardkit::WriteLayout(to));
}

SHARDKIT_FUNCTION(shardkit_layout_split)
Datum shardkit_layout_split(PG_FUNCTION_ARGS)
{
	const Layout from = ReadLayout(BytesOf(PG_GETARG_VARLENA_PP(0)));
	Layout to = RoomLike(from, from.nodes.size() + 1);
	const std::size_t node = NodeNamed(from, BytesOf(PG_GETARG_VARLENA_PP(1)));
	CheckChange(shardkit::SplitNode(from, node, BytesOf(PG_GETARG_VARLENA_PP(2)), to),
		"Use layout_add() where there is nothing to split.");
	PG_RETURN_POINTER(shardkit::WriteLayout(to));
}

SHARDKIT_FUNCTION(shardkit_layout_remove)
Datum shardkit_layout_remove(PG_FUNCTION_ARGS)
{
	const Layout from = ReadLayout(BytesOf(PG_GETARG_VARLENA_PP(0)));
	const std::size_t node = NodeNamed(from, BytesOf(PG_GETARG_VARLENA_PP(1)));
	Layout to = RoomLike(from, from.nodes.size() - 1);
	CheckChange(shardkit::RemoveNode(from, node, to),
		"Ring, rendezvous, slots and ranges can lose any node but their only one.");
	PG_RETURN_POINTER(shardkit::WriteLayout(to));
}

SHARDKIT_FUNCTION(shardkit_layout_nodes)
Datum shardkit_layout_nodes(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	const auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
	const Compared read = ReadCompared(PG_GETARG_VARLENA_PP(0));
	const auto nodes = read.layout.nodes;
	const auto shares = Room<double>(nodes.size());
	shardkit::NodeShares({read.layout, *read.compiled}, shares);
	for (std::size_t i = 0; i < nodes.size(); ++i) {
		text *name =
			cstring_to_text_with_len(nodes[i].name.data(), static_cast<int>(nodes[i].name.size()));
		Datum values[] = {PointerGetDatum(name),
			Float8GetDatum(shardkit::WeightNumber(nodes[i].weight)), Float8GetDatum(shares[i])};
		bool nulls[] = {false, false, false};
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(name);
	}
	return Datum{0};
}

SHARDKIT_FUNCTION(shardkit_layout_churn)
Datum shardkit_layout_churn(PG_FUNCTION_ARGS)
{
	const varlena *before_text = PG_GETARG_VARLENA_PP(0);
	const varlena *after_text = PG_GETARG_VARLENA_PP(1);
	if (BytesOf(before_text) == BytesOf(after_text))
		PG_RETURN_FLOAT8(0.0);
	const Compared before = ReadCompared(before_text);
	const Compared after = ReadCompared(after_text);
	const std::size_t nodes = before.layout.nodes.size() + after.layout.nodes.size();
	const double kept =
		shardkit::KeptShare({before.layout, *before.compiled}, {after.layout, *after.compiled},
			{Room<double>(nodes), Room<std::int32_t>(nodes), Room<std::int64_t>(nodes),
				Room<shardkit::WeightPair>(nodes)});
	PG_RETURN_FLOAT8(kept < 1.0 ? 1.0 - kept : 0.0);
}
