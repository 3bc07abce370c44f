-- ------------------------------------------------------------------------------------------
-- Audit: rows that lie where they do not belong
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION misplaced_rows(map text, OUT relation text, OUT node text, OUT slot int,
	OUT owner text, OUT rows bigint, OUT sample_key text) RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	answer text[];
BEGIN
	PERFORM shardkit_internal.check_map(misplaced_rows.map);
	FOR part IN
		SELECT t.relation, n.name, to_regclass(format('%I.%s', n.schema, t.relation)) AS found,
			shardkit.slot_expression(t.map, t.key) AS slot, shardkit_internal.key_text(t.key) AS key,
			ARRAY(SELECT s.slot FROM shardkit.slot_map AS s
				WHERE s.map = t.map AND s.node = n.name) AS owned
		FROM shardkit.map_table AS t JOIN shardkit.node AS n ON n.map = t.map
		WHERE t.map = misplaced_rows.map AND t.kind = 'per_node' AND n.server IS NULL
		ORDER BY t.relation, n.name
	LOOP
		CONTINUE WHEN part.found IS NULL;
		RETURN QUERY EXECUTE format(
			'SELECT $1, $2, f.slot, s.node, f.rows, f.sample_key'
			' FROM (SELECT %1$s AS slot, count(*) AS rows, min((%2$s) COLLATE "C") AS sample_key'
			' FROM %3$s WHERE (%1$s = ANY ($3)) IS NOT TRUE GROUP BY 1) AS f'
			' LEFT JOIN shardkit.slot_map AS s ON s.map = $4 AND s.slot = f.slot ORDER BY f.slot',
			part.slot, part.key, part.found)
			USING part.relation, part.name, part.owned, misplaced_rows.map;
	END LOOP;

	-- A partition's rows belong to it; a server's table can have been filled behind its check.
	FOR part IN
		SELECT t.relation, s.node, p.slot, p.partition_table,
			shardkit.slot_expression(t.map, t.key) AS found, shardkit_internal.key_text(t.key) AS key
		FROM shardkit.map_table AS t
			CROSS JOIN LATERAL shardkit_internal.slot_partitions(to_regclass(t.relation)) AS p
			LEFT JOIN shardkit.slot_map AS s ON s.map = t.map AND s.slot = p.slot
		WHERE t.map = misplaced_rows.map AND t.kind = 'per_slot' AND p.server IS NOT NULL
		ORDER BY t.relation, p.slot
	LOOP
		RETURN QUERY EXECUTE format(
			'SELECT $1, $2, f.slot, s.node, f.rows, f.sample_key'
			' FROM (SELECT %1$s AS slot, count(*) AS rows, min((%2$s) COLLATE "C") AS sample_key'
			' FROM %3$s WHERE %1$s <> $3 GROUP BY 1) AS f'
			' LEFT JOIN shardkit.slot_map AS s ON s.map = $4 AND s.slot = f.slot ORDER BY f.slot',
			part.found, part.key, part.partition_table)
			USING part.relation, part.node, part.slot, misplaced_rows.map;
	END LOOP;
END
$$;
COMMENT ON FUNCTION misplaced_rows(text) IS
'rows of a map''s tables on a node that does not own their slot, by slot, with the owner and the least of their keys';
