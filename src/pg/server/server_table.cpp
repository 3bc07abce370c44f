/* The tables that a try makes: on the target, and what stands for it on the coordinator. */
#include "pg/map/catalog.hpp"
#include "pg/server/server_move.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* An empty table hash-partitioned by the key, beside the data: it gives the slot of a row there. */
const char *SlotHelper(const ServerTable &table)
{
	return Qualified(
		table.to.schema, makeObjectName("shardkit_key", get_rel_name(table.parent), nullptr));
}

/* The key's columns, in the order of the partition key. */
const char *KeyColumns(Oid parent, const char *separator, bool with_types)
{
	StringInfoData text;
	initStringInfo(&text);
	auto *relation = table_open(parent, AccessShareLock);
	const auto *key = RelationGetPartitionKey(relation);
	for (int i = 0; i < key->partnatts; ++i) {
		if (key->partattrs[i] == 0)
			ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("table \"%s\" is partitioned by an expression", get_rel_name(parent)),
					errhint("Between servers the key consists of columns.")));
		const auto *attribute = TupleDescAttr(RelationGetDescr(relation), key->partattrs[i] - 1);
		appendStringInfo(
			&text, "%s%s", i > 0 ? separator : "", QuoteName(NameStr(attribute->attname)));
		if (with_types)
			appendStringInfo(&text, " %s",
				format_type_extended(
					attribute->atttypid, attribute->atttypmod, FORMAT_TYPE_FORCE_QUALIFY));
	}
	table_close(relation, AccessShareLock);
	return text.data;
}

/* Refuses a row of another slot, by PostgreSQL's own hash over there. */
const char *SlotCheck(const ServerMove &move, const ServerTable &table, const char *parent)
{
	return psprintf("CONSTRAINT shardkit_slot CHECK (pg_catalog.satisfies_hash_partition(%s, %d, "
					"%d, %s))",
		parent, move.slots, move.slot, KeyColumns(table.parent, ", ", false));
}

/* What roles other than the owner may do with a table and its columns: privilege, role, option. */
const char *GrantsQuery(const char *table)
{
	const char *literal = quote_literal_cstr(table);
	return psprintf(
		"SELECT x.privilege_type || coalesce(' (' || quote_ident(x.attname) || ')', ''), "
		"quote_ident(g.rolname), CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' "
		"ELSE '' END FROM (SELECT NULL::name AS attname, c.relowner, "
		"(aclexplode(c.relacl)).* FROM pg_class c WHERE c.oid = %s::regclass "
		"UNION ALL SELECT a.attname, c.relowner, (aclexplode(a.attacl)).* "
		"FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
		"WHERE c.oid = %s::regclass AND NOT a.attisdropped) x "
		"LEFT JOIN pg_roles g ON g.oid = x.grantee WHERE x.grantee <> x.relowner",
		literal, literal);
}

char *Grant(const char *privilege, const char *table, const char *role, const char *option)
{
	return psprintf(
		"GRANT %s ON %s TO %s%s", privilege, table, role == nullptr ? "PUBLIC" : role, option);
}

/* Who may use the source's table may use the target's, as far as those roles exist there. */
void CopyPrivileges(ServerMove &move, const ServerTable &table)
{
	constexpr int kMaintain = 170000;
	const auto grants = Ask(move.source, GrantsQuery(Qualified(table.from)));
	for (int i = 0; i < grants.rows; ++i) {
		const char *role = grants.At(i, 1);
		const bool known =
			role == nullptr || AskText(move.target, psprintf("SELECT to_regrole(%s)::text",
														quote_literal_cstr(role))) != nullptr;
		if (known && (strcmp(grants.At(i, 0), "MAINTAIN") != 0 ||
						 PQserverVersion(move.target->conn) >= kMaintain))
			Ask(move.target, Grant(grants.At(i, 0), Qualified(table.to), role, grants.At(i, 2)));
	}
}

/* Who may use the old partition itself may use the new one. */
void CopyPrivilegesHere(const ServerTable &table, const char *fresh)
{
	const uint64 count =
		RunAsCaller(GrantsQuery(Qualified(table.partition_schema, table.partition_name)));
	auto **grants = static_cast<char **>(palloc0(sizeof(char *) * (count + 1)));
	const auto text = [](uint64 row, int column) {
		return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
	};
	for (uint64 i = 0; i < count; ++i)
		grants[i] = Grant(text(i, 1), fresh, text(i, 2), text(i, 3));
	for (uint64 i = 0; i < count; ++i)
		RunAsCaller(grants[i]);
}

/* The options of the old foreign table that are not about its place; "": none. */
const char *OtherOptions(Oid partition)
{
	if (get_rel_relkind(partition) != RELKIND_FOREIGN_TABLE)
		return "";
	StringInfoData text;
	initStringInfo(&text);
	ListCell *cell;
	foreach (cell, GetForeignTable(partition)->options) {
		auto *option = lfirst_node(DefElem, cell);
		if (strcmp(option->defname, "schema_name") != 0 &&
			strcmp(option->defname, "table_name") != 0)
			appendStringInfo(&text, ", %s %s", QuoteName(option->defname),
				quote_literal_cstr(defGetString(option)));
	}
	return text.data;
}

