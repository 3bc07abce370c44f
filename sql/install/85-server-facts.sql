-- ------------------------------------------------------------------------------------------
-- Servers: their part of the audit
-- ------------------------------------------------------------------------------------------

-- VOLATILE, for a snapshot of its own: the server's answer may be of a move that is younger than the caller's.
CREATE FUNCTION shardkit_internal.is_own_mark(map text, epoch bigint, mark text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
	RETURN current_setting('transaction_isolation') <> 'read committed' OR EXISTS (SELECT FROM shardkit.map_log AS l
		WHERE l.map = is_own_mark.map AND l.epoch = is_own_mark.epoch AND l.change ->> 'mark' = is_own_mark.mark);
END
$$;
COMMENT ON FUNCTION shardkit_internal.is_own_mark(text, bigint, text) IS
'is this mark, found on a server, in the map''s history? true also where the transaction cannot see what is new in it';

-- All that the audit asks about the tables of one server, in one answer: what is wrong with them, and
-- their checks, columns and keys. A column's fifth value is how it is generated.
CREATE FUNCTION shardkit_internal.remote_facts_query(remote text[]) RETURNS text
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT format($query$
	WITH t AS MATERIALIZED (SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname) AS name, c.oid AS id
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE pg_catalog.format('%%I.%%I', n.nspname, c.relname) = ANY (%L::text[]))
	SELECT h.kind, h.name, h.problem, h.statement, h.words FROM (%s) AS h WHERE h.severity = 'error' AND h.kind <> 'table'
	UNION ALL SELECT 'table', t.name, pg_catalog.pg_get_constraintdef(k.oid), NULL, NULL
	FROM t LEFT JOIN pg_catalog.pg_constraint AS k ON k.conrelid = t.id AND k.conname = 'shardkit_slot' AND k.convalidated
	UNION ALL SELECT CASE WHEN a.attnotnull THEN 'column not null' ELSE 'column' END, t.name, a.attname::text,
		pg_catalog.format_type(a.atttypid, a.atttypmod), CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END
	FROM t JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.id AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	UNION ALL SELECT 'key', t.name, k.conname::text, pg_catalog.pg_get_constraintdef(k.oid), NULL
	FROM t JOIN pg_catalog.pg_constraint AS k ON k.conrelid = t.id AND k.contype IN ('p', 'u', 'x')
	$query$, remote, shardkit_internal.remote_hazards_query(remote))
$$;
COMMENT ON FUNCTION shardkit_internal.remote_facts_query(text[]) IS 'query for a server: all that verify_map wants to know of tables there';

-- Partitions of a map's tables; of those that are foreign, the table on the server.
CREATE FUNCTION shardkit_internal.map_partitions(map text, OUT relation text, OUT parent regclass, OUT model regclass,
	OUT slots int, OUT slot int, OUT partition_table regclass, OUT server name, OUT remote text) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT t.relation, f.found, coalesce((SELECT c.oid FROM pg_class AS c WHERE c.oid = t.template), f.found), m.slots,
	p.slot, p.partition_table, p.server, shardkit_internal.remote_name(p.partition_table)
FROM shardkit.map_table AS t JOIN shardkit.map AS m ON m.name = t.map,
	LATERAL (SELECT to_regclass(t.relation) AS found) AS f, LATERAL shardkit_internal.slot_partitions(f.found) AS p
WHERE t.map = map_partitions.map AND t.kind = 'per_slot'
$$;
COMMENT ON FUNCTION shardkit_internal.map_partitions(text) IS 'part of verify_map: partitions of all per_slot tables of a map';

-- facts: of each server that answered, an array of server and one row of remote_facts_query.
CREATE FUNCTION shardkit_internal.remote_columns_wanted(map text, OUT server name, OUT remote text, OUT parent regclass,
	OUT name text, OUT data_type text, OUT definition text, OUT not_null boolean, OUT generated text) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT p.server, p.remote, p.parent, coalesce((SELECT o.option_value FROM pg_attribute AS f, pg_options_to_table(f.attfdwoptions) AS o
		WHERE f.attrelid = p.partition_table AND f.attname = a.attname AND o.option_name = 'column_name'), a.attname::text),
	format_type(a.atttypid, a.atttypmod), d.data_type || d.attributes, a.attnotnull,
	CASE WHEN a.attgenerated <> '' THEN pg_get_expr(e.adbin, e.adrelid) END
