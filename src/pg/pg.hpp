/*
 * The one door to the server's headers; include it last. What differs between server versions is
 * settled here and nowhere else.
 */
#ifndef SHARDKIT_PG_PG_HPP
#define SHARDKIT_PG_PG_HPP

/* PostgreSQL 15 leaves PGDLLEXPORT empty, and everything is hidden by default. */
#ifndef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
}

/* Declares and registers an SQL function; its body follows as Datum name(PG_FUNCTION_ARGS). */
#define SHARDKIT_FUNCTION(name)                                                                    \
	extern "C" PGDLLEXPORT Datum name(PG_FUNCTION_ARGS);                                           \
	extern "C" {                                                                                   \
	PG_FUNCTION_INFO_V1(name);                                                                     \
	}

#endif
