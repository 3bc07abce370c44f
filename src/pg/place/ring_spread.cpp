/* ring_spread: the busiest node over many rings. */
#include "core/place/ring_spread.hpp"

#include <algorithm>

#include "core/place/layout.hpp"

#include "pg/pg.hpp"
#include "pg/place/digest.hpp"

extern "C" {
#include "funcapi.h"
}

namespace
{

using shardkit::RingToken;

constexpr int32 kMaxRings = 1'000'000;

void CheckCount(const char *what, int64 count, int64 most)
{
	if (count < 1 || count > most)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("%s must be from 1 to %lld, not %lld", what,
							   static_cast<long long>(most), static_cast<long long>(count))));
}

/* Writes "ring-<seed>-<ring>/node-<node>#<token>" up to "#" and answers the length. */
std::size_t NamePrefix(char *name, int64 seed, int32 ring, int32 node)
{
	char *at = name;
	const auto put = [&at](std::string_view text) {
		at = std::copy(text.begin(), text.end(), at);
	};
	put("ring-");
	at += pg_lltoa(seed, at);
	put("-");
	at += pg_ltoa(ring, at);
	put("/node-");
	at += pg_ltoa(node, at);
	put("#");
	return static_cast<std::size_t>(at - name);
}

/*
 * The tokens of one ring whose nodes have such names. How even a ring is depends on its tokens being
 * spread well, not on the hash that does it: xxh3 answers what sha256 does, a hundred times faster.
 */
void DrawRing(std::span<RingToken> tokens, int32 nodes, int32 vnodes, int32 ring, int64 seed)
{
	char name[80];
	std::size_t at = 0;
	for (int32 node = 0; node < nodes; ++node) {
		const std::size_t prefix = NamePrefix(name, seed, ring, node);
		for (int32 token = 0; token < vnodes; ++token) {
			const auto digits = static_cast<std::size_t>(pg_ltoa(token, name + prefix));
			tokens[at++] = {shardkit::Hash64(shardkit::Algorithm::kXxh3, {name, prefix + digits}),
				static_cast<std::uint16_t>(node)};
			CHECK_FOR_INTERRUPTS();
		}
	}
}

} // namespace

SHARDKIT_FUNCTION(shardkit_ring_spread)
Datum shardkit_ring_spread(PG_FUNCTION_ARGS)
{
	const int32 nodes = PG_GETARG_INT32(0);
	const int32 vnodes = PG_GETARG_INT32(1);
	const int32 rings = PG_GETARG_INT32(2);
	CheckCount("number of nodes", nodes, shardkit::kMaxNodes);
	CheckCount("vnodes", vnodes, shardkit::kMaxTokens);
	CheckCount("number of tokens", static_cast<int64>(nodes) * vnodes, shardkit::kMaxTokens);
	CheckCount("number of rings", rings, kMaxRings);
	TupleDesc row;
	if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						   errmsg("ring_spread must be called where a row is expected")));

	const auto count = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(vnodes);
	const std::span<RingToken> tokens{
		static_cast<RingToken *>(palloc(count * sizeof(RingToken))), count};
	const std::span<double> shares{
		static_cast<double *>(palloc(static_cast<Size>(nodes) * sizeof(double))),
		static_cast<std::size_t>(nodes)};
	const std::span<double> busiest{
		static_cast<double *>(palloc(static_cast<Size>(rings) * sizeof(double))),
		static_cast<std::size_t>(rings)};
	for (int32 ring = 0; ring < rings; ++ring) {
		DrawRing(tokens, nodes, vnodes, ring, PG_GETARG_INT64(3));
		busiest[static_cast<std::size_t>(ring)] = shardkit::BusiestOverMean(tokens, shares);
	}
	std::sort(busiest.begin(), busiest.end());

	Datum values[] = {Float8GetDatum(shardkit::Percentile(busiest, 0.50)),
		Float8GetDatum(shardkit::Percentile(busiest, 0.90)),
		Float8GetDatum(shardkit::Percentile(busiest, 0.99)), Float8GetDatum(busiest.back())};
	bool nulls[] = {false, false, false, false};
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}
