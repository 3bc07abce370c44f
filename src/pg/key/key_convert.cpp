#include "pg/key/key_convert.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

void CheckCount(int given, int columns)
{
	if (given != columns)
		ereport(
			ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("the key has %d columns, but %d values were given", columns, given),
					   errhint("Give one value for each key column, in their order.")));
}

void PrepareInput(KeyConverter::Column &column, MemoryContext context, Oid type, int32 typmod)
{
	Oid function = InvalidOid;
	getTypeInputInfo(type, &function, &column.io_parameter);
	fmgr_info_cxt(function, &column.function, context);
	column.typmod = typmod;
	column.conversion = Conversion::kInput;
}

void PrepareCast(
	KeyConverter::Column &column, MemoryContext context, Oid from, Oid to, const char *what)
{
	Oid function = InvalidOid;
	const CoercionPathType path =
		find_coercion_pathway(getBaseType(to), getBaseType(from), COERCION_IMPLICIT, &function);
	if (path == COERCION_PATH_RELABELTYPE) {
		column.conversion = Conversion::kNone;
		return;
	}
	if (path != COERCION_PATH_FUNC)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						   errmsg("a value of type %s does not fit the key of %s, which is %s",
							   format_type_be(from), what, format_type_be(to)),
						   errhint("Cast the value to %s.", format_type_be(to))));
	fmgr_info_cxt(function, &column.function, context);
	column.conversion = Conversion::kCast;
}

Datum Cast(FmgrInfo &function, Datum value)
{
	/* Cast functions may take a type modifier and whether the cast is explicit. */
	switch (function.fn_nargs) {
	case 1:
		return FunctionCall1Coll(&function, DEFAULT_COLLATION_OID, value);
	case 2:
		return FunctionCall2Coll(&function, DEFAULT_COLLATION_OID, value, Int32GetDatum(-1));
	default:
		return FunctionCall3Coll(
			&function, DEFAULT_COLLATION_OID, value, Int32GetDatum(-1), BoolGetDatum(false));
	}
}

} // namespace

void PrepareKeyConverter(KeyConverter &converter, MemoryContext context,
	const KeyArguments &arguments, int columns, const Oid *types, const int32 *typmods,
	const char *what)
{
	if (!arguments.is_array)
		CheckCount(arguments.columns, columns);
	converter.columns = columns;
	for (int i = 0; i < columns; ++i) {
		const Oid from = arguments.types[arguments.is_array ? 0 : i];
		KeyConverter::Column &column = converter.column[i];
		if (from == UNKNOWNOID)
			PrepareInput(column, context, types[i], typmods[i]);
		else if (from == types[i])
			column.conversion = Conversion::kNone;
		else
			PrepareCast(column, context, from, types[i], what);
	}
}

void ConvertKey(KeyConverter &converter, KeyValues &key)
{
	CheckCount(key.columns, converter.columns);
	for (int i = 0; i < key.columns; ++i) {
		KeyConverter::Column &column = converter.column[i];
		if (column.conversion == Conversion::kNone || key.nulls[i])
			continue;
		if (column.conversion == Conversion::kCast)
			key.values[i] = Cast(column.function, key.values[i]);
		else
			key.values[i] = InputFunctionCall(&column.function, TextDatumGetCString(key.values[i]),
				column.io_parameter, column.typmod);
	}
}

} // namespace shardkit
