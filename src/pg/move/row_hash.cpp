#include "pg/move/row_hash.hpp"

#include "pg/move/row_form.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/uuid.h"
}

namespace shardkit
{

namespace
{

/* How a value's bytes are had. All but the last two are what the send function would give. */
enum class Form { Int16, Int32, Int64, Byte, Uuid, Varlena, Send, Output };

struct Column {
	int index;
	Form form;
	FmgrInfo function; /* Send and Output only */
	const char *name;
	uint32 frame_bytes;
	unsigned char frame[kFrameBytes + NAMEDATALEN]; /* the name's length, the name */
};

} // namespace

struct RowHasher {
	MemoryContext scratch;
	bool scratch_used;
	int columns_count;
	Column *columns;
	RowForm form;
};

namespace
{

/* The types whose binary form is had without a call: a call costs more than the hash. */
Form FormOf(Oid send)
{
	switch (send) {
	case F_INT2SEND:
		return Form::Int16;
	case F_INT4SEND:
	case F_OIDSEND:
	case F_DATE_SEND:
	case F_FLOAT4SEND:
		return Form::Int32;
	case F_INT8SEND:
	case F_FLOAT8SEND:
	case F_TIME_SEND:
	case F_TIMESTAMP_SEND:
	case F_TIMESTAMPTZ_SEND:
	case F_CASH_SEND:
		return Form::Int64;
	case F_BOOLSEND:
	case F_CHARSEND:
		return Form::Byte;
	case F_UUID_SEND:
		return Form::Uuid;
	case F_TEXTSEND:
	case F_VARCHARSEND:
	case F_BPCHARSEND:
	case F_BYTEASEND:
		return Form::Varlena;
	default:
		return Form::Send;
	}
}

void FillColumn(
	Column &column, const FormData_pg_attribute &attribute, int index, MemoryContext memory)
{
	column.index = index;
	column.name = MemoryContextStrdup(memory, NameStr(attribute.attname));
	const auto length = static_cast<uint32>(strlen(column.name));
	WriteFrame(std::span<unsigned char, kFrameBytes>(column.frame, kFrameBytes), length);
	memcpy(column.frame + kFrameBytes, column.name, length);
	column.frame_bytes = kFrameBytes + length;

	Oid function = InvalidOid;
	bool is_varlena = false;
	if (HasBinaryForm(attribute.atttypid)) {
		getTypeBinaryOutputInfo(attribute.atttypid, &function, &is_varlena);
		column.form = FormOf(function);
	} else {
		getTypeOutputInfo(attribute.atttypid, &function, &is_varlena);
		column.form = Form::Output;
	}
	if (column.form == Form::Send || column.form == Form::Output)
		fmgr_info_cxt(function, &column.function, memory);
}

/* Names compare as bytes; an anonymous record can have a name twice: by position, then. */
int CompareColumns(const void *left, const void *right)
{
	const auto &a = *static_cast<const Column *>(left);
	const auto &b = *static_cast<const Column *>(right);
	const int order = strcmp(a.name, b.name);
	return order != 0 ? order : a.index - b.index;
}

std::size_t PutVarlena(RowHasher &hasher, Datum value)
{
	auto *packed = PG_DETOAST_DATUM_PACKED(value);
	const auto bytes = static_cast<std::size_t>(VARSIZE_ANY_EXHDR(packed));
	PutValue(hasher.form, VARDATA_ANY(packed), bytes);
	hasher.scratch_used |= packed != reinterpret_cast<varlena *>(DatumGetPointer(value));
	return bytes;
}

/* The value by its type's own function. */
std::size_t PutCalled(RowHasher &hasher, Column &column, Datum value)
{
	hasher.scratch_used = true;
	if (column.form == Form::Output) {
		const char *text = OutputFunctionCall(&column.function, value);
		PutValue(hasher.form, text, strlen(text));
		return strlen(text);
	}
	const bytea *sent = SendFunctionCall(&column.function, value);
	PutValue(hasher.form, VARDATA(sent), VARSIZE(sent) - VARHDRSZ);
	return VARSIZE(sent) - VARHDRSZ;
}

/*
 * Send functions turn text into the client's encoding. A fingerprint must not depend on who asks,
 * so for the call the client's encoding is the server's.
 */
std::size_t PutNeutral(RowHasher &hasher, Column &column, Datum value)
{
	const int client = pg_get_client_encoding();
	if (client == GetDatabaseEncoding())
		return PutCalled(hasher, column, value);
	volatile std::size_t bytes = 0;
	SetClientEncoding(GetDatabaseEncoding());
	PG_TRY();
	{
		bytes = PutCalled(hasher, column, value);
	}
	PG_FINALLY();
	{
		SetClientEncoding(client);
	}
	PG_END_TRY();
	return bytes;
}

std::size_t PutColumn(RowHasher &hasher, Column &column, Datum value)
{
	switch (column.form) {
	case Form::Int16:
		PutInt16(hasher.form, DatumGetUInt16(value));
		return sizeof(uint16);
	case Form::Int32:
		PutInt32(hasher.form, DatumGetUInt32(value));
		return sizeof(uint32);
	case Form::Int64:
		PutInt64(hasher.form, DatumGetUInt64(value));
		return sizeof(uint64);
	case Form::Byte: {
		const char byte = DatumGetChar(value);
		PutValue(hasher.form, &byte, 1);
		return 1;
	}
	case Form::Uuid:
		PutValue(hasher.form, DatumGetPointer(value), UUID_LEN);
		return UUID_LEN;
	case Form::Varlena:
		return PutVarlena(hasher, value);
	case Form::Send:
	case Form::Output:
		break;
	}
	return PutNeutral(hasher, column, value);
}

} // namespace

RowHasher *MakeRowHasher(TupleDesc shape, int skip, MemoryContext memory)
{
	auto *hasher = static_cast<RowHasher *>(MemoryContextAlloc(memory, sizeof(RowHasher)));
	hasher->scratch = AllocSetContextCreate(memory, "shardkit row", ALLOCSET_DEFAULT_SIZES);
	hasher->columns_count = 0;
	hasher->columns = static_cast<Column *>(
		MemoryContextAllocZero(memory, sizeof(Column) * static_cast<Size>(Max(shape->natts, 1))));
	for (int i = skip; i < shape->natts; ++i) {
		const FormData_pg_attribute &attribute = *TupleDescAttr(shape, i);
		if (!attribute.attisdropped && !IsVirtualColumn(attribute))
			FillColumn(hasher->columns[hasher->columns_count++], attribute, i, memory);
	}
	qsort(hasher->columns, static_cast<size_t>(hasher->columns_count), sizeof(Column),
		CompareColumns);
	return hasher;
}

RowHash HashRow(RowHasher &hasher, const Datum *values, const bool *nulls)
{
	uint64 bytes = 0;
	Begin(hasher.form);
	hasher.scratch_used = false;
	MemoryContext caller = MemoryContextSwitchTo(hasher.scratch);
	for (int i = 0; i < hasher.columns_count; ++i) {
		Column &column = hasher.columns[i];
		Put(hasher.form, column.frame, column.frame_bytes);
		if (nulls[column.index])
			PutFrame(hasher.form, kNullMark);
		else
			bytes += PutColumn(hasher, column, values[column.index]);
	}
	MemoryContextSwitchTo(caller);
	if (hasher.scratch_used)
		MemoryContextReset(hasher.scratch);
	return {.hash = Finish(hasher.form), .bytes = bytes};
}

} // namespace shardkit
