#include "pg/key/partitioned.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

Relation OpenRelation(Oid relation)
{
	Relation opened = try_relation_open(relation, AccessShareLock);
	if (opened == nullptr)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						   errmsg("relation with OID %u does not exist", relation)));
	return opened;
}

PartitionKey HashPartitionKey(Relation relation)
{
	const PartitionKey key = RelationGetPartitionKey(relation);
	if (key == nullptr || key->strategy != PARTITION_STRATEGY_HASH)
		ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not partitioned by hash", RelationGetRelationName(relation)),
				errhint("Name the key and the old modulus: predict_modulus_change(relation, key, "
						"old_modulus, new_modulus).")));
	return key;
}

} // namespace shardkit