FROM shardkit_internal.map_partitions(remote_columns_wanted.map) AS p
	JOIN pg_attribute AS a ON a.attrelid = p.parent AND a.attnum > 0 AND NOT a.attisdropped
	CROSS JOIN LATERAL shardkit_internal.column_definition(p.parent, a.attnum) AS d
	LEFT JOIN pg_attrdef AS e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
WHERE p.server IS NOT NULL
$$;
COMMENT ON FUNCTION shardkit_internal.remote_columns_wanted(text) IS
'part of verify_map: the columns that the servers'' tables should have, under the names that they have there';

-- Columns of servers' tables, in the words of column_differences.
CREATE FUNCTION shardkit_internal.remote_column_differences(map text, facts jsonb,
	OUT server name, OUT remote text, OUT problem text, OUT statement text, OUT here text) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH mine AS MATERIALIZED (
	SELECT f ->> 0 AS server, f ->> 2 AS remote, f ->> 3 AS name, f ->> 4 AS data_type, f ->> 1 = 'column not null' AS not_null, f ->> 5 AS generated
	FROM jsonb_array_elements(facts) AS f WHERE f ->> 1 IN ('column', 'column not null')),
theirs AS MATERIALIZED (
	SELECT * FROM shardkit_internal.remote_columns_wanted(map) AS w
	WHERE EXISTS (SELECT FROM jsonb_array_elements(facts) AS f WHERE f ->> 1 = 'table' AND f ->> 0 = w.server::text AND f ->> 2 = w.remote)),
missing AS (SELECT t.*, count(*) OVER (PARTITION BY t.server, t.remote) AS many FROM theirs AS t
	WHERE NOT EXISTS (SELECT FROM mine AS m WHERE (m.server, m.remote, m.name) = (t.server::text, t.remote, t.name))),
extra AS (SELECT m.*, p.parent, count(*) OVER (PARTITION BY m.server, m.remote) AS many
	FROM mine AS m JOIN (SELECT DISTINCT t.server, t.remote, t.parent FROM theirs AS t) AS p ON (p.server::text, p.remote) = (m.server, m.remote)
	WHERE NOT EXISTS (SELECT FROM theirs AS t WHERE (m.server, m.remote, m.name) = (t.server::text, t.remote, t.name))),
-- One column gone and one come, of the same type: it was renamed.
renamed AS (SELECT m.server, m.remote, m.name, e.name AS old_name FROM missing AS m
	JOIN extra AS e ON (e.server, e.remote, e.data_type) = (m.server::text, m.remote, m.data_type) WHERE m.many = 1 AND e.many = 1),
common AS (SELECT t.*, m.data_type AS my_type, m.not_null AS my_not_null, m.generated AS my_generated
	FROM theirs AS t JOIN mine AS m ON (m.server, m.remote, m.name) = (t.server::text, t.remote, t.name))
SELECT r.server, r.remote, format('column %I is missing; %I may be it', r.name, r.old_name),
	format('ALTER TABLE %s RENAME COLUMN %I TO %I', r.remote, r.old_name, r.name), NULL
FROM renamed AS r
UNION ALL
SELECT m.server, m.remote, format('column %I is missing', m.name), format('ALTER TABLE %s ADD COLUMN %I %s', m.remote, m.name, m.definition), NULL
FROM missing AS m WHERE NOT EXISTS (SELECT FROM renamed AS r WHERE (r.server, r.remote) = (m.server, m.remote))
UNION ALL
-- It may hold values: the others get it too.
SELECT e.server, e.remote, format('column %I is missing in %s', e.name, e.parent), NULL,
	format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS %I %s', e.parent, e.name, e.data_type)
