
-- ------------------------------------------------------------------------------------------
-- Servers: what would stop a move to or from one, found beforehand
-- ------------------------------------------------------------------------------------------

-- Values of a type as SQL text, to be hashed here and there: an answer that differs is found out.
CREATE FUNCTION shardkit_internal.canary_values(key_type regtype) RETURNS text[]
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT array_agg(format('%L::%s', v.value, key_type))
FROM pg_type AS t, unnest(CASE
	WHEN coalesce(nullif(t.typbasetype, 0), t.oid) = 'uuid'::regtype
		THEN ARRAY['00000000-0000-0000-0000-000000000000', '7f3c1d2e-95ab-4c60-8d11-0a1b2c3d4e5f']
	WHEN coalesce(nullif(t.typbasetype, 0), t.oid) = 'bytea'::regtype THEN ARRAY[E'\\x', E'\\x00ff10']
	WHEN t.typcategory = 'N' THEN ARRAY['0', '1', '42', '30011']
	WHEN t.typcategory = 'S' THEN ARRAY['', 'a', 'shardkit', 'A longer key, with words']
	WHEN t.typcategory = 'D' THEN ARRAY['2000-01-01', '2026-11-29']
	WHEN t.typcategory = 'B' THEN ARRAY['true', 'false']
	ELSE '{}' END) AS v(value)
WHERE t.oid = key_type
$$;
COMMENT ON FUNCTION shardkit_internal.canary_values(regtype) IS 'part of preflight: values whose hashes are compared between servers';

-- Statements that answer, on a server, which canaries it would put into another slot.
CREATE FUNCTION shardkit_internal.canary_statements(parent regclass, slots int) RETURNS text
	LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	types regtype[];
	first_values text[];
	others text;
	canary text;
	slot int;
	list text[] := '{}';
