/* Rows in PostgreSQL's binary COPY form, from one connection to another, counted on their way. */
#ifndef SHARDKIT_PG_COPY_STREAM_HPP
#define SHARDKIT_PG_COPY_STREAM_HPP

#include "core/move/fingerprint.hpp"
#include "pg/server/remote_link.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

/*
 * The columns that travel, in byte order of their names: then the rows on the wire hold the parts
 * of a row's fingerprint in their order, and in the form in which they are hashed.
 */
struct CopyColumns {
	int count;
	const char **names;
};

/* Called about every 64 kB; raises an error to stop the stream. */
struct StreamWatch {
	void (*look)(void *context, const RowSum &so_far);
	void *context;
};

/*
 * Streams what source answers to copy_out (COPY .. TO STDOUT, binary) into target's copy_in, and
 * answers count, bytes and fingerprint of the rows that went through. Neither side's transaction is
 * ended. Memory is bounded by the largest row.
 */
RowSum StreamRows(Link *source, const char *copy_out, Link *target, const char *copy_in,
	const CopyColumns &columns, StreamWatch watch);

/* The same without a target: what is there. */
RowSum ReadRows(Link *source, const char *copy_out, const CopyColumns &columns, StreamWatch watch);

} // namespace shardkit

#endif
