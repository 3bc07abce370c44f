#include "pg/key/key.hpp"
#include "pg/quote.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

namespace
{

KeyColumn FindColumn(Relation relation, const char *name)
{
	const AttrNumber number = get_attnum(RelationGetRelid(relation), name);
	if (number == InvalidAttrNumber)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						   errmsg("column \"%s\" of relation \"%s\" does not exist", name,
							   RelationGetRelationName(relation)),
						   errhint("A key is a list of column names as in SQL, quoted where SQL "
								   "needs quotes.")));
	if (number < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
						   errmsg("system column \"%s\" cannot be part of a key", name),
						   errhint("Name columns that the table itself defines.")));

	const Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation), number - 1);
	(void)HashFunctionOf(attribute->atttypid);
	return {.number = number, .type = attribute->atttypid, .collation = attribute->attcollation};
}

void AddColumn(Key &key, const KeyColumn &added, const char *name)
{
	for (int i = 0; i < key.columns; ++i)
		if (key.column[i].number == added.number)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
							   errmsg("column \"%s\" appears twice in the key", name),
							   errhint("Name each key column once.")));
	if (key.columns == kMaxKeyColumns)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						   errmsg("a key cannot have more than %d columns", kMaxKeyColumns),
						   errhint("PostgreSQL allows no wider partition key.")));
	key.column[key.columns++] = added;
}

} // namespace

Key ParseKey(Relation relation, const char *names)
{
	List *list = NIL;
	if (!SplitIdentifierString(pstrdup(names), ',', &list) || list == NIL)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
						   errmsg("key \"%s\" is not a list of column names", names),
						   errhint("Write it as in SQL: 'tenant_id' or 'tenant_id, \"User\"'.")));
	Key key = {};
	ListCell *cell = nullptr;
	foreach (cell, list) {
		const auto *name = static_cast<const char *>(lfirst(cell));
		AddColumn(key, FindColumn(relation, name), name);
	}
	return key;
}

char *KeyColumnList(Oid relation, const Key &key, const char *prefix)
{
	StringInfoData list;
	initStringInfo(&list);
	for (int i = 0; i < key.columns; ++i) {
		const char *name = get_attname(relation, key.column[i].number, false);
		appendStringInfo(&list, "%s%s%s", i > 0 ? ", " : "", prefix, QuoteName(name));
	}
	return list.data;
}

} // namespace shardkit