BEGIN
	SELECT array_agg(a.atttypid ORDER BY k.number) INTO types
	FROM pg_partitioned_table AS p, unnest(p.partattrs::int2[]) WITH ORDINALITY AS k (attnum, number),
		pg_attribute AS a
	WHERE p.partrelid = parent AND a.attrelid = parent AND a.attnum = k.attnum;
	first_values := shardkit_internal.canary_values(types[1]);
	SELECT string_agg(', ' || coalesce((shardkit_internal.canary_values(t.type))[1], format('NULL::%s', t.type)), '' ORDER BY t.number)
	INTO others FROM unnest(types) WITH ORDINALITY AS t (type, number) WHERE t.number > 1;
	FOREACH canary IN ARRAY coalesce(first_values, '{}') LOOP
		canary := canary || coalesce(others, '');
		EXECUTE format('SELECT shardkit.partition_slot(%s, %s)', slots, canary) INTO slot;
		list := list || format('SELECT %L WHERE NOT pg_catalog.satisfies_hash_partition('
			'''pg_temp.shardkit_canary''::pg_catalog.regclass, %s, %s, %s)', canary, slots, slot, canary);
	END LOOP;
	RETURN format('SET client_min_messages = error; CREATE TEMPORARY TABLE shardkit_canary (%s) PARTITION BY %s; ',
			(SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ')
			FROM pg_partitioned_table AS p, unnest(p.partattrs::int2[]) AS k (attnum), pg_attribute AS a
			WHERE p.partrelid = parent AND a.attrelid = parent AND a.attnum = k.attnum),
			pg_get_partkeydef(parent))
		|| CASE WHEN list = '{}' THEN 'SELECT NULL::text WHERE false' ELSE array_to_string(list, ' UNION ALL ') END;
END
$$;
COMMENT ON FUNCTION shardkit_internal.canary_statements(regclass, int) IS
'part of preflight: statements by which a server says which known keys it hashes into another slot';

-- What is wrong with a server, whatever table moves.
CREATE FUNCTION shardkit_internal.server_hazards(server name, schema text)
	RETURNS TABLE (severity text, object text, problem text, fix text)
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	state text[];
BEGIN
	object := format('server %I', server);
	severity := 'error';
	BEGIN
		SELECT a INTO state FROM shardkit.ask_server(server, format($query$
			SELECT pg_catalog.pg_is_in_recovery()
					OR pg_catalog.current_setting('transaction_read_only')::bool,
				pg_catalog.getdatabaseencoding(),
				pg_catalog.current_setting('max_connections')::int
					- pg_catalog.current_setting('superuser_reserved_connections')::int
					- (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend'),
				CASE WHEN pg_catalog.to_regnamespace(%1$L) IS NULL
					THEN pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')
					ELSE pg_catalog.has_schema_privilege(%2$L, 'CREATE') END
			$query$, quote_ident(schema), schema)) AS a;
	EXCEPTION WHEN OTHERS THEN
		IF SQLSTATE = '57014' THEN
			RAISE;
		END IF;
		problem := SQLERRM;
		fix := shardkit_internal.reach_server(server);
		RETURN NEXT;
		RETURN;
	END;
	IF state[1]::bool THEN
		problem := 'it is read-only';
		fix := 'use a primary server, and reset default_transaction_read_only there';
		RETURN NEXT;
	END IF;
	IF state[2] <> getdatabaseencoding() THEN
		problem := format('its encoding is %s, but %s here: text would hash into other slots', state[2], getdatabaseencoding());
		fix := format('use a database with encoding %s there', getdatabaseencoding());
		RETURN NEXT;
	END IF;
	IF state[3]::int < 3 THEN
		problem := format('it has %s connections left, a move needs 3', state[3]);
		fix := 'raise max_connections there, or end idle sessions';
		RETURN NEXT;
	END IF;
	IF NOT state[4]::bool THEN
		problem := format('its user may not create tables in schema %I', schema);
		fix := format('on that server: GRANT CREATE ON SCHEMA %I TO the user of the mapping', schema);
		RETURN NEXT;
	END IF;
END
$$;
COMMENT ON FUNCTION shardkit_internal.server_hazards(name, text) IS 'part of preflight: what is wrong with a server';

-- A cure is a statement to be run over there, or says in words what has to be done.
CREATE FUNCTION shardkit_internal.remote_hazards_query(remote text[]) RETURNS text
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT format($query$
	WITH t AS MATERIALIZED (SELECT u.name, c.oid AS id, c.relkind, c.relowner, c.relrowsecurity FROM pg_catalog.unnest(%L::text[]) AS u (name)
		LEFT JOIN (SELECT n.nspname, c.oid, c.relname, c.relkind, c.relowner, c.relrowsecurity
			FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace) AS c
			ON ARRAY[c.nspname, c.relname]::text[] = pg_catalog.parse_ident(u.name))
	SELECT 'error' AS severity, 'table' AS kind, t.name, 'it does not exist' AS problem, NULL AS statement,
		'create it, or drop the foreign table' AS words FROM t WHERE t.id IS NULL
	UNION ALL SELECT 'error', 'shape', t.name, 'it is not an ordinary table', NULL, 'move its rows into an ordinary table'
	FROM t WHERE t.relkind <> 'r'
	UNION ALL SELECT 'error', 'rule', t.name, 'it belongs to ' || t.relowner::pg_catalog.regrole, NULL,
		pg_catalog.format('on that server: ALTER TABLE %%s OWNER TO %%I', t.name, current_user)
	FROM t WHERE NOT pg_catalog.pg_has_role(t.relowner, 'USAGE')
	UNION ALL SELECT 'error', 'rule', t.name, 'it has the trigger ' || g.tgname, pg_catalog.format('DROP TRIGGER %%I ON %%s', g.tgname, t.name), NULL
	FROM t JOIN pg_catalog.pg_trigger AS g ON g.tgrelid = t.id AND NOT g.tgisinternal
	UNION ALL SELECT 'error', 'rule', t.name, 'it has the rule ' || r.rulename, pg_catalog.format('DROP RULE %%I ON %%s', r.rulename, t.name), NULL
	FROM t JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = t.id WHERE t.relkind = 'r'
	UNION ALL SELECT 'error', 'rule', t.name, 'a foreign key ties it to another table',
		pg_catalog.format('ALTER TABLE %%s DROP CONSTRAINT %%I', k.conrelid::pg_catalog.regclass, k.conname), NULL
	FROM t JOIN pg_catalog.pg_constraint AS k ON k.contype = 'f' AND k.conparentid = 0 AND t.id IN (k.conrelid, k.confrelid)
	UNION ALL SELECT 'error', 'shape', t.name, 'other tables inherit from it',
		pg_catalog.format('ALTER TABLE %%s NO INHERIT %%s', i.inhrelid::pg_catalog.regclass, t.name), NULL
	FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.id WHERE t.relkind = 'r'
	UNION ALL SELECT 'error', 'rule', t.name, 'row level security is on', pg_catalog.format('ALTER TABLE %%s DISABLE ROW LEVEL SECURITY', t.name), NULL
	FROM t WHERE t.relrowsecurity
	UNION ALL SELECT 'warning', 'rule', t.name, 'it is published there, its successor will not be', NULL, 'add the new table to the publication'
	FROM t JOIN pg_catalog.pg_publication_rel AS p ON p.prrelid = t.id
	$query$, remote)
$$;
COMMENT ON FUNCTION shardkit_internal.remote_hazards_query(text[]) IS
'query for a server: what is wrong with tables there, each with a statement or words that cure it';

CREATE FUNCTION shardkit_internal.remote_fix(server name, statement text, words text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT coalesce(CASE WHEN statement IS NOT NULL THEN format('SELECT shardkit.ask_server(%L, %L)', server, statement) END, words)
$$;
COMMENT ON FUNCTION shardkit_internal.remote_fix(name, text, text) IS 'a server''s statement as one to be run here; else these words';

-- What is wrong with the table that a foreign partition stands for.
CREATE FUNCTION shardkit_internal.remote_table_hazards(server name, remote text)
	RETURNS TABLE (severity text, object text, problem text, fix text)
	LANGUAGE sql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT a[1], format('%s on server %I', a[3], server), a[4], shardkit_internal.remote_fix(server, a[5], a[6])
FROM shardkit.ask_server(server, shardkit_internal.remote_hazards_query(ARRAY[remote])) AS a
$$;
COMMENT ON FUNCTION shardkit_internal.remote_table_hazards(name, text) IS 'part of preflight: what is wrong with a table on a server';

-- What is wrong on the coordinator with a table whose partitions move to or from servers.
CREATE FUNCTION shardkit_internal.partitioned_table_hazards(parent regclass, partition_table regclass, to_server boolean)
	RETURNS TABLE (severity text, object text, problem text, fix text)
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT 'error', parent::text, format('it has the unique index %s, and a foreign partition cannot be part of it', i.indexrelid::regclass),
	CASE WHEN k.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
		ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', parent, k.conname) END
FROM pg_index AS i LEFT JOIN pg_constraint AS k ON k.conindid = i.indexrelid AND k.conrelid = parent
WHERE to_server AND i.indrelid = parent AND i.indisunique
UNION ALL
SELECT 'error', format('%s on %s', k.conname, k.conrelid::regclass), 'a foreign key cannot follow rows to a server',
	format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname)
FROM pg_constraint AS k
WHERE k.contype = 'f' AND k.conparentid = 0 AND (k.conrelid IN (parent, partition_table) OR k.confrelid IN (parent, partition_table))
UNION ALL
SELECT 'error', format('%s.%I', parent, a.attname), 'an enum hashes by an OID that other servers do not share',
	'use text with a CHECK as the key'
FROM pg_partitioned_table AS p, unnest(p.partattrs::int2[]) AS x, pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
	LEFT JOIN pg_type AS b ON b.oid = t.typbasetype
WHERE p.partrelid = parent AND a.attrelid = parent AND a.attnum = x AND 'e' IN (t.typtype, b.typtype)
UNION ALL
SELECT 'error', format('%s.%I', parent, a.attname), 'the key''s collation is nondeterministic: its hash depends on the version of ICU',
	'use a deterministic collation for the key'
FROM pg_partitioned_table AS p, unnest(p.partattrs::int2[]) AS x, pg_attribute AS a JOIN pg_collation AS c ON c.oid = a.attcollation
WHERE p.partrelid = parent AND a.attrelid = parent AND a.attnum = x AND NOT c.collisdeterministic
UNION ALL
SELECT 'error', format('%s.%I', parent, a.attname), format('type %s has no binary form', format_type(a.atttypid, a.atttypmod)),
	'use a type with send and receive functions'
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND (t.typsend = 0 OR t.typreceive = 0)
UNION ALL
SELECT 'error', partition_table::text, format('its trigger %I would not follow it', t.tgname), format('DROP TRIGGER %I ON %s', t.tgname, partition_table)
FROM pg_trigger AS t WHERE t.tgrelid = partition_table AND NOT t.tgisinternal AND t.tgparentid = 0 AND t.tgname <> 'shardkit_fence'
UNION ALL
SELECT 'error', format('%s.%I', partition_table, a.attname), 'it has another name on its server',
	format('ALTER FOREIGN TABLE %s ALTER COLUMN %I OPTIONS (DROP column_name), and rename it there', partition_table, a.attname)
FROM pg_attribute AS a
WHERE a.attrelid = partition_table AND position('column_name=' IN a.attfdwoptions::text) > 0
UNION ALL
SELECT 'warning', partition_table::text, 'it is published, its successor will not be', 'publish the partitioned table'
FROM pg_publication_rel AS r WHERE r.prrelid = partition_table
$$;
COMMENT ON FUNCTION shardkit_internal.partitioned_table_hazards(regclass, regclass, boolean) IS
'part of preflight: what is wrong on the coordinator with a table whose partitions move to or from servers';

CREATE FUNCTION server_move_hazards(map text, slot int, to_node text)
	RETURNS TABLE (severity text, object text, problem text, fix text)
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	source record;
	target record;
BEGIN
	SELECT n.* INTO source FROM shardkit.slot_map AS s JOIN shardkit.node AS n ON n.map = s.map AND n.name = s.node
	WHERE s.map = server_move_hazards.map AND s.slot = server_move_hazards.slot;
	SELECT n.* INTO target FROM shardkit.node AS n
	WHERE n.map = server_move_hazards.map AND n.name = server_move_hazards.to_node;
	IF target.server IS NOT NULL THEN
		RETURN QUERY SELECT * FROM shardkit_internal.server_hazards(target.server, target.schema::text);
		IF FOUND THEN
			RETURN;
		END IF;
	END IF;
	IF source.server IS NOT NULL AND source.server IS DISTINCT FROM target.server THEN
		RETURN QUERY SELECT * FROM shardkit_internal.server_hazards(source.server, source.schema::text);
		IF FOUND THEN
			RETURN;
		END IF;
	END IF;
	FOR part IN
		SELECT t.relation::regclass AS parent, c.oid::regclass AS partition_table, m.slots, s.srvname AS server
		FROM shardkit.map_table AS t JOIN shardkit.map AS m ON m.name = t.map
			JOIN pg_inherits AS i ON i.inhparent = t.relation::regclass JOIN pg_class AS c ON c.oid = i.inhrelid
			LEFT JOIN pg_foreign_table AS f ON f.ftrelid = c.oid LEFT JOIN pg_foreign_server AS s ON s.oid = f.ftserver
		WHERE t.map = server_move_hazards.map AND t.kind = 'per_slot'
			AND pg_get_expr(c.relpartbound, c.oid) = format('FOR VALUES WITH (modulus %s, remainder %s)', m.slots, slot)
	LOOP
		RETURN QUERY SELECT * FROM shardkit_internal.partitioned_table_hazards(part.parent, part.partition_table, target.server IS NOT NULL);
		IF part.server IS NOT NULL THEN
			RETURN QUERY SELECT * FROM shardkit_internal.remote_table_hazards(part.server, shardkit_internal.remote_name(part.partition_table));
		END IF;
		IF target.server IS NOT NULL THEN
			RETURN QUERY SELECT 'error', format('server %I', target.server), format('it puts the key %s of %s into another slot', a[1], part.parent),
				'use a server of the same architecture, encoding and collations'
			FROM shardkit.ask_server(target.server, shardkit_internal.canary_statements(part.parent, part.slots)) AS a WHERE a[1] IS NOT NULL;
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION server_move_hazards(text, int, text) IS
'what would stop or spoil the move of a slot to or from a server, each with what cures it; preflight and the move itself ask it';
