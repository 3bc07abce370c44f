#include "pg/map/map_node.hpp"

#include <cmath>
#include <cstring>

#include "core/map/plan.hpp"

#include "pg/arguments.hpp"
#include "pg/map/catalog.hpp"
#include "pg/map/guard_trigger.hpp"
#include "pg/map/map_change.hpp"
#include "pg/map/map_table.hpp"
#include "pg/quote.hpp"
#include "pg/subtransaction.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace shardkit
{

namespace
{

void CheckWeight(double weight)
{
	if (!(weight > 0 && std::isfinite(weight)))
		ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("weight must be positive and finite, not %s", float8out_internal(weight)),
				errhint("To empty a node, call shardkit.drain_node.")));
	if (!IsWeight(weight))
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
						   errmsg("weight must be between 1e-100 and 1e+100, not %s",
							   float8out_internal(weight)),
						   errhint("Weights count relative to each other: scale all of them.")));
}

void CheckServer(const char *name)
{
	if (name == nullptr)
		return;
	const ForeignServer *server = GetForeignServerByName(name, true);
	if (server == nullptr)
		ereport(
			ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("server \"%s\" does not exist", name),
					   errhint("CREATE SERVER it with postgres_fdw first.")));
	const char *wrapper = GetForeignDataWrapper(server->fdwid)->fdwname;
	if (std::strcmp(wrapper, "postgres_fdw") != 0)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						   errmsg("server \"%s\" is of %s, not of postgres_fdw", name, wrapper)));
	if (!MayUseServer(server->serverid, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, name);
}

/* A schema of the system or of shardkit itself cannot hold user tables. */
void CheckSchema(const char *schema)
{
	if (schema[0] == '\0')
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("a node's schema needs a name")));
	if (std::strlen(schema) >= NAMEDATALEN)
		ereport(ERROR,
			(errcode(ERRCODE_NAME_TOO_LONG),
				errmsg("schema name \"%s\" is longer than %d bytes", schema, NAMEDATALEN - 1),
				errhint("Give the node a shorter schema name.")));
	if (IsReservedName(schema) || std::strcmp(schema, "information_schema") == 0 ||
		std::strcmp(schema, "shardkit") == 0 || std::strcmp(schema, "shardkit_internal") == 0)
		ereport(ERROR,
			(errcode(ERRCODE_RESERVED_NAME), errmsg("schema \"%s\" cannot be a node", schema)));
}

/*
 * CREATE SCHEMA waits for another transaction that is about to create it too, then fails on the
 * catalog's unique index, with IF NOT EXISTS as well: the schema is there then, and taken as such.
 */
void CreateSchema(const char *schema)
{
	if (OidIsValid(get_namespace_oid(schema, true)))
		return;
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		RunAsCaller(psprintf("CREATE SCHEMA %s", QuoteName(schema)));
		CommitSubtransaction(sub);
	}
	PG_CATCH();
	{
		ErrorData *error = AbortAfterError(sub);
		AcceptInvalidationMessages();
		if ((error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION &&
				error->sqlerrcode != ERRCODE_DUPLICATE_SCHEMA) ||
			!OidIsValid(get_namespace_oid(schema, true)))
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
}

} // namespace

void CheckName(const char *what, const char *name)
{
	if (name[0] == '\0')
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("a %s needs a name", what)));
	if (std::strlen(name) > kMaxNameBytes)
		ereport(ERROR,
			(errcode(ERRCODE_NAME_TOO_LONG),
				errmsg("the name of a %s must not be longer than %d bytes", what, kMaxNameBytes)));
}

void InsertNode(const MapEntry &map, const MapNode &node)
{
	CheckName("node", node.name);
	CheckSchema(node.schema);
	CheckServer(node.server);
	CheckWeight(node.weight);
	if (FindNode(map, node.name) != kNoNode)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
						   errmsg("map \"%s\" already has a node \"%s\"", map.name, node.name)));
	for (const MapNode &other : map.nodes)
		if (std::strcmp(other.schema, node.schema) == 0)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
							   errmsg("schema \"%s\" is node \"%s\" of map \"%s\" already",
								   node.schema, other.name, map.name),
							   errhint("Each node of a map needs a schema of its own.")));
	CreateSchema(node.schema);
	RunOnCatalog("INSERT INTO shardkit.node (map, name, schema, server, weight, state)"
				 " VALUES ($1, $2, $3, $4, $5, $6)",
		{SqlText(map.name), SqlText(node.name), SqlName(node.schema), SqlName(node.server),
			SqlFloat(node.weight), SqlText(node.draining ? "draining" : "active")});
}

