/* A key: the columns of a relation whose values decide where a row lives. */
#ifndef SHARDKIT_PG_KEY_HPP
#define SHARDKIT_PG_KEY_HPP

#include "pg/key/key_hash.hpp"

namespace shardkit
{

struct KeyColumn {
	AttrNumber number;
	Oid type;
	Oid collation;
};

struct Key {
	int columns;
	KeyColumn column[kMaxKeyColumns];
};

/*
 * Columns of relation named as in SQL: 'tenant_id', 'tenant_id, "User"'. Errors: no such column, a
 * repeated one, a system column, a type without a hash operator class.
 */
Key ParseKey(Relation relation, const char *names);

/* The column list as SQL text, quoted where needed, each name behind prefix ("t." or ""). */
char *KeyColumnList(Oid relation, const Key &key, const char *prefix);

} // namespace shardkit

#endif
