/* Statements for the nodes' servers: what the map's own tables there need done or counted. */
#include "pg/map/catalog.hpp"
#include "pg/server/remote_link.hpp"

#include "pg/server/remote_pg.hpp"

using namespace shardkit;

namespace
{

/*
 * USAGE of a server and a user mapping let a role reach its tables by foreign tables, but run no
 * statement of its own: that is for those to whom the server is a node, as the owners of its map.
 */
void CheckServerIsOurs(const char *server)
{
	if (superuser())
		return;
	SPI_connect();
	const uint64 owners =
		RunAsCaller("SELECT DISTINCT m.owner FROM shardkit.node AS n"
					" JOIN shardkit.map AS m ON m.name = n.map WHERE n.server = $1",
			{SqlName(server)});
	bool is_ours = false;
	for (uint64 row = 0; row < owners && !is_ours; ++row) {
		bool null = false;
		const Datum name = ResultDatum(&null, static_cast<int>(row));
		const Oid owner = get_role_oid(NameStr(*DatumGetName(name)), true);
		is_ours = OidIsValid(owner) && has_privs_of_role(GetUserId(), owner);
	}
	SPI_finish();
	if (!is_ours)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						   errmsg("permission denied to run statements on server \"%s\"", server),
						   errdetail("It is a node of no map whose owner role you belong to."),
						   errhint("Have a member of that role call, or be made one.")));
}

} // namespace

/* ask_server(server, statement) -> the rows of the answer, each as an array of texts */
SHARDKIT_FUNCTION(shardkit_ask_server)
Datum shardkit_ask_server(PG_FUNCTION_ARGS)
{
	const char *server = NameStr(*PG_GETARG_NAME(0));
	char *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	CheckServerIsOurs(server);
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);

	/* Failures end the transaction, which closes the link. */
	Link *link = OpenLink(server, false);
	const Answer answer = Ask(link, statement);
	CloseLink(link);
	for (int row = 0; row < answer.rows; ++row) {
		auto *values = static_cast<Datum *>(palloc(sizeof(Datum) * (answer.columns + 1)));
		auto *nulls = static_cast<bool *>(palloc(sizeof(bool) * (answer.columns + 1)));
		for (int column = 0; column < answer.columns; ++column) {
			const char *value = answer.At(row, column);
			nulls[column] = value == nullptr;
			values[column] = nulls[column] ? Datum{0} : CStringGetTextDatum(value);
		}
		int dimensions[] = {answer.columns};
		int bounds[] = {1};
		Datum columns[] = {PointerGetDatum(construct_md_array(
			values, nulls, 1, dimensions, bounds, TEXTOID, -1, false, TYPALIGN_INT))};
		bool none[] = {false};
		tuplestore_putvalues(result->setResult, result->setDesc, columns, none);
	}
	return Datum{0};
}
