#include "core/move/fingerprint.hpp"

#include "pg/move/row_hash.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
}

using shardkit::Fingerprint;

namespace
{

/* What a call site keeps: the shape of its rows, and their hasher. */
struct Shape {
	Oid type;
	int32 typmod;
	TupleDesc columns;
	Datum *values;
	bool *nulls;
	shardkit::RowHasher *hasher;
	MemoryContext memory;
};

/* Rows of one call site are of one type, but an anonymous record can change its own. */
Shape &ShapeOf(FmgrInfo *call_site, HeapTupleHeader row)
{
	auto *shape = static_cast<Shape *>(call_site->fn_extra);
	const Oid type = HeapTupleHeaderGetTypeId(row);
	const int32 typmod = HeapTupleHeaderGetTypMod(row);
	if (shape != nullptr && shape->type == type && shape->typmod == typmod)
		return *shape;
	if (shape == nullptr) {
		shape = static_cast<Shape *>(MemoryContextAllocZero(call_site->fn_mcxt, sizeof(Shape)));
		shape->memory = AllocSetContextCreate(
			call_site->fn_mcxt, "shardkit fingerprint", ALLOCSET_DEFAULT_SIZES);
		call_site->fn_extra = shape;
	}
	shape->type = InvalidOid;
	MemoryContextReset(shape->memory);
	MemoryContext caller = MemoryContextSwitchTo(shape->memory);
	TupleDesc pinned = lookup_rowtype_tupdesc(type, typmod);
	shape->columns = CreateTupleDescCopyConstr(pinned);
	ReleaseTupleDesc(pinned);
	const auto count = static_cast<Size>(Max(shape->columns->natts, 1));
	shape->values = static_cast<Datum *>(palloc(sizeof(Datum) * count));
	shape->nulls = static_cast<bool *>(palloc(sizeof(bool) * count));
	MemoryContextSwitchTo(caller);
	shape->hasher = shardkit::MakeRowHasher(shape->columns, 0, shape->memory);
	shape->type = type;
	shape->typmod = typmod;
	return *shape;
}

Fingerprint HashOf(FmgrInfo *call_site, HeapTupleHeader row)
{
	Shape &shape = ShapeOf(call_site, row);
	HeapTupleData tuple = {};
	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	ItemPointerSetInvalid(&tuple.t_self);
	heap_deform_tuple(&tuple, shape.columns, shape.values, shape.nulls);
	return shardkit::HashRow(*shape.hasher, shape.values, shape.nulls).hash;
}

MemoryContext StateMemory(FunctionCallInfo fcinfo)
{
	MemoryContext memory = nullptr;
	if (!AggCheckCallContext(fcinfo, &memory))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						   errmsg("this function is called by an aggregate only")));
	return memory;
}

Fingerprint *StateOf(FunctionCallInfo fcinfo)
{
	MemoryContext memory = StateMemory(fcinfo);
	if (!PG_ARGISNULL(0))
		return reinterpret_cast<Fingerprint *>(PG_GETARG_POINTER(0));
	return static_cast<Fingerprint *>(MemoryContextAllocZero(memory, sizeof(Fingerprint)));
}

} // namespace

SHARDKIT_FUNCTION(shardkit_fingerprint_add)
Datum shardkit_fingerprint_add(PG_FUNCTION_ARGS)
{
	Fingerprint *state = StateOf(fcinfo);
	if (!PG_ARGISNULL(1))
		*state = Sum(*state, HashOf(fcinfo->flinfo, PG_GETARG_HEAPTUPLEHEADER(1)));
	PG_RETURN_POINTER(state);
}

SHARDKIT_FUNCTION(shardkit_fingerprint_combine)
Datum shardkit_fingerprint_combine(PG_FUNCTION_ARGS)
{
	Fingerprint *state = StateOf(fcinfo);
	if (!PG_ARGISNULL(1))
		*state = Sum(*state, *reinterpret_cast<Fingerprint *>(PG_GETARG_POINTER(1)));
	PG_RETURN_POINTER(state);
}

SHARDKIT_FUNCTION(shardkit_fingerprint_serialize)
Datum shardkit_fingerprint_serialize(PG_FUNCTION_ARGS)
{
	StateMemory(fcinfo);
	auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + sizeof(Fingerprint)));
	SET_VARSIZE(bytes, VARHDRSZ + sizeof(Fingerprint));
	memcpy(VARDATA(bytes), PG_GETARG_POINTER(0), sizeof(Fingerprint));
	PG_RETURN_BYTEA_P(bytes);
}

SHARDKIT_FUNCTION(shardkit_fingerprint_deserialize)
Datum shardkit_fingerprint_deserialize(PG_FUNCTION_ARGS)
{
	StateMemory(fcinfo);
	const bytea *bytes = PG_GETARG_BYTEA_PP(0);
	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(Fingerprint))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						   errmsg("not the state of a fingerprint")));
	auto *state = static_cast<Fingerprint *>(palloc(sizeof(Fingerprint)));
	memcpy(state, VARDATA_ANY(bytes), sizeof(Fingerprint));
	PG_RETURN_POINTER(state);
}

SHARDKIT_FUNCTION(shardkit_fingerprint_result)
Datum shardkit_fingerprint_result(PG_FUNCTION_ARGS)
{
	StateMemory(fcinfo);
	const Fingerprint none{};
	const auto digits = shardkit::Digits(
		PG_ARGISNULL(0) ? none : *reinterpret_cast<Fingerprint *>(PG_GETARG_POINTER(0)));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(digits.data(), static_cast<int>(digits.size())));
}
