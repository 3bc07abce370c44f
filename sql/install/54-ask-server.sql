-- ------------------------------------------------------------------------------------------
-- Servers: statements about the tables that lie there
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION ask_server(server name, statement text) RETURNS SETOF text[]
	AS 'MODULE_PATHNAME', 'shardkit_ask_server' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION ask_server(name, text) IS
'runs statements on a postgres_fdw server over a connection of their own, committed there, under the caller''s user mapping and the rules of postgres_fdw, for members of the owner role of a map with a node on that server; the rows of the last one as arrays of text';

CREATE FUNCTION shardkit_internal.remote_name(foreign_table regclass) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT format('%I.%I',
	coalesce((SELECT option_value FROM pg_options_to_table(f.ftoptions)
		WHERE option_name = 'schema_name'), n.nspname),
	coalesce((SELECT option_value FROM pg_options_to_table(f.ftoptions)
		WHERE option_name = 'table_name'), c.relname))
FROM pg_foreign_table AS f
	JOIN pg_class AS c ON c.oid = f.ftrelid
	JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE f.ftrelid = foreign_table
$$;
COMMENT ON FUNCTION shardkit_internal.remote_name(regclass) IS
'name of the table on its server that a postgres_fdw foreign table stands for';

CREATE FUNCTION shardkit_internal.reach_server(server name) RETURNS text
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT CASE WHEN EXISTS (SELECT FROM pg_foreign_server AS s WHERE s.srvname = server AND NOT has_server_privilege(s.oid, 'USAGE'))
	THEN format('GRANT USAGE ON FOREIGN SERVER %I TO %I', server, current_user)
	ELSE 'make the server reachable for ' || current_user END
$$;
COMMENT ON FUNCTION shardkit_internal.reach_server(name) IS 'what would let the caller reach a server that could not be asked';

-- Of two sessions that create the same at once the second waits for the first, then fails on a unique
-- index of the catalog, IF NOT EXISTS or not. Tried again it finds what the first has made. The wait is
-- for a transaction, not for a table: it may take longer than lock_timeout on our connections lets it.
CREATE FUNCTION shardkit_internal.create_once(statement text) RETURNS text
	LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
SELECT format('DO %L; ', format($body$
DECLARE
	kept text := pg_catalog.current_setting('lock_timeout');
BEGIN
	PERFORM pg_catalog.set_config('lock_timeout', '10s', true);
	BEGIN
		EXECUTE %1$L;
	EXCEPTION WHEN unique_violation OR duplicate_schema OR duplicate_table THEN
		EXECUTE %1$L;
	END;
	PERFORM pg_catalog.set_config('lock_timeout', kept, true);
END$body$, statement))
$$;
COMMENT ON FUNCTION shardkit_internal.create_once(text) IS
'statement for a server that runs CREATE .. IF NOT EXISTS, which another session may run at the same time';

CREATE FUNCTION shardkit_internal.remote_schema_statements(schema name) RETURNS text
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
-- The right to create schemas is not needed where the schema is there.
SELECT 'SET client_min_messages = error; ' || shardkit_internal.create_once(format(
	'DO %L', format('BEGIN IF pg_catalog.to_regnamespace(%L) IS NULL THEN CREATE SCHEMA %I; END IF; END', quote_ident(schema), schema)))
$$;
COMMENT ON FUNCTION shardkit_internal.remote_schema_statements(name) IS 'statements for a server that make a schema where it is missing';
