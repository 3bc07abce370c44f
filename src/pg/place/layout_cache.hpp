/* Compiled layouts, kept with the call site that uses them. */
#ifndef SHARDKIT_PG_LAYOUT_CACHE_HPP
#define SHARDKIT_PG_LAYOUT_CACHE_HPP

#include <cstddef>
#include <span>

#include "core/place/compiled_layout.hpp"
#include "core/place/layout.hpp"

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
	const CompiledLayout *constant; /* the only layout that this call site can ever have */
	text **names;                   /* of its nodes */
	MemoryContext context;
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

/* A copy of a name, in the current memory context. */
Datum CopyName(const text *name);

/*
 * The owner of a hash by a look-up, a parameter so that functions of one strategy spend nothing on
 * finding theirs. Names of constant layouts live as long as the expression, so they are answered as
 * they are; others are copied, since their entry may be dropped.
 */
template <typename LookUp>
inline Datum AnswerOwner(FunctionCallInfo fcinfo, std::uint64_t hash,
	std::span<const DecidingArgument> deciding, BuildLayout build, LookUp look_up)
{
	const auto *cache = static_cast<const LayoutCache *>(fcinfo->flinfo->fn_extra);
	if (cache != nullptr && cache->constant != nullptr)
		return PointerGetDatum(cache->names[look_up(*cache->constant, hash)]);
	const CachedLayout &cached = FindCallLayout(fcinfo, deciding, build);
	return CopyName(cached.names[look_up(*cached.layout, hash)]);
}

} // namespace shardkit

#endif
