-- ------------------------------------------------------------------------------------------
-- Servers: what the audit says of them
-- ------------------------------------------------------------------------------------------

-- Tables and the checks on them, and what is wrong with their shape.
CREATE FUNCTION shardkit_internal.server_differences(map text, facts jsonb, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH tables AS (
	SELECT p.*, parse_ident(p.remote) AS names, f ->> 2 IS NOT NULL AS is_there, f ->> 3 AS rule
	FROM shardkit_internal.map_partitions(map) AS p
		LEFT JOIN jsonb_array_elements(facts) AS f ON f ->> 1 = 'table' AND f ->> 0 = p.server::text AND f ->> 2 = p.remote
	WHERE p.server::text IN (SELECT f ->> 0 FROM jsonb_array_elements(facts) AS f))
SELECT CASE WHEN t.is_there THEN 'check' ELSE 'table' END, format('%s on server %I', t.remote, t.server),
	CASE WHEN t.is_there THEN 'the check that keeps rows of other slots out is missing or another'
		ELSE 'the table does not exist there' END,
	CASE WHEN t.is_there THEN format('SELECT shardkit.repair_table(%L, %L)', map, t.relation)
		ELSE format('SELECT shardkit.ask_server(%L, shardkit_internal.remote_schema_statements(%L)'
			' || shardkit_internal.remote_table_statements(%L, %L, %2$L, %5$L, %s, %s))',
			t.server, t.names[1], t.parent, t.model, t.names[2], t.slots, t.slot) END
FROM tables AS t
WHERE NOT t.is_there OR t.rule IS NULL OR t.rule !~ format('satisfies_hash_partition.*, %s, %s, ', t.slots, t.slot)
UNION ALL
SELECT 'shape', format('%s on server %I', d.remote, d.server), d.problem, shardkit_internal.remote_fix(d.server, d.statement, d.here)
FROM shardkit_internal.remote_column_differences(map, facts) AS d
UNION ALL
SELECT f ->> 1, format('%s on server %I', f ->> 2, f ->> 0), f ->> 3, shardkit_internal.remote_fix((f ->> 0)::name, f ->> 4, f ->> 5)
FROM jsonb_array_elements(facts) AS f WHERE f ->> 1 IN ('shape', 'rule')
UNION ALL
SELECT 'rule', format('%s on server %I', d.remote, d.server), d.problem, shardkit_internal.remote_fix(d.server, d.statement, NULL)
FROM shardkit_internal.remote_key_differences(map, facts) AS d
$$;
COMMENT ON FUNCTION shardkit_internal.server_differences(text, jsonb) IS
'part of verify_map: tables on servers that are missing, or not as the partitioned table says';

-- Each server is asked on its own: one that does not answer says nothing about the others.
CREATE FUNCTION shardkit_internal.verify_servers(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	asked record;
	marks text;
	facts jsonb := '[]';
	overtaken boolean := false;
BEGIN
	FOR asked IN
		SELECT s.srvname AS server, ARRAY(SELECT format('%I.shardkit_mark', n.schema) FROM shardkit.node AS n
				WHERE n.map = verify_servers.map AND n.server = s.srvname ORDER BY n.name COLLATE "C") AS marks,
			ARRAY(SELECT p.remote FROM shardkit_internal.map_partitions(verify_servers.map) AS p WHERE p.server = s.srvname) AS tables
		FROM pg_foreign_server AS s
		WHERE EXISTS (SELECT FROM shardkit.node AS n WHERE n.map = verify_servers.map AND n.server = s.srvname)
		ORDER BY s.srvname
	LOOP
		BEGIN
			-- What another copy of the coordinator has moved is not for this one to make anew.
			FOR marks IN SELECT a[1] FROM shardkit.ask_server(asked.server, format(
				'SELECT m FROM pg_catalog.unnest(%L::text[]) AS m WHERE pg_catalog.to_regclass(m) IS NOT NULL', asked.marks)) AS a
			LOOP
				RETURN QUERY
				SELECT 'server', asked.server::text, 'it has been used for the map by another copy of this database',
					format('DROP USER MAPPING FOR %I SERVER %I', current_user, asked.server)
				FROM shardkit.ask_server(asked.server, format('SELECT epoch, mark FROM %s WHERE map = %L', marks, verify_servers.map)) AS a
				WHERE NOT shardkit_internal.is_own_mark(verify_servers.map, a[1]::bigint, a[2]);
				overtaken := overtaken OR FOUND;
			END LOOP;
			facts := facts || (SELECT coalesce(jsonb_agg(to_jsonb(asked.server::text || a)), '[]')
				FROM shardkit.ask_server(asked.server, shardkit_internal.remote_facts_query(asked.tables)) AS a)
				|| jsonb_build_array(jsonb_build_array(asked.server));
		EXCEPTION WHEN OTHERS THEN
			IF SQLSTATE = '57014' THEN
				RAISE;
			END IF;
			kind := 'server';
			object := asked.server;
			problem := SQLERRM;
			fix := shardkit_internal.reach_server(asked.server);
			RETURN NEXT;
		END;
	END LOOP;
	IF NOT overtaken THEN
		RETURN QUERY SELECT * FROM shardkit_internal.server_differences(verify_servers.map, facts);
	END IF;
END
$$;
COMMENT ON FUNCTION shardkit_internal.verify_servers(text) IS 'part of verify_map: what lies on the servers, asked once each';
