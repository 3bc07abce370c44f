#include "pg/server/remote_link.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* Every open connection of this backend; the transaction's end sweeps it. */
Link *open_links = nullptr;
bool callbacks_registered = false;

void Discard(Link *link)
{
	PQclear(link->result);
	PQfreemem(link->chunk);
	PQfinish(link->conn);
	if (link->holds_descriptor)
		ReleaseExternalFD();
	pfree(link);
}

/* Closes those of this nesting level and deeper; level 1: of the whole transaction. */
void Sweep(int nest_level, bool keep_lasting)
{
	Link *kept = nullptr;
	while (open_links != nullptr) {
		auto *link = open_links;
		open_links = link->next;
		if (link->nest_level < nest_level || (keep_lasting && link->across_commits)) {
			link->next = kept;
			kept = link;
		} else {
			Discard(link);
		}
	}
	open_links = kept;
}

void AtTransactionEnd(XactEvent event, void *)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		Sweep(0, false);
	else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE)
		Sweep(0, true);
}

void AtSubtransactionEnd(SubXactEvent event, SubTransactionId, SubTransactionId, void *)
{
	const int level = GetCurrentTransactionNestLevel();
	if (event == SUBXACT_EVENT_ABORT_SUB)
		Sweep(level, false);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		for (auto *link = open_links; link != nullptr; link = link->next)
			link->nest_level = Min(link->nest_level, level - 1);
}

Link *NewLink(const char *server, bool across_commits)
{
	if (!callbacks_registered) {
		RegisterXactCallback(AtTransactionEnd, nullptr);
		RegisterSubXactCallback(AtSubtransactionEnd, nullptr);
		callbacks_registered = true;
	}
	auto *link = static_cast<Link *>(MemoryContextAllocZero(TopMemoryContext, sizeof(Link)));
	strlcpy(link->label, server == nullptr ? "this server" : server, NAMEDATALEN);
	link->nest_level = GetCurrentTransactionNestLevel();
	link->across_commits = across_commits;
	link->next = open_links;
	open_links = link;
	return link;
}

/* libpq's own connection loop, with waits that serve interrupts and end in time. */
void Connect(Link *link, const LinkOptions *options)
{
	constexpr int kConnectSeconds = 15;
	const auto give_up = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kConnectSeconds * 1000);
	if (!AcquireExternalFD())
		ereport(
			ERROR, (errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
					   errmsg("could not connect to server \"%s\"", link->label),
					   errdetail("There are too many open files on the local server."),
					   errhint("Raise max_files_per_process or the operating system's limit.")));
	link->holds_descriptor = true;
	link->conn = PQconnectStartParams(options->keywords, options->values, 0);
	auto state = PGRES_POLLING_WRITING;
	while (link->conn != nullptr && PQstatus(link->conn) != CONNECTION_BAD) {
		if (GetCurrentTimestamp() > give_up)
			ereport(ERROR, (errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
							   errmsg("could not connect to server \"%s\"", link->label),
							   errdetail("It did not answer within %d seconds.", kConnectSeconds)));
		WaitForSocket(
			link, state == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE);
		state = PQconnectPoll(link->conn);
		if (state == PGRES_POLLING_OK || state == PGRES_POLLING_FAILED)
			break;
	}
	if (link->conn == nullptr || PQstatus(link->conn) != CONNECTION_OK)
		ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				errmsg("could not connect to server \"%s\"", link->label),
				errdetail_internal("%s",
					link->conn == nullptr ? "out of memory" : pchomp(PQerrorMessage(link->conn)))));
}

/*
 * A session that nothing on the other side's configuration bends: names are qualified, values have
 * one form, a commit is on disk, a lock is waited for in short rounds, and a server whose client
 * is gone notices within a second.
 */
constexpr const char *kPrepareSession =
	"SET search_path = pg_catalog; SET timezone = 'UTC'; SET datestyle = ISO; "
	"SET intervalstyle = postgres; SET extra_float_digits = 3; SET row_security = off; "
	"SET statement_timeout = 0; SET lock_timeout = '200ms'; "
	"SET idle_in_transaction_session_timeout = 0; "
	"SET default_transaction_isolation = 'read committed'; "
	"SET client_connection_check_interval = '1s'; SET quote_all_identifiers = off; "
	"SELECT pg_catalog.set_config('synchronous_commit', 'on', false) "
	"WHERE pg_catalog.current_setting('synchronous_commit') "
	"OPERATOR(pg_catalog.=) ANY (ARRAY['off', 'local', 'remote_write'])";

/* The connection that should lead back here does. */
void CheckLoopback(Link *link)
{
	const auto answer = Ask(link,
		psprintf(
			"SELECT 1 FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database() "
			"AND oid = %u AND EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity(%d) "
			"WHERE datid = %u)",
			MyDatabaseId, MyProcPid, MyDatabaseId));
	if (answer.rows != 1)
		ereport(
			ERROR, (errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
					   errmsg("server \"shardkit_loopback\" does not lead back to this database"),
					   errhint("Set its host, port and dbname to those of the coordinator.")));
}

} // namespace

Link *OpenLink(const char *server, bool across_commits)
{
	const auto options = server == nullptr ? OptionsOfLoopback() : OptionsOfServer(server);
	auto *link = NewLink(server, across_commits);
	Connect(link, &options);
	if (options.password_needed && !PQconnectionUsedPassword(link->conn))
		ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				errmsg("password is required for server \"%s\"", link->label),
				errdetail("A user who is not a superuser cannot connect if the server does not ask "
						  "for a password."),
				errhint("Change the server's authentication method, or have a superuser set "
						"password_required to false in the user mapping.")));
	if (PQsetnonblocking(link->conn, 1) != 0)
		RaiseLinkError(link, nullptr, nullptr);
	if (PQserverVersion(link->conn) < 150000)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						   errmsg("server \"%s\" runs PostgreSQL %d, and nodes need 15 or later",
							   link->label, PQserverVersion(link->conn) / 10000)));
	Ask(link, kPrepareSession);
	if (server == nullptr)
		CheckLoopback(link);
	return link;
}

void CloseLink(Link *link)
{
	for (auto **at = &open_links; *at != nullptr; at = &(*at)->next)
		if (*at == link) {
			*at = link->next;
			Discard(link);
			return;
		}
}

} // namespace shardkit
