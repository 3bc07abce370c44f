/* The row hash of PostgreSQL's hash partitioning. */
#ifndef SHARDKIT_PG_KEY_HASH_HPP
#define SHARDKIT_PG_KEY_HASH_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* The server allows no wider partition key. */
constexpr int kMaxKeyColumns = PARTITION_MAX_KEYS;

/* Keys of one integer column are hashed here, without a call. */
enum class IntegerKey : char { kNo, kInt2, kInt4, kInt8 };

/* Ready calls of the columns' hash functions: nothing is looked up per row. */
struct KeyHasher {
	int columns;
	IntegerKey integer;
	FunctionCallInfo calls[kMaxKeyColumns];
};

/* The extended hash function of a type's default hash operator class; an error if it has none. */
Oid HashFunctionOf(Oid type);

/* Lives in context, as do the hash functions' own caches. */
KeyHasher *MakeKeyHasher(
	MemoryContext context, int columns, const Oid *functions, const Oid *collations);

/* With a hash-partitioned table's own operator classes and collations. */
KeyHasher *MakeKeyHasher(MemoryContext context, PartitionKey key);

/* The server's extended hash of an integer of at most 32 bits, or of a folded longer one. */
constexpr uint64 HashInteger(uint32 value)
{
	constexpr auto kRotate = [](uint32 word, int bits) {
		return word << bits | word >> (32 - bits);
	};
	/* What its first half, over the seed alone, always comes to. */
	constexpr auto kSeeded = [kRotate] {
		uint32 a = 0x9e3779b9 + 4 + 3923095;
		uint32 b = a;
		uint32 c = a;
		a += static_cast<uint32>(HASH_PARTITION_SEED >> 32);
		b += static_cast<uint32>(HASH_PARTITION_SEED);
		a -= c, a ^= kRotate(c, 4), c += b;
		b -= a, b ^= kRotate(a, 6), a += c;
		c -= b, c ^= kRotate(b, 8), b += a;
		a -= c, a ^= kRotate(c, 16), c += b;
		b -= a, b ^= kRotate(a, 19), a += c;
		c -= b, c ^= kRotate(b, 4), b += a;
		struct Words {
			uint32 a, b, c;
		};
		return Words{a, b, c};
	}();
	uint32 a = kSeeded.a + value;
	uint32 b = kSeeded.b;
	uint32 c = kSeeded.c;
	c ^= b, c -= kRotate(b, 14);
	a ^= c, a -= kRotate(c, 11);
	b ^= a, b -= kRotate(a, 25);
	c ^= b, c -= kRotate(b, 16);
	a ^= c, a -= kRotate(c, 4);
	b ^= a, b -= kRotate(a, 14);
	c ^= b, c -= kRotate(b, 24);
	return static_cast<uint64>(b) << 32 | c;
}

/* The partition hash of one integer column that is not NULL. */
inline uint64 HashIntegerKey(IntegerKey type, Datum value)
{
	if (type == IntegerKey::kInt4)
		return hash_combine64(0, HashInteger(static_cast<uint32>(DatumGetInt32(value))));
	if (type == IntegerKey::kInt2)
		return hash_combine64(0, HashInteger(static_cast<uint32>(DatumGetInt16(value))));
	/* Folded so that a number hashes alike in every integer type. */
	const int64 wide = DatumGetInt64(value);
	const auto low = static_cast<uint32>(wide);
	const auto high = static_cast<uint32>(static_cast<uint64>(wide) >> 32);
	return hash_combine64(0, HashInteger(low ^ (wide >= 0 ? high : ~high)));
}

/*
 * The hash, to be read as unsigned; a NULL column adds nothing to it. The caller has filled
 * hasher.columns values, which an analyzer cannot know.
 */
inline uint64 HashKey(const KeyHasher &hasher, const Datum *values, const bool *nulls)
{
	/* NOLINTBEGIN(clang-analyzer-core.uninitialized.Branch,clang-analyzer-core.CallAndMessage) */
	if (hasher.integer != IntegerKey::kNo)
		return nulls[0] ? 0 : HashIntegerKey(hasher.integer, values[0]);
	uint64 hash = 0;
	for (int column = 0; column < hasher.columns; ++column) {
		if (nulls[column])
			continue;
		FunctionCallInfo call = hasher.calls[column];
		call->args[0].value = values[column];
		call->isnull = false;
		hash = hash_combine64(hash, DatumGetUInt64(FunctionCallInvoke(call)));
	}
	/* NOLINTEND(clang-analyzer-core.uninitialized.Branch,clang-analyzer-core.CallAndMessage) */
	return hash;
}

} // namespace shardkit

#endif
