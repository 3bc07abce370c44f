/* Statements on a connection: sent without blocking, answered under interrupts. */
#include "pg/server/remote_link.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

void WaitForSocket(Link *link, int events)
{
	/* Bounded, so that a lost wake-up costs a second and not the move. */
	constexpr long kLongestMs = 1000;
	const int ready =
		WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | events,
			PQsocket(link->conn), kLongestMs, PG_WAIT_EXTENSION);
	if ((ready & WL_LATCH_SET) != 0)
		ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (link->on_wait != nullptr)
		link->on_wait(link->wait_context);
}

void RaiseLinkError(Link *link, const PGresult *result, const char *statement)
{
	const auto field = [result](int code) -> char * {
		const char *text = result == nullptr ? nullptr : PQresultErrorField(result, code);
		return text == nullptr ? nullptr : pstrdup(text);
	};
	const char *state = field(PG_DIAG_SQLSTATE);
	const char *primary = field(PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = field(PG_DIAG_MESSAGE_DETAIL);
	const char *hint = field(PG_DIAG_MESSAGE_HINT);
	if (primary == nullptr) {
		primary = pchomp(PQerrorMessage(link->conn));
		if (primary[0] == '\0')
			primary = "the connection was lost";
	}
	ereport(ERROR, (errcode(state == nullptr || strlen(state) != 5
								? ERRCODE_CONNECTION_FAILURE
								: MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
					   errmsg_internal("on server \"%s\": %s", link->label, primary),
					   detail == nullptr ? 0 : errdetail_internal("%s", detail),
					   hint == nullptr ? 0 : errhint("%s", hint),
					   statement == nullptr ? 0 : (errcontext("remote statement: %s", statement))));
}

PGresult *NextResult(Link *link)
{
	PQclear(link->result);
	link->result = nullptr;
	for (;;) {
		const int unsent = PQflush(link->conn);
		if (unsent < 0 || PQconsumeInput(link->conn) == 0)
			RaiseLinkError(link, nullptr, nullptr);
		if (PQisBusy(link->conn) == 0)
			break;
		WaitForSocket(link, WL_SOCKET_READABLE | (unsent > 0 ? WL_SOCKET_WRITEABLE : 0));
	}
	link->result = PQgetResult(link->conn);
	return link->result;
}

namespace
{

void Send(Link *link, const char *statement)
{
	if (PQsendQuery(link->conn, statement) == 0)
		RaiseLinkError(link, nullptr, statement);
}

Answer Copied(const PGresult *result)
{
	Answer answer = {PQntuples(result), PQnfields(result), nullptr, nullptr};
	const auto count = static_cast<Size>(answer.rows) * static_cast<Size>(answer.columns);
	answer.values = static_cast<char **>(palloc0(sizeof(char *) * (count + 1)));
	answer.tag = pstrdup(PQcmdTuples(const_cast<PGresult *>(result)));
	for (int row = 0; row < answer.rows; ++row)
		for (int column = 0; column < answer.columns; ++column)
			if (PQgetisnull(result, row, column) == 0)
				answer.values[row * answer.columns + column] =
					pstrdup(PQgetvalue(result, row, column));
	return answer;
}

bool IsSuccess(const PGresult *result)
{
	const auto status = PQresultStatus(result);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

} // namespace

Answer Ask(Link *link, const char *statement)
{
	Answer answer = {};
	Send(link, statement);
	while (NextResult(link) != nullptr) {
		if (!IsSuccess(link->result))
			RaiseLinkError(link, link->result, statement);
		answer = Copied(link->result);
	}
	if (PQstatus(link->conn) != CONNECTION_OK)
		RaiseLinkError(link, nullptr, statement);
	return answer;
}

const char *Try(Link *link, const char *statement)
{
	const char *failure = nullptr;
	Send(link, statement);
	while (NextResult(link) != nullptr) {
		if (IsSuccess(link->result) || failure != nullptr)
			continue;
		const char *state = PQresultErrorField(link->result, PG_DIAG_SQLSTATE);
		if (state == nullptr)
			RaiseLinkError(link, link->result, statement);
		failure = pstrdup(state);
	}
	if (PQstatus(link->conn) != CONNECTION_OK)
		RaiseLinkError(link, nullptr, statement);
	return failure;
}

void BeginCopy(Link *link, const char *statement, ExecStatusType wanted)
{
	Send(link, statement);
	if (NextResult(link) == nullptr || PQresultStatus(link->result) != wanted)
		RaiseLinkError(link, link->result, statement);
}

} // namespace shardkit
