#include "pg/place/layout_value.hpp"

#include "core/place/layout_parse.hpp"
#include "core/place/layout_text.hpp"

#include "pg/pg.hpp"
#include "pg/place/digest.hpp"

extern "C" {
#include "mb/pg_wchar.h"
#include "utils/memutils.h"
}

namespace shardkit
{

namespace
{

/* Answers false after a soft error; a text that is stored already cannot fail so. */
bool ReportFault(std::string_view text, const LayoutFault &fault, Node *soft_errors)
{
	constexpr int kShown = 24; /* bytes of the text shown from the fault on */
	if (fault.message == nullptr)
		return true;
	const char *at = text.data() + fault.at;
	const auto rest = static_cast<int>(text.size() - fault.at);
	const int character = pg_mbstrlen_with_len(text.data(), static_cast<int>(fault.at)) + 1;
	const int shown = pg_mbcliplen(at, rest, kShown);
	SHARDKIT_SOFT_ERROR(soft_errors, false,
		(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid layout: %s", fault.message),
			shown > 0 ? errdetail("At character %d: \"%.*s%s\".", character, shown, at,
							shown < rest ? "..." : "")
					  : errdetail("At character %d, the end of the text.", character)));
}

/* Tokens of a ring: hash64(name || '#' || i). */
void DigestRing(const Layout &layout, std::span<RingToken> tokens)
{
	std::size_t at = 0;
	StringInfoData text;
	initStringInfo(&text);
	for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
		const std::string_view name = layout.nodes[node].name;
		const std::int64_t count = TokensOf(layout.vnodes, layout.nodes[node].weight);
		resetStringInfo(&text);
		appendBinaryStringInfo(&text, name.data(), static_cast<int>(name.size()));
		appendStringInfoChar(&text, '#');
		const int prefix = text.len;
		for (std::int64_t i = 0; i < count; ++i) {
			char digits[12];
			const int length = pg_ltoa(static_cast<int32>(i), digits);
			text.len = prefix;
			appendBinaryStringInfo(&text, digits, length);
			tokens[at++] = {
				Hash64(layout.token_hash, {text.data, static_cast<std::size_t>(text.len)}),
				static_cast<std::uint16_t>(node)};
			CHECK_FOR_INTERRUPTS();
		}
	}
	pfree(text.data);
}

void DigestSeeds(const Layout &layout, std::span<RingToken> seeds)
{
	for (std::size_t node = 0; node < layout.nodes.size(); ++node)
		seeds[node] = {
			Hash64(Algorithm::kSha256, layout.nodes[node].name), static_cast<std::uint16_t>(node)};
}

} // namespace

Layout NewLayout(const LayoutNeeds &needs)
{
	return LayoutOver(needs, MemoryContextAllocHuge(CurrentMemoryContext, LayoutBytes(needs) + 1));
}

bool ReadLayoutSoftly(std::string_view text, Layout &layout, Node *soft_errors)
{
	LayoutNeeds needs;
	if (!ReportFault(text, MeasureLayout(text, needs), soft_errors))
		return false;
	layout = NewLayout(needs);
	return ReportFault(text, ParseLayout(text, layout), soft_errors);
}

Layout ReadLayout(std::string_view text)
{
	Layout layout;
	ReadLayoutSoftly(text, layout, nullptr);
	return layout;
}

varlena *WriteLayout(Layout &layout)
{
	const std::size_t length = FormatLayout(layout, {});
	auto *value = static_cast<varlena *>(palloc(VARHDRSZ + length));
	SET_VARSIZE(value, VARHDRSZ + length);
	FormatLayout(layout, {VARDATA(value), length});
	return value;
}

const CompiledLayout *CompileParsed(const Layout &layout, MemoryContext context)
{
	const std::size_t count = CompileTokens(layout);
	auto *tokens = static_cast<RingToken *>(
		MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(RingToken)));
	const std::span<RingToken> filled{tokens, count};
	if (layout.strategy == Strategy::kRing)
		DigestRing(layout, filled);
	else if (layout.strategy == Strategy::kRendezvous)
		DigestSeeds(layout, filled);
	else if (count > 0)
		RangeTokens(layout, filled);
	void *block = MemoryContextAllocHuge(context, CompiledBytes(layout, count));
	CHECK_FOR_INTERRUPTS();
	const CompiledLayout *compiled = CompileLayout(layout, filled, block);
	pfree(tokens);
	return compiled;
}

const CompiledLayout *CompileText(std::string_view text, MemoryContext context)
{
	MemoryContext scratch =
		AllocSetContextCreate(CurrentMemoryContext, "shardkit layout", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(scratch);
	const CompiledLayout *compiled = CompileParsed(ReadLayout(text), context);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(scratch);
	return compiled;
}

const CompiledLayout *CompileLayout(Datum layout, MemoryContext context)
{
	const auto *value = PG_DETOAST_DATUM_PACKED(layout);
	return CompileText(BytesOf(value), context);
}

} // namespace shardkit
