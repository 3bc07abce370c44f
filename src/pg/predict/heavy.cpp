#include "core/predict/heavy.hpp"

#include "pg/key/key_arguments.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

/*
 * Heavy keys: a first pass gathers candidates by hash, a second one counts their rows exactly.
 * Both hash the key as PostgreSQL does; two keys of one hash are told apart by the second.
 */

namespace
{

/* Hashes are gathered and added many at a time, which is what the processor likes. */
struct HeavyState {
	uint64 rows;
	uint32 buffered;
	uint64 buffer[256];
	HeavyKeyTable table;
};

/* What both functions keep from call to call. */
struct KeyCall {
	KeyArguments arguments;
	KeyHasher *hasher;
	bool is_constant; /* the candidates cannot differ from row to row */
	uint32 mask;
	uint64 *candidates; /* open addressing; zero is free, has_zero says whether it is one */
	bool has_zero;
};

KeyCall &CallOf(FunctionCallInfo fcinfo, int first)
{
	auto *call = static_cast<KeyCall *>(fcinfo->flinfo->fn_extra);
	if (call != nullptr)
		return *call;
	const MemoryContext context = fcinfo->flinfo->fn_mcxt;
	call = static_cast<KeyCall *>(MemoryContextAllocZero(context, sizeof(KeyCall)));
	DescribeKeyArguments(fcinfo, first, call->arguments);
	if (call->arguments.is_array)
		ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the key must be a list of columns")));
	Oid functions[kMaxKeyColumns];
	Oid collations[kMaxKeyColumns];
	for (int i = 0; i < call->arguments.columns; ++i) {
		functions[i] = HashFunctionOf(KeyArgumentType(call->arguments, i));
		collations[i] = KeyArgumentCollation(call->arguments, i);
	}
	call->hasher = MakeKeyHasher(context, call->arguments.columns, functions, collations);
	fcinfo->flinfo->fn_extra = call;
	return *call;
}

uint64 HashOfKey(FunctionCallInfo fcinfo, const KeyCall &call)
{
	bool has_null = false;
	return HashKeyArguments(fcinfo, call.arguments, *call.hasher, has_null);
}

MemoryContext AggregateContext(FunctionCallInfo fcinfo)
{
	MemoryContext context = nullptr;
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "function called outside an aggregate");
	return context;
}

HeavyState *NewState(MemoryContext context)
{
	auto *state = static_cast<HeavyState *>(MemoryContextAlloc(context, sizeof(HeavyState)));
	state->rows = 0;
	state->buffered = 0;
	ClearHeavy(state->table);
	return state;
}

void Flush(HeavyState &state)
{
	AddHeavyBatch(state.table, {state.buffer, state.buffered});
	state.rows += state.buffered;
	state.buffered = 0;
}

uint32 HomeOf(uint64 hash, uint32 mask)
{
	hash ^= hash >> 32;
	return static_cast<uint32>(hash * 0x9e3779b97f4a7c15U >> 40) & mask;
}

void AddCandidate(KeyCall &call, uint64 hash)
{
	if (hash == 0) {
		call.has_zero = true;
		return;
	}
	uint32 place = HomeOf(hash, call.mask);
	while (call.candidates[place] != 0 && call.candidates[place] != hash)
		place = (place + 1) & call.mask;
	call.candidates[place] = hash;
}

bool IsCandidate(const KeyCall &call, uint64 hash)
{
	if (hash == 0)
		return call.has_zero;
	uint32 place = HomeOf(hash, call.mask);
	while (call.candidates[place] != 0 && call.candidates[place] != hash)
		place = (place + 1) & call.mask;
	return call.candidates[place] == hash;
}

/* Makes the candidates ready; once a statement where they are a constant. */
void FillCandidates(FunctionCallInfo fcinfo, KeyCall &call)
{
	ArrayType *list = PG_GETARG_ARRAYTYPE_P(0);
	Datum *values = nullptr;
	int count = 0;
	if (ARR_HASNULL(list) || ARR_ELEMTYPE(list) != INT8OID)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						   errmsg("a candidate's hash must not be null")));
	deconstruct_array(
		list, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, nullptr, &count);
	uint32 places = 16;
	while (places < static_cast<uint32>(count) * 4)
		places *= 2;
	if (call.candidates != nullptr)
		pfree(call.candidates);
	call.candidates = static_cast<uint64 *>(
		MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, places * sizeof(uint64)));
	call.mask = places - 1;
	call.has_zero = false;
	for (int i = 0; i < count; ++i)
		AddCandidate(call, static_cast<uint64>(DatumGetInt64(values[i])));
	pfree(values);
	call.is_constant = get_fn_expr_arg_stable(fcinfo->flinfo, 0);
}

} // namespace

