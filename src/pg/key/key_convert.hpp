/* From the types of a call's key arguments to the types of the key's columns. */
#ifndef SHARDKIT_PG_KEY_CONVERT_HPP
#define SHARDKIT_PG_KEY_CONVERT_HPP

#include "pg/key/key_arguments.hpp"

namespace shardkit
{

enum class Conversion : char { kNone, kInput, kCast, kText };

struct KeyConverter {
	int columns;
	struct Column {
		Conversion conversion;
		bool fits; /* by fit, to the column's type modifier */
		FmgrInfo function;
		FmgrInfo fit;
		Oid io_parameter;
		int32 typmod;
	} column[kMaxKeyColumns];
};

/*
 * An untyped literal goes through the column type's input function; a value of another type must
 * have an implicit cast to it, as in an expression. Both are fitted to the column's type modifier as
 * an INSERT does. An error if the count or a type does not fit. what names the owner of the columns
 * in messages.
 */
void PrepareKeyConverter(KeyConverter &converter, MemoryContext context,
	const KeyArguments &arguments, int columns, const Oid *types, const int32 *typmods,
	const char *what);

/* Converts in place; checks the number of an array's elements. */
void ConvertKey(KeyConverter &converter, KeyValues &key);

} // namespace shardkit

#endif
