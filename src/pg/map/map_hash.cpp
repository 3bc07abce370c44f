#include "pg/map/map_hash.hpp"

#include <cstring>
#include <string_view>

#include "pg/place/digest.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

bool IsRowHash(const char *hash)
{
	return std::strcmp(hash, "postgres") == 0;
}

bool IsFunction(const char *hash)
{
	return std::strchr(hash, '(') != nullptr;
}

Oid FunctionOf(const char *hash)
{
	return DatumGetObjectId(DirectFunctionCall1(regprocedurein, CStringGetDatum(hash)));
}

/* The slot of a key must never change: neither may the function's answer. */
void CheckFunction(Oid function, const char *hash)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("function \"%s\" does not exist", hash)));
	const auto *form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
	const bool fits = form->prokind == PROKIND_FUNCTION && form->prorettype == INT8OID &&
					  form->pronargs == 1 && form->proargtypes.values[0] == TEXTOID &&
					  !form->proretset && form->provolatile == PROVOLATILE_IMMUTABLE;
	ReleaseSysCache(tuple);
	if (!fits)
		ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
						   errmsg("function \"%s\" cannot be the hash of a map", hash),
						   errhint("It must be IMMUTABLE, take one text and return bigint.")));
}

/* Types whose text is the same everywhere and for ever. */
bool HasStableText(Oid type)
{
	switch (getBaseType(type)) {
	case INT2OID:
	case INT4OID:
	case INT8OID:
	case TEXTOID:
	case VARCHAROID:
	case UUIDOID:
		return true;
	default:
		return false;
	}
}

} // namespace

char *CheckedMapHash(const char *hash)
{
	if (IsRowHash(hash))
		return pstrdup(hash);
	if (IsFunction(hash)) {
		const Oid function = FunctionOf(hash);
		CheckFunction(function, hash);
		return format_procedure_qualified(function);
	}
	if (!FindAlgorithm(hash))
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("hash \"%s\" is not known", hash),
				errhint("Use 'postgres', an algorithm of shardkit.hash64, or a function "
						"'schema.name(text)'.")));
	return pstrdup(hash);
}

void CheckHashTakes(const char *hash, std::span<const Oid> types)
{
	if (IsRowHash(hash))
		return;
	if (types.size() != 1 || !HasStableText(types.front()))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						   errmsg("hash \"%s\" takes one column of an integer type, text, varchar "
								  "or uuid",
							   hash),
						   errhint("A map of hash 'postgres' takes any key.")));
}

MapHasher *MakeMapHasher(
	MemoryContext memory, const char *hash, std::span<const Oid> types, const Oid *collations)
{
	auto *hasher = static_cast<MapHasher *>(MemoryContextAllocZero(memory, sizeof(MapHasher)));
	hasher->columns = static_cast<int>(types.size());
	if (IsRowHash(hash)) {
		Oid functions[kMaxKeyColumns];
		for (int i = 0; i < hasher->columns; ++i)
			functions[i] = HashFunctionOf(types[i]);
		hasher->rows = MakeKeyHasher(memory, hasher->columns, functions, collations);
		return hasher;
	}
	CheckHashTakes(hash, types);
	Oid output = InvalidOid;
	bool is_varlena = false;
	getTypeOutputInfo(types.front(), &output, &is_varlena);
	fmgr_info_cxt(output, &hasher->output, memory);
	hasher->has_function = IsFunction(hash);
	if (hasher->has_function) {
		const Oid function = FunctionOf(hash);
		CheckFunction(function, hash);
		fmgr_info_cxt(function, &hasher->function, memory);
	} else
		hasher->algorithm = AlgorithmNamed(hash);
	return hasher;
}

uint64 HashKeyText(MapHasher &hasher, Datum value, bool null)
{
	if (null)
		ereport(ERROR, (errcode(ERRCODE_NOT_NULL_VIOLATION),
						   errmsg("the key of a map with this hash must not be null")));
	const char *text = OutputFunctionCall(&hasher.output, value);
	if (!hasher.has_function)
		return Hash64(hasher.algorithm, text);
	return DatumGetUInt64(
		FunctionCall1Coll(&hasher.function, DEFAULT_COLLATION_OID, CStringGetTextDatum(text)));
}

} // namespace shardkit
