-- ------------------------------------------------------------------------------------------
-- Audit: everything that is not as a map says, with the statement that cures it
-- ------------------------------------------------------------------------------------------

-- Each part of the audit answers the same columns. Where fix holds several statements, they belong together.

-- A mover holds the slot's move object as long as it lives.
CREATE FUNCTION shardkit_internal.is_moving(map text, slot int) RETURNS boolean
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT EXISTS (
	SELECT FROM shardkit.map AS m, pg_locks AS k
	WHERE m.name = is_moving.map AND k.locktype = 'object' AND k.classid = 'shardkit.move_log'::regclass
		AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND k.objid = m.id::oid AND k.objsubid = is_moving.slot + 1 AND k.mode = 'ExclusiveLock' AND k.granted)
$$;
COMMENT ON FUNCTION shardkit_internal.is_moving(text, int) IS 'is a mover at work on this slot?';

CREATE FUNCTION shardkit_internal.verify_slots(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT 'map', m.name, CASE WHEN m.is_away THEN 'the map comes from another server or database'
		ELSE format('its owner, role %I, does not exist', m.owner) END,
	format('SELECT shardkit.adopt_map(%L)', m.name)
FROM (SELECT name, owner, database_oid <> (SELECT oid FROM pg_database WHERE datname = current_database())
		OR system_identifier <> (SELECT system_identifier FROM pg_control_system()) AS is_away
	FROM shardkit.map) AS m
WHERE m.name = verify_slots.map AND (m.is_away OR m.owner NOT IN (SELECT rolname FROM pg_roles))
UNION ALL
SELECT 'slot', 'slots ' || string_agg(s.slot::text, ', ' ORDER BY s.slot), 'no node owns them',
	format('SELECT shardkit.deal_slots(%L)', verify_slots.map)
FROM shardkit.slot_map AS s WHERE s.map = verify_slots.map AND s.node IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'move', format('move %s of slot %s', l.id, l.slot),
	format('it stopped as %s on its way from %s to %s%s', l.state, l.from_node, l.to_node, coalesce(': ' || l.error, '')),
	-- Moves within this database leave no open line: somebody wrote it, and there is nothing to resume.
	CASE WHEN EXISTS (SELECT FROM shardkit.server_move AS x WHERE x.id = l.id) THEN format('CALL shardkit.resume_moves(%L)', verify_slots.map)
		ELSE format('UPDATE shardkit.move_log SET state = ''undone'', finished_at = pg_catalog.clock_timestamp() WHERE id = %s', l.id) END
FROM shardkit.move_log AS l WHERE l.map = verify_slots.map AND l.finished_at IS NULL
	AND NOT shardkit_internal.is_moving(l.map, l.slot)
UNION ALL
SELECT 'server', n.name, format('server %s does not exist', n.server),
	format('CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, dbname %L); '
		'CREATE USER MAPPING FOR CURRENT_USER SERVER %1$I', n.server, 'HOST', current_database())
FROM shardkit.node AS n WHERE n.map = verify_slots.map AND n.server IS NOT NULL
	AND n.server NOT IN (SELECT srvname FROM pg_foreign_server)
$$;
COMMENT ON FUNCTION shardkit_internal.verify_slots(text) IS 'part of verify_map: slots, moves, servers';

-- Where the guards say that a node's tables are by now.
CREATE FUNCTION shardkit_internal.guarded_tables(map text, OUT node text, OUT found regclass) RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT DISTINCT n.name, t.tgrelid::regclass
FROM pg_trigger AS t JOIN shardkit.node AS n ON n.map = guarded_tables.map
WHERE t.tgfoid = 'shardkit.guard()'::regprocedure AND position(
	convert_to(guarded_tables.map, getdatabaseencoding()) || decode('00', 'hex')
	|| convert_to(n.name, getdatabaseencoding()) || decode('00', 'hex') IN t.tgargs) = 1
$$;
COMMENT ON FUNCTION shardkit_internal.guarded_tables(text) IS 'tables with the guard of a map''s node, wherever they are';

CREATE FUNCTION shardkit_internal.verify_tables(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH places AS (
	SELECT t.relation, t.key, t.template, n.name AS node, n.schema, to_regnamespace(quote_ident(n.schema)) AS namespace,
		CASE WHEN c.relkind IN ('r', 'p') THEN c.oid::regclass END AS found, c.oid::regclass AS there, c.relkind
	FROM shardkit.map_table AS t JOIN shardkit.node AS n ON n.map = t.map
		LEFT JOIN pg_class AS c ON c.oid = to_regclass(format('%I.%s', n.schema, t.relation))
	WHERE t.map = verify_tables.map AND t.kind = 'per_node' AND n.server IS NULL),
-- A guarded table that is not where the map says: renamed, or its schema was.
strays AS (
	SELECT g.node, g.found, c.relname, s.nspname
	FROM shardkit_internal.guarded_tables(verify_tables.map) AS g
		JOIN pg_class AS c ON c.oid = g.found JOIN pg_namespace AS s ON s.oid = c.relnamespace
	WHERE g.found NOT IN (SELECT p.found FROM places AS p WHERE p.found IS NOT NULL)),
missing_schemas AS (
	SELECT p.node, p.schema, (SELECT min(s.nspname) FROM strays AS s
		WHERE s.node = p.node AND quote_ident(s.relname) IN (SELECT relation FROM places)) AS now
	FROM places AS p WHERE p.namespace IS NULL GROUP BY p.node, p.schema),
missing_tables AS (
	SELECT p.*, (SELECT min(s.relname) FROM strays AS s WHERE s.node = p.node AND s.nspname = p.schema
			AND quote_ident(s.relname) NOT IN (SELECT relation FROM places)) AS now,
		(SELECT min(s.nspname) FROM strays AS s WHERE s.node = p.node AND s.nspname <> p.schema
			AND quote_ident(s.relname) = p.relation) AS elsewhere
	FROM places AS p WHERE p.namespace IS NOT NULL AND p.found IS NULL),
-- The shape that most nodes have is the one that the others should have.
shapes AS (
	SELECT p.*, (SELECT string_agg(format('%s %s%s', a.attname, d.data_type, d.attributes), ', ' ORDER BY a.attname)
		FROM pg_attribute AS a, shardkit_internal.column_definition(p.found, a.attnum) AS d
		WHERE a.attrelid = p.found AND a.attnum > 0 AND NOT a.attisdropped) AS shape
	FROM places AS p WHERE p.found IS NOT NULL),
models AS (
	SELECT DISTINCT ON (s.relation) s.relation, s.found AS model
	FROM (SELECT *, count(*) OVER (PARTITION BY relation, shape) AS votes FROM shapes) AS s
	ORDER BY s.relation, s.votes DESC, s.node COLLATE "C"),
guards AS (
	SELECT s.node, s.relation, s.found, g.name, t.tgname, t.tgenabled, t.tgtype = g.type AS right_event,
		substring(pg_get_triggerdef(t.oid) FROM ' FOR EACH ROW (.*)EXECUTE FUNCTION ') AS condition,
		t.tgargs = convert_to(verify_tables.map, getdatabaseencoding()) || decode('00', 'hex')
			|| convert_to(s.node, getdatabaseencoding()) || decode('00', 'hex')
			|| convert_to(s.key, getdatabaseencoding()) || decode('00', 'hex') AS right_arguments
	FROM shapes AS s CROSS JOIN (VALUES ('shardkit_guard_insert', 1 + 4), ('shardkit_guard_update', 1 + 16)) AS g (name, type)
		LEFT JOIN pg_trigger AS t ON t.tgrelid = s.found AND t.tgname = g.name
			AND t.tgfoid = 'shardkit.guard()'::regprocedure),
-- AFTER ROW, on its event, and when most nodes' do.
wrong_guards AS (
	SELECT g.*, CASE WHEN g.tgname IS NULL THEN 'is missing'
		WHEN NOT g.right_arguments THEN 'guards another node or key'
		WHEN NOT g.right_event OR g.condition <> (SELECT mode() WITHIN GROUP (ORDER BY o.condition)
			FROM guards AS o WHERE (o.relation, o.name) = (g.relation, g.name) AND o.right_event) THEN 'fires at other times'
		END AS wrong
	FROM guards AS g)
SELECT 'schema', m.schema::text, format('the schema of node %s %s', m.node,
		coalesce('is called ' || quote_ident(m.now) || ' now', 'does not exist')),
	coalesce(format('ALTER SCHEMA %I RENAME TO %I', m.now, m.schema), format('CREATE SCHEMA %I', m.schema))
FROM (SELECT m.node, m.schema, m.now FROM missing_schemas AS m WHERE m.now IS NOT NULL) AS m
UNION ALL
SELECT 'schema', m.schema::text, format('the schema of node %s does not exist', m.node), format('CREATE SCHEMA %I', m.schema)
FROM missing_schemas AS m WHERE m.now IS NULL
UNION ALL
SELECT 'table', format('%I.%s', m.schema, m.relation), CASE WHEN m.there IS NOT NULL THEN 'something else bears the table''s name'
		WHEN m.now IS NOT NULL THEN format('the table is called %I now', m.now)
		WHEN m.elsewhere IS NOT NULL THEN format('the table lies in schema %I now', m.elsewhere)
		ELSE 'the table does not exist' END,
	CASE WHEN m.there IS NOT NULL THEN format('ALTER %s %s RENAME TO %I', CASE m.relkind WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
			m.there, ('stray_' || m.there::oid)::name)
		WHEN m.now IS NULL AND m.elsewhere IS NULL THEN format('SELECT shardkit.repair_table(%L, %L)', verify_tables.map, m.relation)
		WHEN m.now IS NULL THEN format('ALTER TABLE %I.%s SET SCHEMA %I', m.elsewhere, m.relation, m.schema)
		ELSE 'ALTER TABLE ' || quote_ident(m.schema) || '.' || quote_ident(m.now) || ' RENAME TO ' || m.relation END
FROM missing_tables AS m
UNION ALL
SELECT 'shape', s.found::text, d.problem, d.fix
FROM shapes AS s JOIN models AS m USING (relation), LATERAL shardkit_internal.column_differences(s.found, m.model) AS d
WHERE s.found <> m.model
UNION ALL
SELECT 'shape', i.inhrelid::regclass::text, format('it inherits from %s, and no guard sees its rows', s.found),
	format('ALTER TABLE %s NO INHERIT %s', i.inhrelid::regclass, s.found)
FROM shapes AS s JOIN pg_class AS c ON c.oid = s.found AND c.relkind = 'r' JOIN pg_inherits AS i ON i.inhparent = s.found
UNION ALL
-- Foreign keys come last and go first: they need a key of another table.
(SELECT 'rule', s.found::text, d.problem, d.fix
FROM shapes AS s JOIN models AS m USING (relation), LATERAL shardkit_internal.rule_differences(s.found, m.model) AS d
WHERE s.found <> m.model
ORDER BY d.is_foreign_key, d.problem !~ '^constraint .* is not on .*: FOREIGN KEY ')
UNION ALL
SELECT 'guard', g.found::text, format('trigger %s %s', g.name, coalesce(g.wrong, CASE g.tgenabled WHEN 'D' THEN 'is disabled'
		ELSE 'is not enabled always' END)),
	CASE WHEN g.wrong IS NOT NULL THEN format('SELECT shardkit.repair_table(%L, %L)', verify_tables.map, g.relation)
		ELSE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', g.found, g.name) END
FROM wrong_guards AS g WHERE g.wrong IS NOT NULL OR g.tgenabled <> 'A'
$$;
COMMENT ON FUNCTION shardkit_internal.verify_tables(text) IS 'part of verify_map: schemas, tables, shapes and guards of kind per_node';

CREATE FUNCTION shardkit_internal.verify_partitions(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH parents AS (
	SELECT t.relation, t.key, CASE WHEN p.partstrat = 'h' AND shardkit_internal.partition_key_columns(f.found, false) = t.key
			AND NOT EXISTS (SELECT FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
				WHERE i.inhparent = f.found AND pg_get_expr(c.relpartbound, c.oid)
					NOT LIKE format('FOR VALUES WITH (modulus %s, remainder %%)', m.slots))
			THEN f.found END AS parent, f.found IS NOT NULL AS is_there
	FROM shardkit.map_table AS t JOIN shardkit.map AS m ON m.name = t.map,
		LATERAL (SELECT to_regclass(t.relation) AS found) AS f LEFT JOIN pg_partitioned_table AS p ON p.partrelid = f.found
	WHERE t.map = verify_partitions.map AND t.kind = 'per_slot'),
owned AS (
	SELECT s.slot, n.schema, m.slots FROM shardkit.map AS m JOIN shardkit.slot_map AS s ON s.map = m.name
		JOIN shardkit.node AS n ON n.map = s.map AND n.name = s.node WHERE m.name = verify_partitions.map),
-- The only table of no map that has the key, and each slot's partition with its owner: it was renamed.
renamed AS (
	SELECT p.relation, parse_ident(p.relation) AS names, min(c.oid)::regclass AS now,
		min(n.nspname) AS nspname, min(c.relname) AS relname
	FROM parents AS p CROSS JOIN pg_partitioned_table AS t
		JOIN pg_class AS c ON c.oid = t.partrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
	WHERE p.parent IS NULL AND t.partstrat = 'h' AND shardkit_internal.partition_key_columns(c.oid, false) = p.key
		AND NOT EXISTS (SELECT FROM shardkit.map_table AS o WHERE to_regclass(o.relation) = c.oid)
		AND NOT EXISTS (SELECT FROM owned AS o WHERE NOT EXISTS (
			SELECT FROM pg_inherits AS i JOIN pg_class AS f ON f.oid = i.inhrelid
			WHERE i.inhparent = c.oid AND f.relnamespace = to_regnamespace(quote_ident(o.schema))
				AND pg_get_expr(f.relpartbound, f.oid)
					= format('FOR VALUES WITH (modulus %s, remainder %s)', o.slots, o.slot)))
	GROUP BY p.relation HAVING count(*) = 1),
slots AS (
	SELECT p.relation, p.parent, s.slot, s.node, n.schema, n.server, f.partition_table, f.server AS found_server, x.nspname
	FROM parents AS p CROSS JOIN shardkit.slot_map AS s
		JOIN shardkit.node AS n ON n.map = s.map AND n.name = s.node
		LEFT JOIN LATERAL shardkit_internal.slot_partitions(p.parent) AS f ON f.slot = s.slot
		LEFT JOIN pg_class AS c ON c.oid = f.partition_table
		LEFT JOIN pg_namespace AS x ON x.oid = c.relnamespace
	WHERE s.map = verify_partitions.map AND p.parent IS NOT NULL),
fences AS (
	SELECT s.partition_table, t.tgname FROM slots AS s JOIN pg_trigger AS t ON t.tgrelid = s.partition_table
	WHERE t.tgfoid = to_regprocedure('shardkit.fence()') AND NOT EXISTS (
		SELECT FROM shardkit.move_log AS l WHERE l.map = verify_partitions.map AND l.slot = s.slot AND l.finished_at IS NULL))
SELECT 'table', p.relation, CASE WHEN p.is_there THEN format('the table is not one of %s slots by hash of (%s)',
			(SELECT m.slots FROM shardkit.map AS m WHERE m.name = verify_partitions.map), p.key)
		WHEN r.now IS NULL THEN 'the table does not exist' ELSE format('the table is called %s now', r.now) END,
	CASE WHEN r.now IS NULL OR p.is_there THEN format('SELECT shardkit.remove_table(%L, %L)', verify_partitions.map, p.relation)
		WHEN r.relname <> r.names[cardinality(r.names)] THEN format('ALTER TABLE %s RENAME TO %I', r.now, r.names[cardinality(r.names)])
		WHEN to_regnamespace(quote_ident(r.names[1])) IS NULL THEN format('ALTER SCHEMA %I RENAME TO %I', r.nspname, r.names[1])
		ELSE format('ALTER TABLE %s SET SCHEMA %I', r.now, r.names[1]) END
FROM parents AS p LEFT JOIN renamed AS r USING (relation) WHERE p.parent IS NULL
UNION ALL
SELECT DISTINCT 'schema', s.schema::text, format('the schema of node %s does not exist', s.node), format('CREATE SCHEMA %I', s.schema)
FROM slots AS s WHERE s.server IS NULL AND to_regnamespace(quote_ident(s.schema)) IS NULL
	AND NOT EXISTS (SELECT FROM slots AS o WHERE o.node = s.node AND o.partition_table IS NOT NULL)
UNION ALL
SELECT 'partition', format('slot %s of %s', s.slot, s.relation), 'the partition is missing',
	format('SELECT shardkit.repair_table(%L, %L)', verify_partitions.map, s.relation)
FROM slots AS s WHERE s.partition_table IS NULL
UNION ALL
SELECT 'partition', s.partition_table::text, format('it lies in schema %I, its slot belongs to node %s', s.nspname, s.node),
	CASE WHEN to_regnamespace(quote_ident(s.schema)) IS NULL THEN format('ALTER SCHEMA %I RENAME TO %I', s.nspname, s.schema)
		ELSE format('ALTER TABLE %s SET SCHEMA %I', s.partition_table, s.schema) END
FROM slots AS s WHERE s.partition_table IS NOT NULL AND s.server IS NULL AND s.found_server IS NULL AND s.nspname <> s.schema
UNION ALL
-- What lies elsewhere was attached by hand; the owner's own partition takes its place.
SELECT 'partition', s.partition_table::text, format('it lies %s, its slot belongs to node %s',
		coalesce('on server ' || quote_ident(s.found_server), 'on no server'), s.node),
	format('ALTER TABLE %s DETACH PARTITION %s; ALTER %sTABLE %2$s RENAME TO %I; SELECT shardkit.repair_table(%L, %L)',
		s.parent, s.partition_table, CASE WHEN s.found_server IS NULL THEN '' ELSE 'FOREIGN ' END,
		('stray_' || s.slot || '_' || s.partition_table::oid)::name, verify_partitions.map, s.relation)
FROM slots AS s WHERE s.partition_table IS NOT NULL AND s.server IS DISTINCT FROM s.found_server
UNION ALL
SELECT 'fence', f.partition_table::text, 'a fence of no move refuses every write',
	format('DROP TRIGGER %I ON %s', f.tgname, f.partition_table)
FROM fences AS f
$$;
COMMENT ON FUNCTION shardkit_internal.verify_partitions(text) IS 'part of verify_map: partitions of kind per_slot';

CREATE FUNCTION verify_map(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part text;
	found_any boolean := false;
BEGIN
	PERFORM shardkit_internal.check_map(verify_map.map);
	-- Nothing can be judged by a catalog that contradicts itself.
	RETURN QUERY SELECT * FROM shardkit_internal.verify_catalog(verify_map.map);
	IF FOUND THEN
		RETURN;
	END IF;
	-- Keys first: NOT NULL cannot come back to a column before the rows without a key are gone.
	FOREACH part IN ARRAY ARRAY['keys', 'tables', 'triggers', 'sequences', 'numbers', 'partitions', 'rows', 'servers', 'leftovers', 'slots'] LOOP
		-- Rows can be read only where the tables are as they should be.
		CONTINUE WHEN part = 'rows' AND found_any;
		BEGIN
			RETURN QUERY EXECUTE format('SELECT * FROM shardkit_internal.verify_%s($1)', part) USING verify_map.map;
			found_any := found_any OR part IN ('tables', 'partitions') AND FOUND
				AND EXISTS (SELECT FROM shardkit_internal.verify_tables(verify_map.map) AS t
					WHERE t.kind IN ('schema', 'table', 'shape'));
		EXCEPTION WHEN OTHERS THEN
			kind := part;
			object := verify_map.map;
			problem := 'could not be checked: ' || SQLERRM;
			fix := NULL;
			RETURN NEXT;
		END;
	END LOOP;
END
$$;
COMMENT ON FUNCTION verify_map(text) IS
'everything that is not as the map says, each with the statement that cures it; empty: all is well. Rows are looked at once tables have their shape';
