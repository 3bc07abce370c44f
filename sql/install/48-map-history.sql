
-- ------------------------------------------------------------------------------------------
-- Map: its history, and its form outside of the database
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION map_changes(map text, since_epoch bigint DEFAULT 0)
	RETURNS TABLE (epoch bigint, changed_at timestamptz, changed_by text, change jsonb)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT l.epoch, l.changed_at, l.changed_by, l.change
	FROM shardkit.map_log AS l
	WHERE l.map = $1 AND l.epoch > $2 AND shardkit.map_epoch($1) IS NOT NULL
	ORDER BY l.epoch;
END;
COMMENT ON FUNCTION map_changes(text, bigint) IS
'what changed since an epoch; owners in change holds runs of slots (first, last) with their old and new owner (from, to)';

CREATE FUNCTION node_at(map text, epoch bigint, slot int) RETURNS text
	LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
BEGIN
	IF $2 < 1 OR $2 > shardkit.map_epoch($1) THEN
		RAISE 'map "%" has no epoch %', $1, $2 USING ERRCODE = 'numeric_value_out_of_range',
			DETAIL = format('Its epochs are 1 to %s.', shardkit.map_epoch($1));
	END IF;
	PERFORM shardkit.slot_node($1, $3);
	RETURN (
		SELECT run."to"
		FROM shardkit.map_log AS l,
			jsonb_to_recordset(l.change -> 'owners') AS run(first int, last int, "to" text)
		WHERE l.map = $1 AND l.epoch <= $2 AND $3 BETWEEN run.first AND run.last
		ORDER BY l.epoch DESC
		LIMIT 1);
END;
$$;
COMMENT ON FUNCTION node_at(text, bigint, int) IS
'node that owned a slot at an epoch; NULL: it had no owner';

-- Keys of many types and signs, so that whoever reads the document can check his hash.
CREATE FUNCTION shardkit_internal.map_samples(map text) RETURNS jsonb
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	types text[] := (
		SELECT (SELECT array_agg(format_type(type, NULL) ORDER BY place)
			FROM unnest(t.key_types) WITH ORDINALITY AS k(type, place))
		FROM shardkit.map_table AS t WHERE t.map = $1 ORDER BY t.relation LIMIT 1);
	sample text;
	slot int;
	samples jsonb := '[]';
BEGIN
	types := coalesce(types, '{bigint}');
	FOREACH sample IN ARRAY '{0,1,2,42,-1,2147483648,a,Zürich,2024-02-29,
		6ba7b810-9dad-11d1-80b4-00c04fd430c8,true}'::text[] LOOP
		BEGIN
			EXECUTE format('SELECT shardkit.slot_of($1, %s)', (
				SELECT string_agg(format('%L::%s', sample, type), ', ')
				FROM unnest(types) AS type)) INTO slot USING $1;
			samples := samples || jsonb_build_object('key', array_fill(sample, ARRAY[cardinality(types)]),
				'types', types, 'slot', slot);
		EXCEPTION WHEN data_exception THEN
			NULL; -- not a value of this type
		END;
	END LOOP;
	RETURN samples;
END;
$$;
COMMENT ON FUNCTION shardkit_internal.map_samples(text) IS 'sample keys with their slots, for export_map';

CREATE FUNCTION export_map(map text) RETURNS jsonb
	LANGUAGE sql STABLE STRICT
BEGIN ATOMIC
	SELECT pg_catalog.jsonb_build_object(
		'format', 1,
		'map', m.name,
		'epoch', m.epoch,
		'slots', m.slots,
		'hash', m.hash,
		'nodes', (
			SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', n.name,
				'schema', n.schema, 'server', n.server, 'weight', n.weight, 'state', n.state)
				ORDER BY n.name), '[]')
			FROM shardkit.node AS n WHERE n.map = m.name),
		'owners', (
			SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('node', r.node,
				'slots', r.runs) ORDER BY r.node), '[]')
			FROM (
				SELECT run.node, pg_catalog.jsonb_agg(
					pg_catalog.jsonb_build_array(run.first, run.last) ORDER BY run.first) AS runs
				FROM (
					SELECT s.node, pg_catalog.min(s.slot) AS first, pg_catalog.max(s.slot) AS last
					FROM (
						SELECT slot_map.node, slot_map.slot, slot_map.slot
							- pg_catalog.row_number() OVER (PARTITION BY slot_map.node ORDER BY slot_map.slot) AS run
						FROM shardkit.slot_map
						WHERE slot_map.map = m.name AND slot_map.node IS NOT NULL) AS s
					GROUP BY s.node, s.run) AS run
				GROUP BY run.node) AS r),
		'tables', (
			SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('relation', t.relation,
				'key', t.key, 'key_types', t.key_types::text[], 'kind', t.kind) ORDER BY t.relation), '[]')
			FROM shardkit.map_table AS t WHERE t.map = m.name),
		'samples', shardkit_internal.map_samples(m.name))
	FROM shardkit.map AS m
	WHERE m.name = $1 AND shardkit.map_epoch($1) IS NOT NULL;
END;
COMMENT ON FUNCTION export_map(text) IS
'a map as one document for routers: format version, epoch, slots, nodes, owners in runs of slots, tables, sample keys with their slots';

CREATE FUNCTION import_map(document jsonb) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_import_map' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION import_map(jsonb) IS
'creates a map from a document of export_map''s form; its epoch is one above the document''s; sample keys must hash to their slots here';

CREATE FUNCTION adopt_map(map text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_adopt_map' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION adopt_map(text) IS
'makes this database the home of a map that was restored or cloned: only then rows can be moved here';
