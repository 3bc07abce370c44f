/*
 * The 128-bit hash of one row, whatever the order of its columns.
 *
 * The row's form: for each column, in byte order of the names, the name's length, the name, the
 * value's length (or the mark for NULL) and the value as its type's binary send function gives it.
 * Dropped and virtual generated columns have no part in it. The hash is XXH3, 128 bits, seed 0.
 */
#ifndef SHARDKIT_PG_ROW_HASH_HPP
#define SHARDKIT_PG_ROW_HASH_HPP

#include "core/move/fingerprint.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/tupdesc.h"
}

namespace shardkit
{

struct RowHasher;

/* A hasher for rows of this shape, in this memory; the first skip columns have no part. */
RowHasher *MakeRowHasher(TupleDesc shape, int skip, MemoryContext memory);

struct RowHash {
	Fingerprint hash;
	uint64 bytes; /* of the values alone */
};

/* values and nulls are those of all columns of the shape, the skipped ones included. */
RowHash HashRow(RowHasher &hasher, const Datum *values, const bool *nulls);

/* Has the type, with all that it is made of, a binary send function? */
bool HasBinaryForm(Oid type);

} // namespace shardkit

#endif
