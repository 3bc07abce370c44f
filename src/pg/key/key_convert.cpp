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

void PrepareInput(KeyConverter::Column &column, MemoryContext context, Oid type)
{
	Oid function = InvalidOid;
	getTypeInputInfo(type, &function, &column.io_parameter);
	fmgr_info_cxt(function, &column.function, context);
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

Datum Cast(FmgrInfo &function, Datum value, int32 typmod)
{
	/* Cast functions may take a type modifier and whether the cast is explicit. */
	switch (function.fn_nargs) {
	case 1:
		return FunctionCall1Coll(&function, DEFAULT_COLLATION_OID, value);
	case 2:
		return FunctionCall2Coll(&function, DEFAULT_COLLATION_OID, value, Int32GetDatum(typmod));
	default:
		return FunctionCall3Coll(
			&function, DEFAULT_COLLATION_OID, value, Int32GetDatum(typmod), BoolGetDatum(false));
	}
}

/*
 * A numeric(10,2) column stores 1.01 of 1.005, and a varchar(3) refuses four letters: a value gets
 * there what an INSERT would make of it, unless its own modifier says that it fits.
 */
void PrepareFit(KeyConverter::Column &column, MemoryContext context, const KeyArguments &arguments,
	int i, Oid type)
{
	if (!arguments.is_array && arguments.types[i] == type && arguments.typmods[i] == column.typmod)
		return;
	Oid function = InvalidOid;
	const Oid base = getBaseTypeAndTypmod(type, &column.typmod);
	const CoercionPathType path = find_typmod_coercion_function(base, &function);
	/* A cast that takes the modifier has the last word. */
	const bool fits_itself = column.conversion == Conversion::kCast && column.function.fn_nargs > 1;
	if (fits_itself || column.typmod < 0 || path == COERCION_PATH_NONE)
		return;
	if (path == COERCION_PATH_FUNC) {
		column.fits = true;
		fmgr_info_cxt(function, &column.fit, context);
		return;
	}
	/* The elements of an array, which comes as this type or not at all. */
	bool is_varlena = false;
	column.conversion = Conversion::kText;
	getTypeOutputInfo(base, &function, &is_varlena);
	fmgr_info_cxt(function, &column.function, context);
	getTypeInputInfo(base, &function, &column.io_parameter);
	fmgr_info_cxt(function, &column.fit, context);
}

Datum Convert(KeyConverter::Column &column, Datum value)
{
	switch (column.conversion) {
	case Conversion::kNone:
		return value;
	case Conversion::kInput:
		return InputFunctionCall(
			&column.function, TextDatumGetCString(value), column.io_parameter, column.typmod);
	case Conversion::kText:
		return InputFunctionCall(&column.fit, OutputFunctionCall(&column.function, value),
			column.io_parameter, column.typmod);
	case Conversion::kCast:
		break;
	}
	return Cast(column.function, value, column.typmod);
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
		column = {};
		column.typmod = typmods[i];
		if (from == UNKNOWNOID) {
			PrepareInput(column, context, types[i]);
			continue;
		}
		if (from != types[i])
			PrepareCast(column, context, from, types[i], what);
		PrepareFit(column, context, arguments, i, types[i]);
	}
}

void ConvertKey(KeyConverter &converter, KeyValues &key)
{
	CheckCount(key.columns, converter.columns);
	for (int i = 0; i < key.columns; ++i) {
		KeyConverter::Column &column = converter.column[i];
		if (key.nulls[i])
			continue;
		key.values[i] = Convert(column, key.values[i]);
		if (column.fits)
			key.values[i] = Cast(column.fit, key.values[i], column.typmod);
	}
}

} // namespace shardkit
