/*
 * With what a node's server is reached: the options of the foreign server and of the user mapping,
 * under the rules that postgres_fdw has for them, so that nobody gets further by shardkit than by a
 * foreign table.
 */
#include <cstring>

#include "pg/server/remote_link.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* A server of this name says how the coordinator reaches itself. */
constexpr const char *kLoopbackServer = "shardkit_loopback";

/* Room for all keywords of libpq, our own and the end. */
constexpr int kMostOptions = 128;

LinkOptions NoOptions()
{
	return {static_cast<const char **>(palloc0(sizeof(char *) * kMostOptions)),
		static_cast<const char **>(palloc0(sizeof(char *) * kMostOptions)), false};
}

/* Later values of the same keyword win, as in libpq. */
void Put(LinkOptions *options, const char *keyword, const char *value)
{
	int at = 0;
	while (options->keywords[at] != nullptr && strcmp(options->keywords[at], keyword) != 0)
		++at;
	if (at >= kMostOptions - 1)
		ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many connection options")));
	options->keywords[at] = keyword;
	options->values[at] = value;
}

const char *Get(const LinkOptions *options, const char *keyword)
{
	for (int at = 0; options->keywords[at] != nullptr; ++at)
		if (strcmp(options->keywords[at], keyword) == 0)
			return options->values[at];
	return nullptr;
}

/* Is it libpq's? The options of postgres_fdw itself (fetch_size, ...) are not for a connection. */
bool IsConnectionKeyword(const PQconninfoOption *known, const char *keyword)
{
	for (const auto *option = known; option->keyword != nullptr; ++option)
		if (strcmp(option->keyword, keyword) == 0)
			return strchr(option->dispchar, 'D') == nullptr &&
				   strcmp(keyword, "client_encoding") != 0;
	return false;
}

void PutList(LinkOptions *options, const List *list)
{
	auto *known = PQconndefaults();
	if (known == nullptr)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	bool used[kMostOptions] = {};
	int at = 0;
	ListCell *cell;
	/* Nothing raises while libpq's list is held. */
	foreach (cell, list) {
		const auto *element = lfirst_node(DefElem, cell);
		if (at < kMostOptions)
			used[at++] = IsConnectionKeyword(known, element->defname);
	}
	PQconninfoFree(known);
	at = 0;
	foreach (cell, list) {
		auto *element = lfirst_node(DefElem, cell);
		if (at < kMostOptions && used[at++])
			Put(options, element->defname, defGetString(element));
	}
}

/* postgres_fdw: only a superuser can free a mapping from its password. */
bool PasswordIsRequired(const UserMapping *mapping)
{
	ListCell *cell;
	if (superuser_arg(GetUserId()))
		return false;
	foreach (cell, mapping->options) {
		auto *element = lfirst_node(DefElem, cell);
		if (strcmp(element->defname, "password_required") == 0)
			return defGetBoolean(element);
	}
	return true;
}

void PutOurOwn(LinkOptions *options)
{
	Put(options, "fallback_application_name", "shardkit");
	Put(options, "client_encoding", GetDatabaseEncodingName());
	/* A peer that is gone without a word must not hold a move for hours. */
	if (Get(options, "tcp_user_timeout") == nullptr)
		Put(options, "tcp_user_timeout", "30000");
	if (Get(options, "keepalives_idle") == nullptr)
		Put(options, "keepalives_idle", "10");
	if (Get(options, "connect_timeout") == nullptr)
		Put(options, "connect_timeout", "10");
}

} // namespace

LinkOptions OptionsOfServer(const char *server_name)
{
	const auto *server = GetForeignServerByName(server_name, false);
	const auto *wrapper = GetForeignDataWrapper(server->fdwid);
	if (strcmp(wrapper->fdwname, "postgres_fdw") != 0)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						   errmsg("server \"%s\" is not a postgres_fdw server", server_name),
						   errhint("Create the server with FOREIGN DATA WRAPPER postgres_fdw.")));
	if (!MayUseServer(server->serverid, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, server_name);
	const auto *mapping = GetUserMapping(GetUserId(), server->serverid);

	auto options = NoOptions();
	PutList(&options, server->options);
	PutList(&options, mapping->options);
	PutOurOwn(&options);
	options.password_needed = PasswordIsRequired(mapping);
	const auto *password = Get(&options, "password");
	if (options.password_needed && (password == nullptr || password[0] == '\0'))
		ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				errmsg("password is required for server \"%s\"", server_name),
				errdetail("A user who is not a superuser must provide a password in the user "
						  "mapping."),
				errhint("Set the user mapping's option password, or have a superuser set "
						"password_required to false.")));
	return options;
}

/*
 * The unix socket, as the current role: no further than that role can go already. Where
 * pg_hba.conf asks for more, a server named shardkit_loopback tells the rest.
 */
LinkOptions OptionsOfLoopback()
{
	if (GetForeignServerByName(kLoopbackServer, true) != nullptr)
		return OptionsOfServer(kLoopbackServer);
	auto options = NoOptions();
	List *folders = NIL;
	/* The server has started with it, so that it is well-formed. */
	(void)SplitDirectoriesString(
		pstrdup(GetConfigOption("unix_socket_directories", false, false)), ',', &folders);
	Put(&options, "host",
		folders == NIL ? "localhost" : static_cast<const char *>(linitial(folders)));
	Put(&options, "port", psprintf("%d", PostPortNumber));
	Put(&options, "dbname", get_database_name(MyDatabaseId));
	Put(&options, "user", GetUserNameFromId(GetUserId(), false));
	PutOurOwn(&options);
	return options;
}

} // namespace shardkit
