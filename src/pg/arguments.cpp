#include "pg/arguments.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

std::span<Datum> Elements(FunctionCallInfo fcinfo, int argument, const char *name, Oid type)
{
	CheckNotNull(fcinfo, argument, name);
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						   errmsg("\"%s\" must have one dimension", name)));
	if (ARR_HASNULL(array) && array_contains_nulls(array))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						   errmsg("\"%s\" must not contain nulls", name)));
	Datum *elements = nullptr;
	int count = 0;
	const bool is_int = type == INT4OID;
	deconstruct_array(array, type, is_int ? static_cast<int>(sizeof(int32)) : -1, is_int,
		TYPALIGN_INT, &elements, nullptr, &count);
	return {elements, static_cast<size_t>(count)};
}

} // namespace

void CheckNotNull(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						   errmsg("argument \"%s\" must not be null", name)));
}

char *TextArgument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	CheckNotNull(fcinfo, argument, name);
	return text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

int32 IntArgument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	CheckNotNull(fcinfo, argument, name);
	return PG_GETARG_INT32(argument);
}

int64 BigintArgument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	CheckNotNull(fcinfo, argument, name);
	return PG_GETARG_INT64(argument);
}

double FloatArgument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	CheckNotNull(fcinfo, argument, name);
	return PG_GETARG_FLOAT8(argument);
}

std::span<char *> TextArrayArgument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	const std::span<Datum> elements = Elements(fcinfo, argument, name, TEXTOID);
	auto *texts = static_cast<char **>(palloc(elements.size_bytes() + 1));
	for (size_t i = 0; i < elements.size(); ++i)
		texts[i] = TextDatumGetCString(elements[i]);
	return {texts, elements.size()};
}

std::span<int32> IntArrayArgument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	const std::span<Datum> elements = Elements(fcinfo, argument, name, INT4OID);
	auto *numbers = static_cast<int32 *>(palloc(elements.size_bytes() + 1));
	for (size_t i = 0; i < elements.size(); ++i)
		numbers[i] = DatumGetInt32(elements[i]);
	return {numbers, elements.size()};
}

} // namespace shardkit