void InsertListedNode(const MapEntry &map, const MapNode &node)
{
	if (FindNode(map, node.name) != kNoNode)
		ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("node \"%s\" is named twice", node.name)));
	InsertNode(map, node);
}

namespace
{

void CheckOwnsNothing(const MapEntry &map, int32 node)
{
	int32 owned = 0;
	for (int32 slot = 0; slot < map.slots; ++slot)
		owned += map.owners[slot] == node || map.moving_to[slot] == node ? 1 : 0;
	if (owned > 0)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
						   errmsg("node \"%s\" of map \"%s\" owns %d slots", map.nodes[node].name,
							   map.name, owned),
						   errhint("Call shardkit.drain_node and CALL shardkit.rebalance first.")));
}

/* One column of a node's row, with its entry of the history. */
int64 UpdateNode(const MapEntry &map, const char *node, const char *column, const SqlValue &value,
	StringInfo change)
{
	RunOnCatalog(psprintf("UPDATE shardkit.node SET %s = $3 WHERE map = $1 AND name = $2", column),
		{SqlText(map.name), SqlText(node), value});
	return LogChange(map, change);
}

} // namespace

} // namespace shardkit

SHARDKIT_FUNCTION(shardkit_add_node)
Datum shardkit_add_node(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *node = TextArgument(fcinfo, 1, "node");
	const char *schema = PG_ARGISNULL(2) ? node : NameStr(*PG_GETARG_NAME(2));
	const char *server = PG_ARGISNULL(3) ? nullptr : NameStr(*PG_GETARG_NAME(3));
	const double weight = FloatArgument(fcinfo, 4, "weight");
	SPI_connect();
	InsertNode(OpenMapForChange(name), {.name = node,
										   .name_text = 0,
										   .schema = schema,
										   .server = server,
										   .weight = weight,
										   .draining = false});
	const MapEntry &map = GetMap(name);
	for (const MapTable &table : map.tables)
		CreateNodeTable(map, table, map.nodes[GetNode(map, node)]);
	CreateForeignKeys(map, map.nodes[GetNode(map, node)]);

	StringInfo change = BeginChange("add_node");
	AddText(change, "node", node);
	AddText(change, "schema", schema);
	AddText(change, "server", server);
	AddNumber(change, "weight", weight);
	const int64 epoch = LogChange(map, change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

SHARDKIT_FUNCTION(shardkit_set_weight)
Datum shardkit_set_weight(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *node = TextArgument(fcinfo, 1, "node");
	const double weight = FloatArgument(fcinfo, 2, "weight");
	CheckWeight(weight);
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	(void)GetNode(map, node);
	StringInfo change = BeginChange("set_weight");
	AddText(change, "node", node);
	AddNumber(change, "weight", weight);
	const int64 epoch = UpdateNode(map, node, "weight", SqlFloat(weight), change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

SHARDKIT_FUNCTION(shardkit_drain_node)
Datum shardkit_drain_node(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *node = TextArgument(fcinfo, 1, "node");
	CheckNotNull(fcinfo, 2, "draining");
	const char *state = PG_GETARG_BOOL(2) ? "draining" : "active";
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	(void)GetNode(map, node);
	StringInfo change = BeginChange("drain_node");
	AddText(change, "node", node);
	AddText(change, "state", state);
	const int64 epoch = UpdateNode(map, node, "state", SqlText(state), change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}

/* Schema and tables stay, without their guards. */
SHARDKIT_FUNCTION(shardkit_remove_node)
Datum shardkit_remove_node(PG_FUNCTION_ARGS)
{
	const char *name = TextArgument(fcinfo, 0, "map");
	const char *node = TextArgument(fcinfo, 1, "node");
	SPI_connect();
	const MapEntry &map = OpenMapForChange(name);
	const int32 number = GetNode(map, node);
	CheckOwnsNothing(map, number);
	CheckNoUnfinishedMove(map, node, nullptr);
	DropAllGuards(map, node);
	RunOnCatalog("DELETE FROM shardkit.node WHERE map = $1 AND name = $2",
		{SqlText(map.name), SqlText(node)});
	StringInfo change = BeginChange("remove_node");
	AddText(change, "node", node);
	const int64 epoch = LogChange(map, change);
	SPI_finish();
	PG_RETURN_INT64(epoch);
}
