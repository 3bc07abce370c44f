#include "pg/place/layout_cache.hpp"

#include <cstring>

#include "pg/pg.hpp"
#include "pg/place/layout_value.hpp"

extern "C" {
#include "common/hashfn.h"
#include "nodes/primnodes.h"
#include "utils/memutils.h"
}

namespace shardkit
{

namespace
{

constexpr int kMostDeciding = 3;
constexpr int kMostEntries = 512;
constexpr Size kMostBytes = 64 * 1024 * 1024; /* of one call site's layouts, but for the last one */

/* Bytes of one deciding argument. */
struct KeyPart {
	const char *bytes;
	std::size_t length;
};

bool IsConstant(FunctionCallInfo fcinfo, std::span<const DecidingArgument> deciding)
{
	const Node *call = fcinfo->flinfo->fn_expr;
	if (call == nullptr || !IsA(call, FuncExpr))
		return false;
	/* Not a parameter: a loop in PL/pgSQL changes its value under the same expression. */
	const List *arguments = reinterpret_cast<const FuncExpr *>(call)->args;
	for (const auto &argument : deciding)
		if (argument.number >= list_length(arguments) ||
			!IsA(list_nth(arguments, argument.number), Const))
			return false;
	return true;
}

/* The parts of the key point into the arguments; by-value ones into the call itself. */
void KeyOf(FunctionCallInfo fcinfo, std::span<const DecidingArgument> deciding, KeyPart *parts)
{
	for (const auto &argument : deciding) {
		const NullableDatum &value = fcinfo->args[argument.number];
		if (argument.varlena) {
			const auto *bytes = PG_DETOAST_DATUM_PACKED(value.value);
			*parts++ = {VARDATA_ANY(bytes), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(bytes))};
		} else {
			*parts++ = {reinterpret_cast<const char *>(&value.value), sizeof(Datum)};
		}
	}
}

std::size_t KeyBytes(std::span<const KeyPart> parts)
{
	std::size_t bytes = parts.size() * sizeof(std::size_t);
	for (const auto &part : parts)
		bytes += part.length;
	return bytes;
}

/* Each part's length, then its bytes: parts cannot run into each other. */
char *WriteKey(std::span<const KeyPart> parts, MemoryContext context)
{
	auto *key = static_cast<char *>(MemoryContextAllocHuge(context, KeyBytes(parts)));
	char *at = key;
	for (const auto &part : parts) {
		std::memcpy(at, &part.length, sizeof(part.length));
		std::memcpy(at + sizeof(part.length), part.bytes, part.length);
		at += sizeof(part.length) + part.length;
	}
	return key;
}

bool HasKey(const CachedLayout &entry, std::span<const KeyPart> parts)
{
	if (entry.key_bytes != KeyBytes(parts))
		return false;
	const char *at = entry.key;
	for (const auto &part : parts) {
		if (std::memcmp(at, &part.length, sizeof(part.length)) != 0 ||
			std::memcmp(at + sizeof(part.length), part.bytes, part.length) != 0)
			return false;
		at += sizeof(part.length) + part.length;
	}
	return true;
}

std::uint64_t HashKey(std::span<const KeyPart> parts)
{
	std::uint64_t hash = 0;
	for (const auto &part : parts)
		hash = hash_combine64(
			hash, hash_bytes_extended(reinterpret_cast<const unsigned char *>(part.bytes),
					  static_cast<int>(part.length), 0));
	return hash;
}

/* The entry of the last call is the likeliest; the others are told apart by their hashes. */
int FindEntry(LayoutCache &cache, std::span<const KeyPart> parts)
{
	if (cache.count > 0 && HasKey(cache.entries[cache.last], parts))
		return cache.last;
	if (cache.count < 2)
		return -1;
	const std::uint64_t hash = HashKey(parts);
	for (int i = 0; i < cache.count; ++i)
		if (cache.entries[i].key_hash == hash && HasKey(cache.entries[i], parts))
			return cache.last = i;
	return -1;
}

text **NameTexts(const CompiledLayout &layout)
{
	auto **names = static_cast<text **>(palloc(static_cast<Size>(layout.nodes) * sizeof(text *)));
	for (std::int32_t node = 0; node < layout.nodes; ++node) {
		const std::string_view name = NodeName(layout, node);
		names[node] = cstring_to_text_with_len(name.data(), static_cast<int>(name.size()));
	}
	return names;
}

/* Fills an entry that nobody sees until all of it stands. */
CachedLayout MakeEntry(
	LayoutCache &cache, std::span<const KeyPart> parts, BuildLayout build, FunctionCallInfo fcinfo)
{
	CachedLayout entry = {};
	entry.context =
		AllocSetContextCreate(CurrentMemoryContext, "shardkit layout", ALLOCSET_SMALL_SIZES);
	entry.key = WriteKey(parts, entry.context);
	entry.key_bytes = KeyBytes(parts);
	entry.key_hash = HashKey(parts);
	if (build == nullptr) {
		entry.layout = CompileText({parts[0].bytes, parts[0].length}, entry.context);
	} else {
		MemoryContext scratch =
			AllocSetContextCreate(CurrentMemoryContext, "shardkit build", ALLOCSET_DEFAULT_SIZES);
		MemoryContext outside = MemoryContextSwitchTo(scratch);
		entry.layout = CompileParsed(build(fcinfo), entry.context);
		MemoryContextSwitchTo(outside);
		MemoryContextDelete(scratch);
	}
	MemoryContext before = MemoryContextSwitchTo(entry.context);
	entry.names = NameTexts(*entry.layout);
	MemoryContextSwitchTo(before);
	MemoryContextSetParent(entry.context, cache.context);
	return entry;
}

void DropAll(LayoutCache &cache)
{
	while (cache.count > 0)
		MemoryContextDelete(cache.entries[--cache.count].context);
	cache.bytes = 0;
}

const CachedLayout &Keep(LayoutCache &cache, const CachedLayout &entry)
{
	if (cache.count == kMostEntries || cache.bytes > kMostBytes)
		DropAll(cache);
	if (cache.count == cache.room) {
		const int room = cache.room == 0 ? 2 : 2 * cache.room;
		const Size bytes = static_cast<Size>(room) * sizeof(CachedLayout);
		cache.entries = static_cast<CachedLayout *>(cache.entries == nullptr
														? MemoryContextAlloc(cache.context, bytes)
														: repalloc(cache.entries, bytes));
		cache.room = room;
	}
	cache.last = cache.count++;
	cache.bytes += MemoryContextMemAllocated(entry.context, true);
	return cache.entries[cache.last] = entry;
}

LayoutCache *NewLayoutCache(MemoryContext context)
{
	auto *cache = static_cast<LayoutCache *>(MemoryContextAllocZero(context, sizeof(LayoutCache)));
	cache->context = context;
	return cache;
}

} // namespace

const CachedLayout &FindCallLayout(
	FunctionCallInfo fcinfo, std::span<const DecidingArgument> deciding, BuildLayout build)
{
	auto *cache = static_cast<LayoutCache *>(fcinfo->flinfo->fn_extra);
	if (cache == nullptr) {
		cache = NewLayoutCache(fcinfo->flinfo->fn_mcxt);
		fcinfo->flinfo->fn_extra = cache;
	}
	KeyPart room[kMostDeciding];
	KeyOf(fcinfo, deciding, room);
	const std::span<const KeyPart> parts{room, deciding.size()};
	const int found = FindEntry(*cache, parts);
	if (found >= 0)
		return cache->entries[found];
	const CachedLayout &kept = Keep(*cache, MakeEntry(*cache, parts, build, fcinfo));
	if (IsConstant(fcinfo, deciding)) {
		cache->names = kept.names;
		cache->constant = kept.layout;
	}
	return kept;
}

Datum CopyName(const text *name)
{
	const Size size = VARSIZE(name);
	return PointerGetDatum(std::memcpy(palloc(size), name, size));
}

} // namespace shardkit
