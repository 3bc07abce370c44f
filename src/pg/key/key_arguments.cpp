#include "pg/key/key_arguments.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

void CheckColumns(int columns)
{
	if (columns < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("a key must have at least one column")));
	if (columns > kMaxKeyColumns)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						   errmsg("a key cannot have more than %d columns", kMaxKeyColumns),
						   errhint("PostgreSQL allows no wider partition key.")));
}

/* nullptr where the call was not parsed as one of a function. */
const Node *ExpressionOf(FunctionCallInfo fcinfo, int argument)
{
	const Node *call = fcinfo->flinfo->fn_expr;
	if (call == nullptr || !IsA(call, FuncExpr))
		return nullptr;
	return static_cast<const Node *>(
		list_nth(reinterpret_cast<const FuncExpr *>(call)->args, argument));
}

/* Each argument's own collation: the call's would be none where two columns differ in theirs. */
Oid CollationOf(FunctionCallInfo fcinfo, int argument, Oid type)
{
	const Node *expression = ExpressionOf(fcinfo, argument);
	const Oid collation = expression == nullptr ? InvalidOid : exprCollation(expression);
	return OidIsValid(collation) ? collation : get_typcollation(type);
}

Oid TypeOf(FunctionCallInfo fcinfo, int argument)
{
	const Oid type = get_fn_expr_argtype(fcinfo->flinfo, argument);
	if (!OidIsValid(type))
		ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
						   errmsg("could not determine the type of argument %d", argument + 1)));
	return type;
}

void DescribeArray(FunctionCallInfo fcinfo, KeyArguments &arguments)
{
	const Oid array_type = TypeOf(fcinfo, arguments.first);
	const Oid element_type = get_base_element_type(array_type);
	if (!OidIsValid(element_type))
		ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("VARIADIC argument must be an array")));
	arguments.is_array = true;
	arguments.columns = -1;
	arguments.types[0] = element_type;
	arguments.collations[0] = CollationOf(fcinfo, arguments.first, element_type);
	get_typlenbyvalalign(element_type, &arguments.element_length, &arguments.element_by_value,
		&arguments.element_alignment);
}

bool ReadArray(FunctionCallInfo fcinfo, const KeyArguments &arguments, KeyValues &key)
{
	if (PG_ARGISNULL(arguments.first))
		return false;
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(arguments.first);
	CheckColumns(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));

	Datum *values = nullptr;
	bool *nulls = nullptr;
	deconstruct_array(array, arguments.types[0], arguments.element_length,
		arguments.element_by_value, arguments.element_alignment, &values, &nulls, &key.columns);
	for (int column = 0; column < key.columns; ++column) {
		key.values[column] = values[column];
		key.nulls[column] = nulls[column];
	}
	return true;
}

} // namespace

void DescribeKeyArguments(FunctionCallInfo fcinfo, int first, KeyArguments &arguments)
{
	arguments = {};
	arguments.first = first;
	if (get_fn_expr_variadic(fcinfo->flinfo)) {
		DescribeArray(fcinfo, arguments);
		return;
	}
	arguments.columns = PG_NARGS() - first;
	CheckColumns(arguments.columns);
	for (int column = 0; column < arguments.columns; ++column) {
		const Oid type = TypeOf(fcinfo, first + column);
		const Node *expression = ExpressionOf(fcinfo, first + column);
		arguments.types[column] = type;
		arguments.typmods[column] = expression == nullptr ? -1 : exprTypmod(expression);
		arguments.collations[column] =
			type == UNKNOWNOID ? DEFAULT_COLLATION_OID : CollationOf(fcinfo, first + column, type);
	}
}

bool ReadKeyArguments(FunctionCallInfo fcinfo, const KeyArguments &arguments, KeyValues &key)
{
	if (arguments.is_array)
		return ReadArray(fcinfo, arguments, key);
	key.columns = arguments.columns;
	for (int column = 0; column < arguments.columns; ++column) {
		const int argument = arguments.first + column;
		key.nulls[column] = PG_ARGISNULL(argument);
		if (key.nulls[column])
			continue;
		/* An untyped literal arrives as a C string. */
		key.values[column] = arguments.types[column] == UNKNOWNOID
								 ? CStringGetTextDatum(PG_GETARG_CSTRING(argument))
								 : PG_GETARG_DATUM(argument);
	}
	return true;
}

} // namespace shardkit