FROM extra AS e WHERE NOT EXISTS (SELECT FROM renamed AS r WHERE (r.server::text, r.remote) = (e.server, e.remote))
UNION ALL
SELECT c.server, c.remote, format('column %I is of type %s, not %s', c.name, c.my_type, c.data_type),
	format('ALTER TABLE %s ALTER COLUMN %I TYPE %s USING %2$I::%3$s', c.remote, c.name, c.data_type), NULL
FROM common AS c WHERE c.my_type <> c.data_type
UNION ALL
SELECT c.server, c.remote, format('column %I %s null', c.name, CASE WHEN c.not_null THEN 'accepts' ELSE 'does not accept' END),
	format('ALTER TABLE %s ALTER COLUMN %I %s NOT NULL', c.remote, c.name, CASE WHEN c.not_null THEN 'SET' ELSE 'DROP' END), NULL
FROM common AS c WHERE c.my_type = c.data_type AND c.my_not_null <> c.not_null
UNION ALL
SELECT c.server, c.remote, format('column %I is %s', c.name, CASE WHEN c.generated IS NULL THEN 'generated'
		WHEN c.my_generated IS NULL THEN 'not generated' ELSE 'generated otherwise' END),
	CASE WHEN c.generated IS NULL THEN format('ALTER TABLE %s ALTER COLUMN %I DROP EXPRESSION', c.remote, c.name)
		ELSE format('ALTER TABLE %s DROP COLUMN %I, ADD COLUMN %2$I %s', c.remote, c.name, c.definition) END, NULL
FROM common AS c WHERE c.my_type = c.data_type AND c.my_generated IS DISTINCT FROM c.generated
$$;
COMMENT ON FUNCTION shardkit_internal.remote_column_differences(text, jsonb) IS
'part of verify_map: columns in which servers'' tables differ from the partitioned table, each with a statement for the server or one for here';

-- A key that at least half of a table's partitions have, here and there, is one that all should have.
CREATE FUNCTION shardkit_internal.remote_key_differences(map text, facts jsonb,
	OUT server name, OUT remote text, OUT problem text, OUT statement text) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH parts AS MATERIALIZED (
	SELECT p.* FROM shardkit_internal.map_partitions(map) AS p
	WHERE p.server IS NULL OR EXISTS (SELECT FROM jsonb_array_elements(facts) AS f
		WHERE f ->> 1 = 'table' AND f ->> 0 = p.server::text AND f ->> 2 = p.remote)),
keys AS MATERIALIZED (
	SELECT p.relation, p.partition_table, k.conname::text AS name, pg_get_constraintdef(k.oid) AS definition
	FROM parts AS p JOIN pg_constraint AS k ON k.conrelid = p.partition_table AND k.contype IN ('p', 'u', 'x') WHERE p.server IS NULL
	UNION ALL
	SELECT p.relation, p.partition_table, f ->> 3, f ->> 4 FROM parts AS p
		JOIN jsonb_array_elements(facts) AS f ON f ->> 1 = 'key' AND f ->> 0 = p.server::text AND f ->> 2 = p.remote),
wanted AS (
	SELECT k.relation, k.definition FROM keys AS k GROUP BY k.relation, k.definition
	HAVING 2 * count(DISTINCT k.partition_table) >= (SELECT count(*) FROM parts AS p WHERE p.relation = k.relation))
SELECT p.server, p.remote, format('constraint is missing: %s', w.definition),
	format('ALTER TABLE %s %sADD %s', p.remote, (SELECT format('DROP CONSTRAINT %I, ', k.name) FROM keys AS k
		WHERE k.partition_table = p.partition_table AND k.definition LIKE 'PRIMARY KEY%' AND w.definition LIKE 'PRIMARY KEY%'), w.definition)
FROM parts AS p JOIN wanted AS w USING (relation)
WHERE p.server IS NOT NULL AND NOT EXISTS (SELECT FROM keys AS k WHERE (k.partition_table, k.definition) = (p.partition_table, w.definition))
ORDER BY p.server, p.remote, w.definition
$$;
COMMENT ON FUNCTION shardkit_internal.remote_key_differences(text, jsonb) IS
'part of verify_map: keys that servers'' tables lack, though at least half of their table''s partitions have them';
