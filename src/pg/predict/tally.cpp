#include "pg/predict/tally_call.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

double WeightArgument(FunctionCallInfo fcinfo, int argument, Tally &tally)
{
	if (PG_ARGISNULL(argument))
		return 0;
	tally.weighted = true;
	return PG_GETARG_FLOAT8(argument);
}

bool IsIntegerHash(Oid function)
{
	return function == F_HASHINT2EXTENDED || function == F_HASHINT4EXTENDED ||
		   function == F_HASHINT8EXTENDED;
}

/* A foreign table may declare a column otherwise than it is: its hash would then be another one. */
void CheckKeyTypes(const TallyPlan &plan, const TallyCall &call, const Oid *functions)
{
	for (int i = 0; i < plan.key_columns; ++i) {
		const bool known = i < call.arguments.columns && get_typisdefined(plan.key_types[i]);
		const Oid function = known ? HashFunctionOf(plan.key_types[i]) : InvalidOid;
		if (known &&
			(function == functions[i] || (IsIntegerHash(function) && IsIntegerHash(functions[i]))))
			continue;
		ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("key column %d is %s here, and another type where it was asked from", i + 1,
					format_type_be(KeyArgumentType(call.arguments, i))),
				errhint("Declare the foreign table's columns as they are in the remote table.")));
	}
}

/* Hash functions by the arguments' own types, looked up once a statement. */
const KeyHasher &HasherOf(FunctionCallInfo fcinfo, TallyCall &call)
{
	constexpr int kFirstKey = 3;
	if (call.hasher != nullptr)
		return *call.hasher;
	DescribeKeyArguments(fcinfo, kFirstKey, call.arguments);
	if (call.arguments.is_array)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						   errmsg("the key of a prediction must be a list of columns")));
	Oid functions[kMaxKeyColumns];
	Oid collations[kMaxKeyColumns];
	for (int i = 0; i < call.arguments.columns; ++i) {
		functions[i] = HashFunctionOf(KeyArgumentType(call.arguments, i));
		collations[i] = KeyArgumentCollation(call.arguments, i);
	}
	CheckKeyTypes(*call.plan, call, functions);
	call.hasher =
		MakeKeyHasher(fcinfo->flinfo->fn_mcxt, call.arguments.columns, functions, collations);
	return *call.hasher;
}

} // namespace

/* (state, plan, weight, VARIADIC key): hashes the key as PostgreSQL's hash partitioning does. */
SHARDKIT_FUNCTION(shardkit_tally_key)
Datum shardkit_tally_key(PG_FUNCTION_ARGS)
{
	TallyCall &call = CallOf(fcinfo);
	Tally &tally = TransitionState(fcinfo, PlanArgument(fcinfo, call));
	const KeyHasher &hasher = HasherOf(fcinfo, call);
	bool has_null = false;
	const uint64 hash = HashKeyArguments(fcinfo, call.arguments, hasher, has_null);
	tally.null_keys += has_null ? 1 : 0;
	AddToTally(tally, hash, WeightArgument(fcinfo, 2, tally));
	PG_RETURN_POINTER(&tally);
}

/* (state, plan, weight, hash, is_null): a NULL hash has no place and is counted apart. */
SHARDKIT_FUNCTION(shardkit_tally_hash)
Datum shardkit_tally_hash(PG_FUNCTION_ARGS)
{
	Tally &tally = TransitionState(fcinfo, PlanArgument(fcinfo, CallOf(fcinfo)));
	if (PG_ARGISNULL(3) || (!PG_ARGISNULL(4) && PG_GETARG_BOOL(4)))
		++tally.null_keys;
	const double weight = WeightArgument(fcinfo, 2, tally);
	if (!PG_ARGISNULL(3))
		AddToTally(tally, static_cast<uint64>(PG_GETARG_INT64(3)), weight);
	PG_RETURN_POINTER(&tally);
}

