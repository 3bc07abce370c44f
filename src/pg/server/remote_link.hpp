/* Connections to the nodes' servers and back to this one, that never outlive their purpose. */
#ifndef SHARDKIT_PG_REMOTE_LINK_HPP
#define SHARDKIT_PG_REMOTE_LINK_HPP

#include <libpq-fe.h>

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

/*
 * One connection. It is closed by CloseLink, by the abort of the (sub)transaction that opened it,
 * or at commit unless it was opened to last across commits.
 */
struct Link {
	PGconn *conn;
	PGresult *result; /* what is being read: cleared with the link, should an error come between */
	char *chunk;      /* of a COPY stream, likewise */
	Link *next;
	int nest_level;
	/* Called at every wait, if set; raises an error to stop it. */
	void (*on_wait)(void *context);
	void *wait_context;
	bool across_commits;
	bool holds_descriptor;
	char label[NAMEDATALEN];
};

/* What libpq connects with; both arrays end with NULL. */
struct LinkOptions {
	const char **keywords;
	const char **values;
	bool password_needed; /* the server must ask for the password that the options name */
};

/* The current user's way to a postgres_fdw server, under the rules of postgres_fdw. */
LinkOptions OptionsOfServer(const char *server);

/* The current user's way back to this database. */
LinkOptions OptionsOfLoopback();

/* server NULL: this very database. */
Link *OpenLink(const char *server, bool across_commits);
void CloseLink(Link *link);

/* The rows of an answer, as text; a NULL value is a null pointer. In the current memory context. */
struct Answer {
	int rows;
	int columns;
	char **values;
	char *tag; /* rows that a command touched, as text */

	[[nodiscard]] const char *At(int row, int column) const
	{
		return values[row * columns + column];
	}
};

/* Runs a statement over there; anything but success is an error with the other side's SQLSTATE. */
Answer Ask(Link *link, const char *statement);

/* The same, but answers the SQLSTATE of a failure instead of raising it; NULL: it went well. */
const char *Try(Link *link, const char *statement);

/* Starts COPY and answers when the stream is open. */
void BeginCopy(Link *link, const char *statement, ExecStatusType wanted);

/* The next answer, waiting interruptibly; NULL: no more. The link keeps it. */
PGresult *NextResult(Link *link);

/* Waits until the socket is ready for what is asked, or the latch is set; interrupts are served. */
void WaitForSocket(Link *link, int events);

/* Raises what the other side, or the connection, says is wrong. */
[[noreturn]] void RaiseLinkError(Link *link, const PGresult *result, const char *statement);

} // namespace shardkit

#endif
