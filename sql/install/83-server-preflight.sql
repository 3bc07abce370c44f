
-- ------------------------------------------------------------------------------------------
-- Servers: their part of preflight
-- ------------------------------------------------------------------------------------------

-- Size of a partition where its rows lie; rows as the statistics there have them.
CREATE FUNCTION shardkit_internal.partition_size(partition_table regclass, OUT row_count bigint, OUT bytes bigint)
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	query text := 'SELECT CASE WHEN c.reltuples < 0 THEN 0 ELSE c.reltuples::bigint END, pg_catalog.pg_total_relation_size(c.oid)'
		' FROM pg_catalog.pg_class AS c WHERE c.oid = %L::pg_catalog.regclass';
	remote name;
BEGIN
	SELECT s.srvname INTO remote FROM pg_foreign_table AS f JOIN pg_foreign_server AS s ON s.oid = f.ftserver
	WHERE f.ftrelid = partition_table;
	IF remote IS NULL THEN
		EXECUTE format(query, partition_table) INTO row_count, bytes;
	ELSE
		SELECT a[1]::bigint, a[2]::bigint INTO row_count, bytes
		FROM shardkit.ask_server(remote, format(query, shardkit_internal.remote_name(partition_table))) AS a;
	END IF;
END
$$;
COMMENT ON FUNCTION shardkit_internal.partition_size(regclass) IS 'part of preflight: how large a partition is, where its rows lie';

-- Of these slots those that come from or go to a server: hazards, and the bill where there is none.
CREATE FUNCTION shardkit_internal.server_preflight(map text, slots int[], to_node text)
	RETURNS TABLE (severity text, object text, problem text, fix text)
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	moved record;
	size record;
	bad boolean := false;
BEGIN
	FOR moved IN
		SELECT s.slot, s.node FROM shardkit.slot_map AS s
			JOIN shardkit.node AS f ON f.map = s.map AND f.name = s.node
			JOIN shardkit.node AS t ON t.map = s.map AND t.name = server_preflight.to_node
		WHERE s.map = server_preflight.map AND s.slot = ANY (server_preflight.slots) AND s.node <> t.name
			AND (f.server IS NOT NULL OR t.server IS NOT NULL)
		ORDER BY s.slot
	LOOP
		FOR severity, object, problem, fix IN
			SELECT h.severity, h.object, h.problem, h.fix
			FROM shardkit.server_move_hazards(server_preflight.map, moved.slot, server_preflight.to_node) AS h
		LOOP
			bad := bad OR severity = 'error';
			RETURN NEXT;
		END LOOP;
		EXIT WHEN bad;
		FOR size IN
			SELECT p.partition_table, z.row_count, z.bytes FROM shardkit.map_table AS t,
				LATERAL shardkit_internal.slot_partitions(t.relation::regclass) AS p,
				LATERAL shardkit_internal.partition_size(p.partition_table) AS z
			WHERE t.map = server_preflight.map AND t.kind = 'per_slot' AND p.slot = moved.slot
		LOOP
			severity := 'bill';
			object := size.partition_table::text;
			problem := format('about %s rows, %s from node %s to node %s, and as much WAL and free space there',
				size.row_count, pg_size_pretty(size.bytes), moved.node, server_preflight.to_node);
			fix := format('CALL shardkit.move_rows(%L, %L, %L)', server_preflight.map, server_preflight.slots, server_preflight.to_node);
			RETURN NEXT;
		END LOOP;
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.server_preflight(text, int[], text) IS
'part of preflight: hazards and bill of slots that come from or go to a server';
