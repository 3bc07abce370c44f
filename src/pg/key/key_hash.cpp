#include "pg/key/key_hash.hpp"

namespace shardkit
{

Oid HashFunctionOf(Oid type)
{
	const Oid operator_class = GetDefaultOpClass(type, HASH_AM_OID);
	if (!OidIsValid(operator_class))
		ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("data type %s has no default hash operator class", format_type_be(type)),
				errhint("Use key columns of a type that PostgreSQL can hash.")));

	/* By number, never by name: names of support functions change between server versions. */
	const Oid input_type = get_opclass_input_type(operator_class);
	const Oid function = get_opfamily_proc(
		get_opclass_family(operator_class), input_type, input_type, HASHEXTENDED_PROC);
	if (!OidIsValid(function))
		ereport(
			ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
					   errmsg("data type %s has no extended hash function", format_type_be(type)),
					   errhint("Add support function 2 to its hash operator class.")));
	return function;
}

namespace
{

IntegerKey IntegerKeyOf(int columns, const Oid *functions)
{
	if (columns != 1)
		return IntegerKey::kNo;
	switch (functions[0]) {
	case F_HASHINT2EXTENDED:
		return IntegerKey::kInt2;
	case F_HASHINT4EXTENDED:
		return IntegerKey::kInt4;
	case F_HASHINT8EXTENDED:
		return IntegerKey::kInt8;
	default:
		return IntegerKey::kNo;
	}
}

} // namespace

KeyHasher *MakeKeyHasher(
	MemoryContext context, int columns, const Oid *functions, const Oid *collations)
{
	Assert(columns >= 0 && columns <= kMaxKeyColumns);
	auto *hasher = static_cast<KeyHasher *>(MemoryContextAllocZero(context, sizeof(KeyHasher)));
	hasher->columns = columns;
	hasher->integer = IntegerKeyOf(columns, functions);
	for (int column = 0; column < columns; ++column) {
		auto *info = static_cast<FmgrInfo *>(MemoryContextAllocZero(context, sizeof(FmgrInfo)));
		fmgr_info_cxt(functions[column], info, context);
		auto call = static_cast<FunctionCallInfo>(
			MemoryContextAllocZero(context, SizeForFunctionCallInfo(2)));
		InitFunctionCallInfoData(*call, info, 2, collations[column], nullptr, nullptr);
		call->args[1].value = UInt64GetDatum(HASH_PARTITION_SEED);
		hasher->calls[column] = call;
	}
	return hasher;
}

KeyHasher *MakeKeyHasher(MemoryContext context, PartitionKey key)
{
	Oid functions[kMaxKeyColumns];
	for (int column = 0; column < key->partnatts; ++column)
		functions[column] = key->partsupfunc[column].fn_oid;
	return MakeKeyHasher(context, key->partnatts, functions, key->partcollation);
}

} // namespace shardkit