const char *OwnerOf(Oid relation)
{
	auto *opened = table_open(relation, AccessShareLock);
	const char *owner = GetUserNameFromId(opened->rd_rel->relowner, false);
	table_close(opened, AccessShareLock);
	return owner;
}

/* Index definitions without names: what follows CREATE .. INDEX ON, or a constraint. */
Answer IndexesOf(Link *link, const char *table)
{
	return Ask(link,
		psprintf("SELECT c.oid IS NOT NULL, i.indisunique, coalesce(pg_get_constraintdef(c.oid), "
				 "substring(pg_get_indexdef(i.indexrelid) FROM position(' USING ' IN "
				 "pg_get_indexdef(i.indexrelid)))) FROM pg_index i LEFT JOIN pg_constraint c "
				 "ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid "
				 "AND c.contype IN ('p', 'u', 'x') WHERE i.indrelid = %s::regclass "
				 "ORDER BY i.indexrelid",
			quote_literal_cstr(table)));
}

bool Contains(const Answer &indexes, const char *definition)
{
	for (int i = 0; i < indexes.rows; ++i)
		if (strcmp(indexes.At(i, 2), definition) == 0)
			return true;
	return false;
}

void CreateIndex(ServerMove &move, const ServerTable &table, const Answer &indexes, int at)
{
	const bool constraint = indexes.At(at, 0)[0] == 't';
	Ask(move.target,
		constraint
			? psprintf("ALTER TABLE %s ADD %s", Qualified(table.to), indexes.At(at, 2))
			: psprintf("CREATE %sINDEX ON %s%s", indexes.At(at, 1)[0] == 't' ? "UNIQUE " : "",
				  Qualified(table.to), indexes.At(at, 2)));
}

} // namespace

void EnsureSchema(Link *link, const char *schema)
{
	Ask(link, AskText(nullptr, psprintf("SELECT shardkit_internal.remote_schema_statements(%s)",
								   quote_literal_cstr(schema))));
}

/* For what is CREATE .. IF NOT EXISTS, which two sessions at once may run. */
void CreateOnce(Link *link, const char *statement)
{
	Ask(link, AskText(nullptr, psprintf("SELECT shardkit_internal.create_once(%s)",
								   quote_literal_cstr(statement))));
}

/* On the target's server, committed there; its schema is there. */
void CreateRemoteTable(ServerMove &move, ServerTable &table)
{
	const char *helper = SlotHelper(table);
	Ask(move.target, "BEGIN");
	HoldSlot(move.target, move.map, move.slot);
	CreateOnce(
		move.target, psprintf("CREATE TABLE IF NOT EXISTS %s (%s) PARTITION BY %s", helper,
						 KeyColumns(table.parent, ", ", true),
						 AskText(nullptr, psprintf("SELECT pg_get_partkeydef(%u)", table.parent))));
	const char *check =
		SlotCheck(move, table, psprintf("%s::pg_catalog.regclass", quote_literal_cstr(helper)));
	Ask(move.target, psprintf("CREATE TABLE %s (%s, %s)", Qualified(table.to),
						 ColumnsDdl(move.source, Qualified(table.from), false), check));
	CopyPrivileges(move, table);
	Ask(move.target, "COMMIT");
}

/*
 * The coming partition on the coordinator, attached to nothing yet: the foreign table, or the table
 * itself, with the check that lets ATTACH do without a look at the rows.
 */
void CreateFreshRelation(ServerMove &move, ServerTable &table)
{
	const char *parent =
		Qualified(get_namespace_name(get_rel_namespace(table.parent)), get_rel_name(table.parent));
	const char *fresh = Qualified(table.new_schema, table.fresh_name);
	if (table.to.server == nullptr) {
		RunAsCaller(psprintf(
			"CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED "
			"INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS, %s)",
			fresh, parent, SlotCheck(move, table, psprintf("'%u'::pg_catalog.oid", table.parent))));
	} else {
		RunAsCaller(psprintf("CREATE FOREIGN TABLE %s (%s) SERVER %s OPTIONS (schema_name %s, "
							 "table_name %s%s)",
			fresh, ColumnsDdl(nullptr, parent, true), QuoteName(table.to.server),
			quote_literal_cstr(table.to.schema), quote_literal_cstr(table.to.table),
			OtherOptions(table.partition)));
	}
	const char *owner = OwnerOf(table.parent);
	if (strcmp(owner, GetUserNameFromId(GetUserId(), false)) != 0)
		RunAsCaller(psprintf("ALTER TABLE %s OWNER TO %s", fresh, QuoteName(owner)));
	CopyPrivilegesHere(table, fresh);
}

/*
 * After the rows, since building an index once is cheaper. The source's, and for a local target the
 * parent's too, so that ATTACH finds them all and builds none under its lock.
 */
void CreateIndexes(ServerMove &move, ServerTable &table)
{
	const auto wanted = IndexesOf(move.source, Qualified(table.from));
	for (int i = 0; i < wanted.rows; ++i)
		CreateIndex(move, table, wanted, i);
	if (table.to.server != nullptr)
		return;
	const char *parent =
		Qualified(get_namespace_name(get_rel_namespace(table.parent)), get_rel_name(table.parent));
	const auto inherited = IndexesOf(move.target, parent);
	for (int i = 0; i < inherited.rows; ++i)
		if (!Contains(wanted, inherited.At(i, 2)))
			CreateIndex(move, table, inherited, i);
}

} // namespace shardkit
