/* Compiled layouts, kept with the call site that uses them. */
#ifndef SHARDKIT_PG_LAYOUT_CACHE_HPP
#define SHARDKIT_PG_LAYOUT_CACHE_HPP

#include <cstddef>
#include <span>

#include "core/compiled_layout.hpp"
#include "core/layout.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

/* A compiled layout with its node names ready to be answered. */
struct CachedLayout {
	const CompiledLayout *layout;
	text **names;
	MemoryContext context; /* holds all of it */
	const char *key;       /* the bytes of the arguments that it was made from */
	std::size_t key_bytes;
	std::uint64_t key_hash;
};

/*
 * What a call site has compiled. Constant arguments are compiled once and never looked at again;
 * others are compared with those of earlier calls, so that layouts from a table's column may
 * alternate from row to row. When that becomes too much, all of it is dropped.
 */
struct LayoutCache {
	MemoryContext context;
	const CachedLayout *constant; /* the only layout that this call site can ever have */
	CachedLayout *entries;
	int count;
	int room;
	int last;
	Size bytes;
};

/* An argument that decides about the layout: its number, and whether it is a varlena. */
struct DecidingArgument {
	int number;
	bool varlena;
};

/* Makes the layout of a call (nullptr: the first deciding argument is one), in the current memory context, from its arguments. */
using BuildLayout = Layout (*)(FunctionCallInfo fcinfo);

/* The layout of this call, compiled now or earlier; good until the next call of this call site. */
const CachedLayout &FindCallLayout(
	FunctionCallInfo fcinfo, std::span<const DecidingArgument> deciding, BuildLayout build);

inline const CachedLayout &CallLayout(
	FunctionCallInfo fcinfo, std::span<const DecidingArgument> deciding, BuildLayout build)
{
	const auto *cache = static_cast<const LayoutCache *>(fcinfo->flinfo->fn_extra);
	if (cache != nullptr && cache->constant != nullptr)
		return *cache->constant;
	return FindCallLayout(fcinfo, deciding, build);
}

/* A copy of a name, in the current memory context. */
Datum CopyName(const text *name);

/*
 * The name of a node as a result. Names of constant layouts live as long as the expression, so they
 * are answered as they are; others are copied, since their entry may be dropped.
 */
inline Datum AnswerNode(FunctionCallInfo fcinfo, const CachedLayout &cached, std::int32_t node)
{
	const text *name = cached.names[node];
	if (static_cast<const LayoutCache *>(fcinfo->flinfo->fn_extra)->constant != nullptr)
		return PointerGetDatum(name);
	return CopyName(name);
}

} // namespace shardkit

#endif
