/* The values of a key as an SQL function receives them: VARIADIC "any". */
#ifndef SHARDKIT_PG_KEY_ARGUMENTS_HPP
#define SHARDKIT_PG_KEY_ARGUMENTS_HPP

#include "pg/key/key_hash.hpp"

namespace shardkit
{

/* What stays the same from call to call. */
struct KeyArguments {
	int first;
	bool is_array;
	int columns;                   /* -1: an array, whose length may differ from call to call */
	Oid types[kMaxKeyColumns];     /* UNKNOWNOID: an untyped literal, read as text */
	int32 typmods[kMaxKeyColumns]; /* of a list; -1: not known */
	Oid collations[kMaxKeyColumns];
	int16 element_length;
	bool element_by_value;
	char element_alignment;
};

struct KeyValues {
	int columns;
	Datum values[kMaxKeyColumns];
	bool nulls[kMaxKeyColumns];
};

/* Looks at the call's expression: the key is the arguments from number first on. */
void DescribeKeyArguments(FunctionCallInfo fcinfo, int first, KeyArguments &arguments);

/* This call's values; false where the whole key is a NULL array. */
bool ReadKeyArguments(FunctionCallInfo fcinfo, const KeyArguments &arguments, KeyValues &key);

/* The type of a column; text for an untyped literal. */
inline Oid KeyArgumentType(const KeyArguments &arguments, int column)
{
	const Oid type = arguments.types[arguments.is_array ? 0 : column];
	return type == UNKNOWNOID ? TEXTOID : type;
}

inline Oid KeyArgumentCollation(const KeyArguments &arguments, int column)
{
	return arguments.collations[arguments.is_array ? 0 : column];
}

/* The hash of this call's key, a list of columns. */
inline uint64 HashKeyArguments(
	FunctionCallInfo fcinfo, const KeyArguments &arguments, const KeyHasher &hasher, bool &has_null)
{
	const int first = arguments.first;
	has_null = false;
	if (hasher.integer != IntegerKey::kNo && !PG_ARGISNULL(first))
		return HashIntegerKey(hasher.integer, PG_GETARG_DATUM(first));
	KeyValues key;
	ReadKeyArguments(fcinfo, arguments, key);
	for (int i = 0; i < key.columns; ++i)
		has_null = has_null || key.nulls[i];
	return HashKey(hasher, key.values, key.nulls);
}

} // namespace shardkit

#endif
