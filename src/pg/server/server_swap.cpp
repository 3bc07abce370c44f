/* Step 5: the new partition takes the old one's place, and the slot its new owner, at one commit. */
#include "pg/map/catalog.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_lock.hpp"
#include "pg/server/server_lock.hpp"
#include "pg/server/server_move.hpp"
#include "pg/subtransaction.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

const char *ParentName(const ServerTable &table)
{
	return Qualified(
		get_namespace_name(get_rel_namespace(table.parent)), get_rel_name(table.parent));
}

/* All at once: nobody is to queue behind one of them while the next is waited for. */
void LockForSwap(ServerMove &move)
{
	const auto most = static_cast<Size>(move.tables_count) * 3;
	auto *wanted = static_cast<Wanted *>(palloc0(sizeof(Wanted) * most));
	int count = 0;
	for (int i = 0; i < move.tables_count; ++i) {
		const auto &table = move.tables[i];
		const Oid schema = get_namespace_oid(table.new_schema, false);
		const Oid fresh = get_relname_relid(table.fresh_name, schema);
		if (!OidIsValid(fresh))
			ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
					errmsg("table %s is gone", Qualified(table.new_schema, table.fresh_name))));
		for (const Oid relation : {table.parent, table.partition, fresh}) {
			const char *name =
				Qualified(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
			wanted[count++] = {
				RelationObject(relation), AccessExclusiveLock, psprintf("table %s", name)};
		}
	}
	LockAllWhileHolding(move, wanted, count);
}

/* What is left of an old local partition until its rows are compared once more and dropped. */
void SetAside(const ServerTable &table)
{
	const char *kept = Qualified(table.partition_schema, table.kept_name);
	RunAsCaller(psprintf("ALTER TABLE %s RENAME TO %s",
		Qualified(table.partition_schema, table.partition_name), QuoteName(table.kept_name)));
	RunAsCaller(psprintf("REVOKE ALL ON %s FROM PUBLIC", kept));
	const uint64 count = RunAsCaller(
		"SELECT DISTINCT quote_ident(g.rolname) FROM pg_class c, aclexplode(coalesce(c.relacl, "
		"'{}') "
		"|| coalesce((SELECT array_agg(i) FROM pg_attribute a, unnest(a.attacl) i "
		"WHERE a.attrelid = c.oid), '{}')) x "
		"JOIN pg_roles g ON g.oid = x.grantee WHERE c.oid = $1 AND x.grantee <> c.relowner",
		{SqlOid(table.partition)});
	auto **roles = static_cast<char **>(palloc0(sizeof(char *) * (count + 1)));
	for (uint64 i = 0; i < count; ++i)
		roles[i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
	for (uint64 i = 0; i < count; ++i)
		RunAsCaller(psprintf("REVOKE ALL ON %s FROM %s CASCADE", kept, roles[i]));
	RunAsCaller(psprintf("CREATE TRIGGER shardkit_moved_away BEFORE INSERT OR UPDATE OR DELETE OR "
						 "TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION "
						 "shardkit.moved_away()",
		kept));
	RunAsCaller(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER shardkit_moved_away", kept));
}

void SwapTable(const ServerMove &move, const ServerTable &table)
{
	const char *parent = ParentName(table);
	const char *old_name = Qualified(table.partition_schema, table.partition_name);
	const char *new_name = Qualified(table.new_schema, table.partition_name);
	const char *fresh = Qualified(table.new_schema, table.fresh_name);
	RunAsCaller(psprintf("ALTER TABLE %s DETACH PARTITION %s", parent, old_name));
	DropFence(table.partition_schema, table.partition_name);
	if (table.from.server == nullptr)
		SetAside(table);
	else
		RunAsCaller(psprintf("DROP FOREIGN TABLE %s", old_name));
	RunAsCaller(
		psprintf("ALTER %s %s RENAME TO %s", table.to.server == nullptr ? "TABLE" : "FOREIGN TABLE",
			fresh, QuoteName(table.partition_name)));
	RunAsCaller(psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES WITH (MODULUS %d, "
						 "REMAINDER %d)",
		parent, new_name, move.slots, move.slot));
	if (table.to.server == nullptr)
		RunAsCaller(psprintf("ALTER TABLE %s DROP CONSTRAINT shardkit_slot", new_name));
}

const char *FingerprintText(const RowSum &sum)
{
	const auto digits = Digits(sum.fingerprint);
	return pnstrdup(digits.data(), digits.size());
}

void LogSwap(const ServerTable &table, int64 epoch)
{
	RunOnCatalog("UPDATE shardkit.move_log SET state = 'swapped', rows = $2, bytes = $3, "
				 "fingerprint_from = $4, fingerprint_to = $5, epoch = $6 WHERE id = $1",
		{SqlBigint(table.id), SqlBigint(static_cast<int64>(table.sum.rows)),
			SqlBigint(static_cast<int64>(table.sum.bytes)), SqlText(FingerprintText(table.sum)),
			SqlText(FingerprintText(table.stored)), SqlBigint(epoch)});
}

} // namespace

/* In the transaction of the copy; not committed here. */
void Swap(ServerMove &move)
{
	/* Before the lock: a server that is gone must not keep readers waiting. */
	CheckMarks(move);
	LockForSwap(move);
	InSubtransaction([&move] {
		for (int i = 0; i < move.tables_count; ++i)
			SwapTable(move, move.tables[i]);
	});
	const auto &map = GetMap(move.map);
	auto owners = CopyOwners(map);
	owners[static_cast<size_t>(move.slot)] = GetNode(map, move.to_node);
	auto *change = BeginChange("move_rows");
	AddNumber(change, "slot", move.slot);
	move.mark = NewMark();
	AddText(change, "mark", move.mark);
	move.epoch = ChangeOwners(map, change, owners);
	for (int i = 0; i < move.tables_count; ++i)
		LogSwap(move.tables[i], move.epoch);
}

} // namespace shardkit
