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

#include "access/genam.h"
#include "access/hash.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/async.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "parser/parse_coerce.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/varlena.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM < 170000
#include "storage/sinvaladt.h"
#endif
}

/*
 * The process behind a virtual transaction; 0: it has ended, or it is a prepared transaction, which
 * keeps the number of the process that prepared it.
 */
inline int ProcessOf(VirtualTransactionId transaction)
{
#if PG_VERSION_NUM >= 170000
	const PGPROC *process = transaction.procNumber == INVALID_PROC_NUMBER
								? nullptr
								: ProcNumberGetProc(transaction.procNumber);
	const LocalTransactionId now = process == nullptr ? 0 : process->vxid.lxid;
#else
	const PGPROC *process = BackendIdGetProc(transaction.backendId);
	const LocalTransactionId now = process == nullptr ? 0 : process->lxid;
#endif
	return now != transaction.localTransactionId || process == nullptr ? 0 : process->pid;
}

inline bool HoldsLockExactly(const LOCKTAG &object, LOCKMODE mode)
{
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&object, mode, false);
#else
	return LockHeldByMe(&object, mode);
#endif
}

inline bool MayCreateInDatabase(Oid user)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(DatabaseRelationId, MyDatabaseId, user, ACL_CREATE) == ACLCHECK_OK;
#else
	return pg_database_aclcheck(MyDatabaseId, user, ACL_CREATE) == ACLCHECK_OK;
#endif
}

/*
 * From 16 on an input function reports bad input to whoever asked (soft_errors, may be null) and
 * answers a value; before that every error is hard.
 */
#if PG_VERSION_NUM >= 160000
#define SHARDKIT_SOFT_ERRORS(fcinfo) ((fcinfo)->context)
#define SHARDKIT_SOFT_ERROR(soft_errors, value, report) ereturn(soft_errors, value, report)
#else
#define SHARDKIT_SOFT_ERRORS(fcinfo) nullptr
#define SHARDKIT_SOFT_ERROR(soft_errors, value, report)                                            \
	do {                                                                                           \
		static_cast<void>(soft_errors);                                                            \
		ereport(ERROR, report);                                                                    \
	} while (false)
#endif

inline bool OwnsTable(Oid user, Oid table)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, table, user);
#else
	return pg_class_ownercheck(table, user);
#endif
}

/* A column that is computed when it is read and stored nowhere; PostgreSQL 18 brought it. */
inline bool IsVirtualColumn(const FormData_pg_attribute &column)
{
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
	return column.attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
#else
	(void)column;
	return false;
#endif
}

/* One row's entries in the indexes of a table, as an INSERT makes them. */
inline void InsertIndexTuples(ResultRelInfo *table, TupleTableSlot *row, EState *executor)
{
#if PG_VERSION_NUM >= 160000
	list_free(ExecInsertIndexTuples(table, row, executor, false, false, nullptr, NIL, false));
#else
	list_free(ExecInsertIndexTuples(table, row, executor, false, false, nullptr, NIL));
#endif
}

/* What a backend reports of itself, by its place from 1; nullptr: it is gone. */
inline const PgBackendStatus *BackendStatusAt(int place)
{
#if PG_VERSION_NUM >= 160000
	const LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(place);
#else
	const LocalPgBackendStatus *local = pgstat_fetch_stat_local_beentry(place);
#endif
	return local == nullptr ? nullptr : &local->backendStatus;
}

/* Declares and registers an SQL function; its body follows as Datum name(PG_FUNCTION_ARGS). */
#define SHARDKIT_FUNCTION(name)                                                                    \
	extern "C" PGDLLEXPORT Datum name(PG_FUNCTION_ARGS);                                           \
	extern "C" {                                                                                   \
	PG_FUNCTION_INFO_V1(name);                                                                     \
	}

extern "C" {
#include "catalog/pg_foreign_server.h"
#include "utils/acl.h"
}

/* May this role use that foreign server? */
inline bool MayUseServer(Oid server, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ForeignServerRelationId, server, role, ACL_USAGE) == ACLCHECK_OK;
#else
	return pg_foreign_server_aclcheck(server, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

#endif
