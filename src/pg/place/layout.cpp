/* The SQL type layout: input, output, comparison. */
#include "pg/place/layout_value.hpp"

#include "pg/pg.hpp"
#include "pg/place/digest.hpp"

extern "C" {
#include "common/hashfn.h"
#include "libpq/pqformat.h"
}

using shardkit::BytesOf;

namespace
{

/* The canonical form of a text that came from outside, or NULL after a soft error. */
Datum InputLayout(FunctionCallInfo fcinfo, std::string_view text)
{
	shardkit::Layout layout;
	if (!shardkit::ReadLayoutSoftly(text, layout, SHARDKIT_SOFT_ERRORS(fcinfo)))
		PG_RETURN_NULL();
	if (layout.strategy == shardkit::Strategy::kRing)
		shardkit::WarnOfTokenHash(layout.token_hash);
	PG_RETURN_POINTER(shardkit::WriteLayout(layout));
}

/* Byte order of the canonical texts. */
int Compare(FunctionCallInfo fcinfo)
{
	const std::string_view left = BytesOf(PG_GETARG_VARLENA_PP(0));
	const std::string_view right = BytesOf(PG_GETARG_VARLENA_PP(1));
	return left.compare(right);
}

} // namespace

SHARDKIT_FUNCTION(shardkit_layout_in)
Datum shardkit_layout_in(PG_FUNCTION_ARGS)
{
	return InputLayout(fcinfo, PG_GETARG_CSTRING(0));
}

SHARDKIT_FUNCTION(shardkit_layout_out)
Datum shardkit_layout_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(text_to_cstring(PG_GETARG_TEXT_PP(0)));
}

SHARDKIT_FUNCTION(shardkit_layout_recv)
Datum shardkit_layout_recv(PG_FUNCTION_ARGS)
{
	auto *message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
	int length;
	const char *text = pq_getmsgtext(message, message->len - message->cursor, &length);
	return InputLayout(fcinfo, {text, static_cast<std::size_t>(length)});
}

SHARDKIT_FUNCTION(shardkit_layout_send)
Datum shardkit_layout_send(PG_FUNCTION_ARGS)
{
	const std::string_view text = BytesOf(PG_GETARG_VARLENA_PP(0));
	StringInfoData message;
	pq_begintypsend(&message);
	pq_sendtext(&message, text.data(), static_cast<int>(text.size()));
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

SHARDKIT_FUNCTION(shardkit_layout_eq)
Datum shardkit_layout_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(Compare(fcinfo) == 0);
}

SHARDKIT_FUNCTION(shardkit_layout_ne)
Datum shardkit_layout_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(Compare(fcinfo) != 0);
}

SHARDKIT_FUNCTION(shardkit_layout_lt)
Datum shardkit_layout_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(Compare(fcinfo) < 0);
}

SHARDKIT_FUNCTION(shardkit_layout_le)
Datum shardkit_layout_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(Compare(fcinfo) <= 0);
}

SHARDKIT_FUNCTION(shardkit_layout_gt)
Datum shardkit_layout_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(Compare(fcinfo) > 0);
}

SHARDKIT_FUNCTION(shardkit_layout_ge)
Datum shardkit_layout_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(Compare(fcinfo) >= 0);
}

SHARDKIT_FUNCTION(shardkit_layout_cmp)
Datum shardkit_layout_cmp(PG_FUNCTION_ARGS)
{
	const int order = Compare(fcinfo);
	PG_RETURN_INT32((order > 0) - (order < 0));
}

SHARDKIT_FUNCTION(shardkit_layout_hash)
Datum shardkit_layout_hash(PG_FUNCTION_ARGS)
{
	const std::string_view text = BytesOf(PG_GETARG_VARLENA_PP(0));
	return hash_any(
		reinterpret_cast<const unsigned char *>(text.data()), static_cast<int>(text.size()));
}

SHARDKIT_FUNCTION(shardkit_layout_hash_extended)
Datum shardkit_layout_hash_extended(PG_FUNCTION_ARGS)
{
	const std::string_view text = BytesOf(PG_GETARG_VARLENA_PP(0));
	return hash_any_extended(reinterpret_cast<const unsigned char *>(text.data()),
		static_cast<int>(text.size()), static_cast<uint64>(PG_GETARG_INT64(1)));
}
