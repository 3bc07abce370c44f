
-- ------------------------------------------------------------------------------------------
-- Servers: what broken moves have left
-- ------------------------------------------------------------------------------------------

-- The tables in a node's schema on its server that no foreign table of this database stands for.
CREATE FUNCTION shardkit_internal.unreferred_tables(server name, schema text) RETURNS SETOF text
	LANGUAGE sql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT a[1] FROM shardkit.ask_server(server, format($query$
	SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname)
	FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
	WHERE n.nspname = %L AND c.relkind = 'r' AND c.relname <> 'shardkit_mark'$query$, schema)) AS a
WHERE NOT EXISTS (
	SELECT FROM pg_foreign_table AS f JOIN pg_foreign_server AS s ON s.oid = f.ftserver
	WHERE s.srvname = server AND shardkit_internal.remote_name(f.ftrelid) = a[1])
$$;
COMMENT ON FUNCTION shardkit_internal.unreferred_tables(name, text) IS
'tables of a schema on a server that no foreign table of this database stands for';

CREATE FUNCTION server_leftovers(map text) RETURNS TABLE (kind text, object text, problem text, fix text)
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	remote record;
	resume text := format('CALL shardkit.resume_moves(%L)', server_leftovers.map);
BEGIN
	PERFORM shardkit_internal.check_map(server_leftovers.map);
	-- A move that is still running holds its move object.
	RETURN QUERY
	SELECT 'unfinished move', format('slot %s of table %s', l.slot, l.relation),
		format('its move from %s to %s stopped after %s%s', l.from_node, l.to_node, l.state, coalesce(': ' || l.error, '')), resume
	FROM shardkit.move_log AS l JOIN shardkit.server_move AS x ON x.id = l.id JOIN shardkit.map AS m ON m.name = l.map
	WHERE l.map = server_leftovers.map AND l.finished_at IS NULL
		AND NOT shardkit_internal.is_moving(l.map, l.slot);

	RETURN QUERY
	SELECT 'fence', t.tgrelid::regclass::text, 'the fence of a move that has ended still stands on it', resume
	FROM pg_trigger AS t JOIN shardkit.map AS m ON m.name = server_leftovers.map
	WHERE t.tgname = 'shardkit_fence' AND split_part(encode(t.tgargs, 'escape'), E'\\000', 1) = m.id::text
		AND NOT EXISTS (SELECT FROM shardkit.move_log AS l WHERE l.map = m.name AND l.finished_at IS NULL
			AND l.slot::text = split_part(encode(t.tgargs, 'escape'), E'\\000', 2));

	-- Only what bears a try's name, and no longer belongs to an unfinished one.
	FOR remote IN
		SELECT DISTINCT coalesce(x.to_schema, n.schema::text) AS schema, n.server FROM shardkit.node AS n
			LEFT JOIN shardkit.server_move AS x ON x.to_server = n.server
		WHERE n.map = server_leftovers.map AND n.server IS NOT NULL
	LOOP
		BEGIN
			RETURN QUERY
			SELECT 'orphan table', format('%s on server %I', u, remote.server), 'a move that was undone has left it',
				format('SELECT shardkit.ask_server(%L, %L)', remote.server, 'DROP TABLE ' || u)
			FROM shardkit_internal.unreferred_tables(remote.server, remote.schema) AS u
			WHERE EXISTS (SELECT FROM shardkit.server_move AS x JOIN shardkit.move_log AS l ON l.id = x.id
				WHERE x.to_server = remote.server AND format('%I.%I', x.to_schema, x.to_table) = u AND l.state = 'undone');
		EXCEPTION WHEN OTHERS THEN
			IF SQLSTATE = '57014' THEN
				RAISE;
			END IF;
			kind := 'server';
			object := remote.server;
			problem := SQLERRM;
			fix := shardkit_internal.reach_server(remote.server);
			RETURN NEXT;
		END;
	END LOOP;
END
$$;
COMMENT ON FUNCTION server_leftovers(text) IS
'part of verify_map: unfinished moves, fences and tables that broken moves between servers have left, each with what cures it';

-- Unfinished moves, fences and servers that do not answer are found by other parts of the audit.
CREATE FUNCTION shardkit_internal.verify_leftovers(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT * FROM shardkit.server_leftovers(verify_leftovers.map) AS l WHERE l.kind = 'orphan table'
$$;
COMMENT ON FUNCTION shardkit_internal.verify_leftovers(text) IS 'part of verify_map: what undone moves have left on servers';
