/* Statements for the nodes' servers: what the map's own tables there need done or counted. */
#include "pg/server/remote_link.hpp"

#include "pg/server/remote_pg.hpp"

using namespace shardkit;

/* ask_server(server, statement) -> the rows of the answer, each as an array of texts */
SHARDKIT_FUNCTION(shardkit_ask_server)
Datum shardkit_ask_server(PG_FUNCTION_ARGS)
{
	const char *server = NameStr(*PG_GETARG_NAME(0));
	char *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
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