/* (state, VARIADIC key) */
SHARDKIT_FUNCTION(shardkit_heavy_add)
Datum shardkit_heavy_add(PG_FUNCTION_ARGS)
{
	auto *state = PG_ARGISNULL(0) ? NewState(AggregateContext(fcinfo))
								  : reinterpret_cast<HeavyState *>(PG_GETARG_POINTER(0));
	state->buffer[state->buffered] = HashOfKey(fcinfo, CallOf(fcinfo, 1));
	if (++state->buffered == lengthof(state->buffer))
		Flush(*state);
	PG_RETURN_POINTER(state);
}

SHARDKIT_FUNCTION(shardkit_heavy_combine)
Datum shardkit_heavy_combine(PG_FUNCTION_ARGS)
{
	const MemoryContext context = AggregateContext(fcinfo);
	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	auto *state =
		PG_ARGISNULL(0) ? NewState(context) : reinterpret_cast<HeavyState *>(PG_GETARG_POINTER(0));
	if (!PG_ARGISNULL(1)) {
		auto *other = reinterpret_cast<HeavyState *>(PG_GETARG_POINTER(1));
		Flush(*state);
		Flush(*other);
		state->rows += other->rows;
		MergeHeavy(state->table, other->table);
	}
	PG_RETURN_POINTER(state);
}

SHARDKIT_FUNCTION(shardkit_heavy_serialize)
Datum shardkit_heavy_serialize(PG_FUNCTION_ARGS)
{
	AggregateContext(fcinfo);
	auto *state = reinterpret_cast<HeavyState *>(PG_GETARG_POINTER(0));
	Flush(*state);
	auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + sizeof(HeavyState)));
	SET_VARSIZE(bytes, VARHDRSZ + sizeof(HeavyState));
	memcpy(VARDATA(bytes), state, sizeof(HeavyState));
	PG_RETURN_BYTEA_P(bytes);
}

SHARDKIT_FUNCTION(shardkit_heavy_deserialize)
Datum shardkit_heavy_deserialize(PG_FUNCTION_ARGS)
{
	AggregateContext(fcinfo);
	const bytea *bytes = PG_GETARG_BYTEA_PP(0);
	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(HeavyState))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						   errmsg("not the heavy keys of this version of shardkit")));
	auto *state = static_cast<HeavyState *>(palloc(sizeof(HeavyState)));
	memcpy(state, VARDATA_ANY(bytes), sizeof(HeavyState));
	PG_RETURN_POINTER(state);
}

/* -> {rows, hash, hash, ..}: the hashes in falling order of their counts. */
SHARDKIT_FUNCTION(shardkit_heavy_final)
Datum shardkit_heavy_final(PG_FUNCTION_ARGS)
{
	AggregateContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	auto *state = reinterpret_cast<HeavyState *>(PG_GETARG_POINTER(0));
	Flush(*state);
	HeavyKey best[kHeavyKeys];
	const uint32 count = HeaviestKeys(state->table, best);
	Datum values[kHeavyKeys + 1];
	values[0] = Int64GetDatum(static_cast<int64>(state->rows));
	for (uint32 i = 0; i < count; ++i)
		values[i + 1] = Int64GetDatum(static_cast<int64>(best[i].key));
	PG_RETURN_ARRAYTYPE_P(construct_array(values, static_cast<int>(count) + 1, INT8OID,
		sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* (candidates, VARIADIC key): is the key's hash among them? */
SHARDKIT_FUNCTION(shardkit_is_heavy)
Datum shardkit_is_heavy(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	KeyCall &call = CallOf(fcinfo, 1);
	if (!call.is_constant)
		FillCandidates(fcinfo, call);
	PG_RETURN_BOOL(IsCandidate(call, HashOfKey(fcinfo, call)));
}

/* For the planner: few rows pass, so that it does not expect millions of groups behind the test. */
SHARDKIT_FUNCTION(shardkit_is_heavy_support)
Datum shardkit_is_heavy_support(PG_FUNCTION_ARGS)
{
	constexpr double kExpected = 0.001;
	Node *request = reinterpret_cast<Node *>(PG_GETARG_POINTER(0));
	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(nullptr);
	reinterpret_cast<SupportRequestSelectivity *>(request)->selectivity = kExpected;
	PG_RETURN_POINTER(request);
}
