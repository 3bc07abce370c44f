/* Tables given by their OID, as in arguments of type regclass. */
#ifndef SHARDKIT_PG_PARTITIONED_HPP
#define SHARDKIT_PG_PARTITIONED_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* Under ACCESS SHARE; an error if there is no such relation. */
Relation OpenRelation(Oid relation);

/* An error unless the relation is partitioned by hash; for predictions, as its hint says. */
PartitionKey HashPartitionKey(Relation relation);

} // namespace shardkit

#endif