/* (state, plan, weight, hash, is_null, table, ctid): the same of a sample of blocks. */
SHARDKIT_FUNCTION(shardkit_tally_block)
Datum shardkit_tally_block(PG_FUNCTION_ARGS)
{
	Tally &tally = TransitionState(fcinfo, PlanArgument(fcinfo, CallOf(fcinfo)));
	if (!PG_ARGISNULL(5) && !PG_ARGISNULL(6))
		EnterBlock(tally, PG_GETARG_OID(5),
			ItemPointerGetBlockNumberNoCheck(reinterpret_cast<ItemPointer>(PG_GETARG_POINTER(6))));
	if (PG_ARGISNULL(3) || (!PG_ARGISNULL(4) && PG_GETARG_BOOL(4)))
		++tally.null_keys;
	const double weight = WeightArgument(fcinfo, 2, tally);
	if (!PG_ARGISNULL(3))
		AddToTally(tally, static_cast<uint64>(PG_GETARG_INT64(3)), weight);
	PG_RETURN_POINTER(&tally);
}

/* (state, plan, weight, hash, is_null, rows, key): one row a distinct key. */
SHARDKIT_FUNCTION(shardkit_tally_group)
Datum shardkit_tally_group(PG_FUNCTION_ARGS)
{
	Tally &tally = TransitionState(fcinfo, PlanArgument(fcinfo, CallOf(fcinfo)));
	const uint64 rows = PG_ARGISNULL(5) ? 0 : static_cast<uint64>(PG_GETARG_INT64(5));
	if (PG_ARGISNULL(3) || (!PG_ARGISNULL(4) && PG_GETARG_BOOL(4)))
		tally.null_keys += rows;
	const double weight = WeightArgument(fcinfo, 2, tally);
	if (!PG_ARGISNULL(3) && rows > 0) {
		char *key = PG_ARGISNULL(6) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(6));
		AddKeyToTally(tally, static_cast<uint64>(PG_GETARG_INT64(3)), rows, weight, key);
	}
	PG_RETURN_POINTER(&tally);
}

/* (state, bytes): counts that another server made. */
SHARDKIT_FUNCTION(shardkit_tally_merge)
Datum shardkit_tally_merge(PG_FUNCTION_ARGS)
{
	MemoryContext context = nullptr;
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "shardkit_tally_merge called outside an aggregate");
	if (PG_ARGISNULL(1)) {
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_POINTER(PG_GETARG_POINTER(0));
	}
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(ReadTally(context, PG_GETARG_VARLENA_PP(1)));
	auto *tally = reinterpret_cast<Tally *>(PG_GETARG_POINTER(0));
	Tally *other = ReadTally(CurrentMemoryContext, PG_GETARG_VARLENA_PP(1));
	MergeTally(*tally, *other);
	PG_RETURN_POINTER(tally);
}

SHARDKIT_FUNCTION(shardkit_tally_combine)
Datum shardkit_tally_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = nullptr;
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "shardkit_tally_combine called outside an aggregate");
	if (PG_ARGISNULL(1)) {
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_POINTER(PG_GETARG_POINTER(0));
	}
	auto *other = reinterpret_cast<Tally *>(PG_GETARG_POINTER(1));
	/* The state must live as long as the aggregate: the other one does not. */
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(ReadTally(context, WriteTally(*other)));
	auto *tally = reinterpret_cast<Tally *>(PG_GETARG_POINTER(0));
	MergeTally(*tally, *other);
	PG_RETURN_POINTER(tally);
}

/* Also the final function: counts leave an aggregate as the bytes that travel between servers. */
SHARDKIT_FUNCTION(shardkit_tally_serialize)
Datum shardkit_tally_serialize(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!AggCheckCallContext(fcinfo, nullptr))
		elog(ERROR, "shardkit_tally_serialize called outside an aggregate");
	PG_RETURN_BYTEA_P(WriteTally(*reinterpret_cast<Tally *>(PG_GETARG_POINTER(0))));
}

SHARDKIT_FUNCTION(shardkit_tally_deserialize)
Datum shardkit_tally_deserialize(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, nullptr))
		elog(ERROR, "shardkit_tally_deserialize called outside an aggregate");
	PG_RETURN_POINTER(ReadTally(CurrentMemoryContext, PG_GETARG_VARLENA_PP(0)));
}
