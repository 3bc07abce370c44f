-- ------------------------------------------------------------------------------------------
-- Audit: the catalog itself, which a superuser or half a restore may have changed
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION shardkit_internal.is_table_name(relation text, per_slot boolean) RETURNS boolean
	LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
	RETURN cardinality(parse_ident(relation)) <= CASE WHEN per_slot THEN 2 ELSE 1 END;
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN false;
END
$$;
COMMENT ON FUNCTION shardkit_internal.is_table_name(text, boolean) IS
'can this be the name of a map''s table: without a schema, or for kind per_slot with at most one';

-- The key is SQL: the names and the order of its columns are those of a row of them.
CREATE FUNCTION shardkit_internal.key_column_types(relation regclass, key text) RETURNS regtype[]
	LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	names text[];
BEGIN
	EXECUTE format('SELECT ARRAY(SELECT json_object_keys(row_to_json(k.*))) FROM (SELECT %s FROM (SELECT (NULL::%s).*) AS t) AS k',
		key, relation) INTO names;
	RETURN ARRAY(SELECT a.atttypid FROM unnest(names) WITH ORDINALITY AS n (name, number)
		JOIN pg_attribute AS a ON a.attrelid = relation AND a.attname = n.name AND NOT a.attisdropped ORDER BY n.number)::regtype[];
EXCEPTION WHEN undefined_column OR syntax_error THEN
	RETURN NULL; -- the table's shape says so
END
$$;
COMMENT ON FUNCTION shardkit_internal.key_column_types(regclass, text) IS 'types of a table''s key columns; null where it lacks one';

CREATE FUNCTION shardkit_internal.verify_catalog(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH slots AS (
	SELECT s.number AS slot, o.node, o.moving_to, o.slot IS NULL AS is_missing,
		o.node IS NOT NULL AND o.node NOT IN (SELECT n.name FROM shardkit.node AS n WHERE n.map = m.name) AS is_stranger,
		o.moving_to IS NOT NULL AND NOT EXISTS (SELECT FROM shardkit.move_log AS l
			WHERE l.map = m.name AND l.slot = s.number AND l.finished_at IS NULL) AS is_stuck
	FROM shardkit.map AS m CROSS JOIN LATERAL generate_series(0, m.slots - 1) AS s (number)
		LEFT JOIN shardkit.slot_map AS o ON o.map = m.name AND o.slot = s.number
	WHERE m.name = verify_catalog.map)
SELECT 'table', t.relation, format('shardkit.map_table has it as a table of kind %s, whose name this cannot be', t.kind),
	format('DELETE FROM shardkit.map_table WHERE map = %L AND relation = %L', t.map, t.relation)
FROM shardkit.map_table AS t
WHERE t.map = verify_catalog.map AND NOT shardkit_internal.is_table_name(t.relation, t.kind = 'per_slot')
UNION ALL
-- What no table's key has is wrong; what most have is right.
SELECT 'table', k.relation, format('shardkit.map_table has (%s) as the types of its key, but they are (%s)',
		array_to_string(k.key_types, ', '), array_to_string(k.found, ', ')),
	format('UPDATE shardkit.map_table SET key_types = %L WHERE map = %L AND relation = %L', k.found, verify_catalog.map, k.relation)
FROM (SELECT t.relation, t.key_types,
		(mode() WITHIN GROUP (ORDER BY f.types::oid[]))::regtype[] AS found, bool_or(f.types::oid[] = t.key_types::oid[]) AS is_right
	FROM shardkit.map_table AS t CROSS JOIN LATERAL (
		SELECT to_regclass(t.relation) AS name WHERE t.kind = 'per_slot'
		UNION ALL SELECT to_regclass(quote_ident(n.schema) || '.' || t.relation) FROM shardkit.node AS n
		WHERE n.map = t.map AND n.server IS NULL AND t.kind = 'per_node') AS w
		CROSS JOIN LATERAL shardkit_internal.key_column_types(w.name, t.key) AS f (types)
	WHERE t.map = verify_catalog.map AND shardkit_internal.is_table_name(t.relation, t.kind = 'per_slot') AND f.types IS NOT NULL
	GROUP BY t.relation, t.key_types) AS k
WHERE NOT k.is_right
UNION ALL
SELECT 'slot', 'slots ' || string_agg(s.slot::text, ', ' ORDER BY s.slot), 'they are missing in shardkit.slot_map',
	format('INSERT INTO shardkit.slot_map (map, slot, epoch) SELECT m.name, s, m.epoch FROM shardkit.map AS m, unnest(%L::int[]) AS s WHERE m.name = %L',
		array_agg(s.slot ORDER BY s.slot), verify_catalog.map)
FROM slots AS s WHERE s.is_missing HAVING count(*) > 0
UNION ALL
SELECT 'slot', 'slots ' || string_agg(s.slot::text, ', ' ORDER BY s.slot), format('they belong to %s, which is no node of the map', s.node),
	format('UPDATE shardkit.slot_map SET node = NULL WHERE map = %L AND node = %L', verify_catalog.map, s.node)
FROM slots AS s WHERE s.is_stranger GROUP BY s.node
UNION ALL
SELECT 'slot', 'slots ' || string_agg(s.slot::text, ', ' ORDER BY s.slot), 'they are marked as moving, and no move of them is unfinished',
	format('UPDATE shardkit.slot_map SET moving_to = NULL WHERE map = %L AND slot = ANY (%L)', verify_catalog.map,
		array_agg(s.slot ORDER BY s.slot))
FROM slots AS s WHERE s.is_stuck HAVING count(*) > 0
$$;
COMMENT ON FUNCTION shardkit_internal.verify_catalog(text) IS
'part of verify_map: what in the catalog contradicts itself; its cures are for a superuser';
