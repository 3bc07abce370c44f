/* PostgreSQL's own routing of a key through the levels of a partitioned table. */
#ifndef SHARDKIT_PG_PARTITION_ROUTE_HPP
#define SHARDKIT_PG_PARTITION_ROUTE_HPP

#include "pg/key/key_hash.hpp"

namespace shardkit
{

/* One partitioned table: a copy of its bounds, safe without a lock for as long as a statement. */
struct PartitionLevel {
	MemoryContext context;
	char strategy;
	int columns;
	int key_column[kMaxKeyColumns]; /* which column of the top table's key */
	KeyHasher *hasher;              /* where the strategy is hash */
	FmgrInfo *compare;              /* otherwise */
	Oid *collations;
	PartitionBoundInfo bounds;
	int partitions;
	Oid *relations;
	PartitionLevel **below; /* nullptr: not looked at yet */
	bool *ends;             /* a leaf, or partitioned by something that the key does not decide */
};

/* The level of an open partitioned table, whose key is its own. Lives in context. */
PartitionLevel *OpenTopLevel(Relation relation, MemoryContext context);

/*
 * The lowest partition that the key decides on, InvalidOid where no partition takes it. names are
 * the top table's key columns (nullptr for an expression), by which levels below are recognised.
 */
Oid RouteKey(PartitionLevel *top, const char *const *names, const Datum *values, const bool *nulls);

} // namespace shardkit

#endif
