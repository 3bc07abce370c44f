#include "pg/move/row_hash.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace shardkit
{

namespace
{

bool HasSendFunction(Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		return false;
	const bool has = OidIsValid(reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typsend);
	ReleaseSysCache(tuple);
	return has;
}

/* record_send fails on the first column that has no binary form, after the move has begun. */
bool ColumnsHaveBinaryForm(Oid composite)
{
	TupleDesc shape = lookup_rowtype_tupdesc(composite, -1);
	bool have = true;
	for (int i = 0; i < shape->natts && have; ++i) {
		const FormData_pg_attribute &attribute = *TupleDescAttr(shape, i);
		have = attribute.attisdropped || HasBinaryForm(attribute.atttypid);
	}
	ReleaseTupleDesc(shape);
	return have;
}

} // namespace

bool HasBinaryForm(Oid type)
{
	check_stack_depth();
	const Oid base = getBaseType(type);
	if (!HasSendFunction(base))
		return false;
	if (const Oid element = get_element_type(base); OidIsValid(element))
		return HasBinaryForm(element);
	if (type_is_rowtype(base) && base != RECORDOID && base != RECORDARRAYOID)
		return ColumnsHaveBinaryForm(base);
	if (const Oid range = get_multirange_range(base); OidIsValid(range))
		return HasBinaryForm(range);
	if (const Oid subtype = get_range_subtype(base); OidIsValid(subtype))
		return HasBinaryForm(subtype);
	return true;
}

} // namespace shardkit
