/* The SQL type layout: its text is what is stored; this reads and writes it. */
#ifndef SHARDKIT_PG_LAYOUT_VALUE_HPP
#define SHARDKIT_PG_LAYOUT_VALUE_HPP

#include <string_view>

#include "core/place/compiled_layout.hpp"
#include "core/place/layout.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/* The bytes of a text or a layout. */
inline std::string_view BytesOf(const varlena *value)
{
	return {VARDATA_ANY(value), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(value))};
}

/* An empty layout with its room, in the current memory context. */
Layout NewLayout(const LayoutNeeds &needs);

/* Reads a text into room of the current memory context, where the text must stay. */
Layout ReadLayout(std::string_view text);

/* The same for input functions: answers false after a soft error. */
bool ReadLayoutSoftly(std::string_view text, Layout &layout, Node *soft_errors);

/* The stored form: the canonical text. */
varlena *WriteLayout(Layout &layout);

/* A layout made for look-ups, one chunk of the context; what the making needs is freed again. */
const CompiledLayout *CompileParsed(const Layout &layout, MemoryContext context);
const CompiledLayout *CompileText(std::string_view text, MemoryContext context);

/* The same from a Datum of type layout. */
const CompiledLayout *CompileLayout(Datum layout, MemoryContext context);

} // namespace shardkit

#endif
