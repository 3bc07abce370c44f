#include "pg/key/key_arguments.hpp"
#include "pg/key/key_convert.hpp"
#include "pg/key/partition_route.hpp"
#include "pg/key/partitioned.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

/* What partition_hash and partition_slot keep from call to call. */
struct HashState {
	KeyArguments arguments;
	KeyHasher *hasher;
};

/* Hash functions by the arguments' own types; an array's length may change. */
const KeyHasher &HasherFor(HashState &state, int columns, MemoryContext context)
{
	if (state.hasher == nullptr || state.hasher->columns != columns) {
		Oid functions[kMaxKeyColumns];
		Oid collations[kMaxKeyColumns];
		for (int i = 0; i < columns; ++i) {
			functions[i] = HashFunctionOf(KeyArgumentType(state.arguments, i));
			collations[i] = KeyArgumentCollation(state.arguments, i);
		}
		state.hasher = MakeKeyHasher(context, columns, functions, collations);
	}
	return *state.hasher;
}

/* The row hash of the arguments from number first on; false where it is NULL. */
bool HashArguments(FunctionCallInfo fcinfo, int first, uint64 &hash)
{
	auto *state = static_cast<HashState *>(fcinfo->flinfo->fn_extra);
	if (state == nullptr) {
		state = static_cast<HashState *>(
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(HashState)));
		DescribeKeyArguments(fcinfo, first, state->arguments);
		fcinfo->flinfo->fn_extra = state;
	}
	KeyValues key;
	if (!ReadKeyArguments(fcinfo, state->arguments, key))
		return false;
	hash = HashKey(HasherFor(*state, key.columns, fcinfo->flinfo->fn_mcxt), key.values, key.nulls);
	return true;
}

/* Counts changes of any relation: what was copied from one may be out of date. */
uint64 relation_changes = 0;

void CountRelationChange(Datum, Oid)
{
	++relation_changes;
}

void WatchRelations()
{
	static bool watching = false;
	if (!watching)
		CacheRegisterRelcacheCallback(CountRelationChange, 0);
	watching = true;
}

/* What partition_hash_for and partition_of keep from call to call. */
struct ParentState {
	Oid parent;
	uint64 changes;
	MemoryContext context;
	KeyArguments arguments;
	KeyConverter converter;
	PartitionLevel *top;
	const char *names[kMaxKeyColumns];
};

Relation OpenPartitioned(Oid parent)
{
	Relation relation = OpenRelation(parent);
	if (relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a partitioned table", RelationGetRelationName(relation)),
				errhint("For a table that is not partitioned use partition_hash.")));
	return relation;
}

/* Copies all that routing needs, so that no later call opens the parent. */
void FillParent(FunctionCallInfo fcinfo, Oid parent, ParentState &state)
{
	MemoryContextReset(state.context);
	state.top = nullptr; /* until all is well */
	state.changes = relation_changes;
	Relation relation = OpenPartitioned(parent);
	const PartitionKey key = RelationGetPartitionKey(relation);
	DescribeKeyArguments(fcinfo, 1, state.arguments);
	PrepareKeyConverter(state.converter, state.context, state.arguments, key->partnatts,
		key->parttypid, key->parttypmod, RelationGetRelationName(relation));
	state.top = OpenTopLevel(relation, state.context);
	for (int i = 0; i < key->partnatts; ++i)
		state.names[i] =
			key->partattrs[i] == 0
				? nullptr
				: MemoryContextStrdup(state.context, get_attname(parent, key->partattrs[i], false));
	relation_close(relation, AccessShareLock);
	state.parent = parent;
}

ParentState &StateOfParent(FunctionCallInfo fcinfo, Oid parent)
{
	auto *state = static_cast<ParentState *>(fcinfo->flinfo->fn_extra);
	if (state == nullptr) {
		WatchRelations();
		state = static_cast<ParentState *>(
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(ParentState)));
		state->context = AllocSetContextCreate(
			fcinfo->flinfo->fn_mcxt, "shardkit partitions", ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = state;
	}
	if (state->top == nullptr || state->parent != parent || state->changes != relation_changes)
		FillParent(fcinfo, parent, *state);
	return *state;
}

} // namespace

SHARDKIT_FUNCTION(shardkit_partition_hash)
Datum shardkit_partition_hash(PG_FUNCTION_ARGS)
{
	uint64 hash = 0;
	if (!HashArguments(fcinfo, 0, hash))
		PG_RETURN_NULL();
	PG_RETURN_INT64(static_cast<int64>(hash));
}

SHARDKIT_FUNCTION(shardkit_partition_slot)
Datum shardkit_partition_slot(PG_FUNCTION_ARGS)
{
	uint64 hash = 0;
	if (PG_ARGISNULL(0) || !HashArguments(fcinfo, 1, hash))
		PG_RETURN_NULL();
	const int32 slots = PG_GETARG_INT32(0);
	if (slots < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("number of slots must be at least 1, not %d", slots)));
	PG_RETURN_INT32(static_cast<int32>(hash % static_cast<uint64>(slots)));
}

SHARDKIT_FUNCTION(shardkit_partition_hash_for)
Datum shardkit_partition_hash_for(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	ParentState &state = StateOfParent(fcinfo, PG_GETARG_OID(0));
	if (state.top->hasher == nullptr)
		ereport(
			ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
					   errmsg("\"%s\" is not partitioned by hash", get_rel_name(state.parent))));
	KeyValues key;
	if (!ReadKeyArguments(fcinfo, state.arguments, key))
		PG_RETURN_NULL();
	ConvertKey(state.converter, key);
	PG_RETURN_INT64(static_cast<int64>(HashKey(*state.top->hasher, key.values, key.nulls)));
}

SHARDKIT_FUNCTION(shardkit_partition_of)
Datum shardkit_partition_of(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	ParentState &state = StateOfParent(fcinfo, PG_GETARG_OID(0));
	KeyValues key;
	if (!ReadKeyArguments(fcinfo, state.arguments, key))
		PG_RETURN_NULL();
	ConvertKey(state.converter, key);
	const Oid partition = RouteKey(state.top, state.names, key.values, key.nulls);
	if (!OidIsValid(partition))
		PG_RETURN_NULL();
	PG_RETURN_OID(partition);
}
