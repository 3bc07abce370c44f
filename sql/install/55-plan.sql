-- ------------------------------------------------------------------------------------------
-- Plan: which slots should move
--
-- The planner itself is a function of arrays; what feeds it counts the real tables as the caller.
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION plan_moves(owners int[], moving boolean[], loads bigint[], weights float8[],
	draining boolean[], tolerance float8 DEFAULT 0.05, max_moves int DEFAULT NULL,
	OUT slot int, OUT from_node int, OUT to_node int) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'shardkit_plan_moves' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION plan_moves(int[], boolean[], bigint[], float8[], boolean[], float8, int) IS
'the moves that even out these slots: owners and nodes are subscripts of weights (from 1), slots count from 0; loads null: by number of slots';

CREATE FUNCTION plan_ranges(owners int[], moving boolean[], loads bigint[], weights float8[],
	draining boolean[], tolerance float8 DEFAULT 0.05,
	OUT node int, OUT lowest bigint, OUT highest bigint, OUT lower_bound bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'shardkit_plan_ranges' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION plan_ranges(int[], boolean[], bigint[], float8[], boolean[], float8) IS
'what each node may hold when loads count as even, and the volume below which no plan brings all nodes there';

CREATE FUNCTION slot_expression(map text, key text) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT CASE
	WHEN m.hash = 'postgres' THEN format('shardkit.partition_slot(%s, %s)', m.slots, slot_expression.key)
	WHEN m.hash LIKE '%(%' THEN format('shardkit.modulo(%s((%s)::pg_catalog.text), %s)',
		regexp_replace(m.hash, '[[:space:]]*[(][^(]*[)][[:space:]]*$', ''), slot_expression.key, m.slots)
	ELSE format('shardkit.modulo(shardkit.hash64((%s)::pg_catalog.text, %L), %s)',
		slot_expression.key, m.hash, m.slots)
	END
FROM shardkit.map AS m WHERE m.name = slot_expression.map
$$;
COMMENT ON FUNCTION slot_expression(text, text) IS
'SQL expression for the slot of a row of a map''s table, from the names of its key columns; an index on it makes moves and checks of few slots fast';

CREATE FUNCTION shardkit_internal.key_text(key text) RETURNS text
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
-- A comma in a quoted name makes a row of one: still right, in parentheses.
SELECT CASE WHEN key ~ ',' THEN format('ROW(%s)::pg_catalog.text', key)
	ELSE format('(%s)::pg_catalog.text', key) END
$$;
COMMENT ON FUNCTION shardkit_internal.key_text(text) IS 'SQL expression for a row''s key as one text';

-- The parts of a row as they are stored, large values by what they take outside the row.
CREATE FUNCTION shardkit_internal.row_bytes_expression(relation regclass) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT '24' || coalesce(string_agg(
	format(' + coalesce(pg_catalog.pg_column_size(%I), 0)', a.attname), '' ORDER BY a.attnum), '')
FROM pg_attribute AS a
WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION shardkit_internal.row_bytes_expression(regclass) IS
'SQL expression for the bytes that a row of this table takes';

CREATE FUNCTION shardkit_internal.slot_partitions(parent regclass,
	OUT slot int, OUT partition_table regclass, OUT server name) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'remainder ([0-9]+)')::int,
	c.oid::regclass, s.srvname
FROM pg_inherits AS i
	JOIN pg_class AS c ON c.oid = i.inhrelid
	LEFT JOIN pg_foreign_table AS f ON f.ftrelid = c.oid
	LEFT JOIN pg_foreign_server AS s ON s.oid = f.ftserver
WHERE i.inhparent = parent AND c.relpartbound IS NOT NULL
	AND pg_get_expr(c.relpartbound, c.oid) ~ 'remainder [0-9]+'
$$;
COMMENT ON FUNCTION shardkit_internal.slot_partitions(regclass) IS
'partitions of a hash-partitioned table by remainder, with the server of those that are foreign tables';

CREATE FUNCTION slot_counts(map text,
	OUT relation text, OUT node text, OUT slot int, OUT rows bigint, OUT bytes bigint)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	remote record;
	answer text[];
BEGIN
	-- Tables of the kind per_node: one scan each.
	FOR part IN
		SELECT t.relation, t.key, n.name, to_regclass(format('%I.%s', n.schema, t.relation)) AS found
		FROM shardkit.map_table AS t JOIN shardkit.node AS n ON n.map = t.map
		WHERE t.map = slot_counts.map AND t.kind = 'per_node' AND n.server IS NULL
		ORDER BY t.relation, n.name
	LOOP
		CONTINUE WHEN part.found IS NULL;
		RETURN QUERY EXECUTE format(
			'SELECT $1, $2, %s, count(*), sum(%s)::bigint FROM %s GROUP BY 3',
			shardkit.slot_expression(slot_counts.map, part.key),
			shardkit_internal.row_bytes_expression(part.found), part.found)
			USING part.relation, part.name;
	END LOOP;

	-- Local partitions of the kind per_slot.
	FOR part IN
		SELECT t.relation, s.node, p.slot, p.partition_table
		FROM shardkit.map_table AS t
			CROSS JOIN LATERAL shardkit_internal.slot_partitions(to_regclass(t.relation)) AS p
			LEFT JOIN shardkit.slot_map AS s ON s.map = t.map AND s.slot = p.slot
		WHERE t.map = slot_counts.map AND t.kind = 'per_slot' AND p.server IS NULL
	LOOP
		RETURN QUERY EXECUTE format(
			'SELECT $1, $2, $3, count(*), coalesce(sum(%s), 0)::bigint FROM %s',
			shardkit_internal.row_bytes_expression(part.partition_table), part.partition_table)
			USING part.relation, part.node, part.slot;
	END LOOP;

	-- Foreign ones are counted where they lie, one statement a server.
	FOR remote IN
		SELECT p.server, string_agg(format(
			'SELECT %L AS relation, %L AS node, %s AS slot, count(*), coalesce(sum(%s), 0)::bigint FROM %s',
			t.relation, s.node, p.slot, shardkit_internal.row_bytes_expression(p.partition_table),
			shardkit_internal.remote_name(p.partition_table)), ' UNION ALL ') AS statement
		FROM shardkit.map_table AS t
			CROSS JOIN LATERAL shardkit_internal.slot_partitions(to_regclass(t.relation)) AS p
			LEFT JOIN shardkit.slot_map AS s ON s.map = t.map AND s.slot = p.slot
		WHERE t.map = slot_counts.map AND t.kind = 'per_slot' AND p.server IS NOT NULL
		GROUP BY p.server
	LOOP
		FOR answer IN SELECT a FROM shardkit.ask_server(remote.server, remote.statement) AS a LOOP
			relation := answer[1];
			node := answer[2];
			slot := answer[3];
			rows := answer[4];
			bytes := answer[5];
			RETURN NEXT;
		END LOOP;
	END LOOP;
END
$$;
COMMENT ON FUNCTION slot_counts(text) IS
'rows and bytes of each slot on each node, counted over the tables of a map as the caller';

CREATE FUNCTION shardkit_internal.plan_input(map text, OUT nodes text[], OUT weights float8[],
	OUT draining boolean[], OUT owners int[], OUT moving boolean[],
	OUT slot_rows bigint[], OUT slot_bytes bigint[]) RETURNS record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
	PERFORM shardkit_internal.check_map(plan_input.map);
	SELECT array_agg(n.name ORDER BY n.name COLLATE "C"),
		array_agg(n.weight ORDER BY n.name COLLATE "C"),
		array_agg(n.state = 'draining' ORDER BY n.name COLLATE "C")
	INTO nodes, weights, draining
	FROM shardkit.node AS n WHERE n.map = plan_input.map;

	WITH counted AS MATERIALIZED (
		SELECT c.slot, c.node, sum(c.rows)::bigint AS rows, sum(c.bytes)::bigint AS bytes
		FROM shardkit.slot_counts(plan_input.map) AS c GROUP BY c.slot, c.node),
	-- A slot in transit counts where it goes to.
	placed AS (
		SELECT s.slot, n.number, s.moving_to IS NOT NULL AS moving,
			coalesce(c.rows, 0) AS rows, coalesce(c.bytes, 0) AS bytes
		FROM shardkit.slot_map AS s
			LEFT JOIN unnest(plan_input.nodes) WITH ORDINALITY AS n (name, number)
				ON n.name = coalesce(s.moving_to, s.node)
			LEFT JOIN counted AS c ON c.slot = s.slot AND c.node = s.node
		WHERE s.map = plan_input.map)
	SELECT array_agg(p.number::int ORDER BY p.slot), array_agg(p.moving ORDER BY p.slot),
		array_agg(p.rows ORDER BY p.slot), array_agg(p.bytes ORDER BY p.slot)
	INTO owners, moving, slot_rows, slot_bytes
	FROM placed AS p;
END
$$;
COMMENT ON FUNCTION shardkit_internal.plan_input(text) IS
'a map and the load of its slots as the arrays that plan_moves takes';

-- What the plan evens out: null stands for the number of slots.
CREATE FUNCTION shardkit_internal.plan_loads(by_what text, slot_rows bigint[], slot_bytes bigint[]) RETURNS bigint[]
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
	IF by_what IS NULL OR by_what NOT IN ('slots', 'rows', 'bytes') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('slots are planned by slots, rows or bytes, not by %s', quote_nullable(by_what)),
			HINT = 'by_what is one of slots, rows, bytes.';
	END IF;
	RETURN CASE by_what WHEN 'rows' THEN slot_rows WHEN 'bytes' THEN slot_bytes END;
END
$$;
COMMENT ON FUNCTION shardkit_internal.plan_loads(text, bigint[], bigint[]) IS
'the loads that plan_moves evens out; null for the number of slots';

CREATE FUNCTION plan_rebalance(map text, by_what text DEFAULT 'slots',
	tolerance float8 DEFAULT 0.05, max_moves int DEFAULT NULL,
	OUT slot int, OUT from_node text, OUT to_node text, OUT rows bigint, OUT bytes bigint)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	input record;
	loads bigint[];
BEGIN
	PERFORM shardkit_internal.plan_loads(by_what, NULL, NULL);
	input := shardkit_internal.plan_input(plan_rebalance.map);
	loads := shardkit_internal.plan_loads(by_what, input.slot_rows, input.slot_bytes);
	RETURN QUERY
		SELECT m.slot, input.nodes[m.from_node], input.nodes[m.to_node],
			input.slot_rows[m.slot + 1], input.slot_bytes[m.slot + 1]
		FROM shardkit.plan_moves(input.owners, input.moving, loads,
				coalesce(input.weights, '{}'), coalesce(input.draining, '{}'), tolerance, max_moves)
			WITH ORDINALITY AS m (slot, from_node, to_node, number)
		ORDER BY m.number;
END
$$;
COMMENT ON FUNCTION plan_rebalance(text, text, float8, int) IS
'the slots that should move, the most useful first, with their rows and bytes: by slots the fewest, by rows or bytes little more than the smallest volume that brings each node within tolerance of its share';

CREATE FUNCTION plan_summary(map text, by_what text DEFAULT 'slots',
	tolerance float8 DEFAULT 0.05, max_moves int DEFAULT NULL,
	OUT node text, OUT weight float8, OUT slots_before bigint, OUT slots_after bigint,
	OUT rows_before bigint, OUT rows_after bigint, OUT bytes_before bigint, OUT bytes_after bigint,
	OUT lowest bigint, OUT highest bigint, OUT moved bigint, OUT lower_bound bigint,
	OUT largest_slot int, OUT floor_over_mean float8, OUT note text)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	input record;
	loads bigint[];
	ones bigint[];
BEGIN
	PERFORM shardkit_internal.plan_loads(by_what, NULL, NULL);
	input := shardkit_internal.plan_input(plan_summary.map);
	loads := shardkit_internal.plan_loads(by_what, input.slot_rows, input.slot_bytes);
	ones := coalesce(loads, array_fill(1::bigint, ARRAY[cardinality(input.owners)]));
	RETURN QUERY
	WITH moves AS MATERIALIZED (
		SELECT m.* FROM shardkit.plan_moves(input.owners, input.moving, loads,
			coalesce(input.weights, '{}'), coalesce(input.draining, '{}'), tolerance, max_moves) AS m),
	slots AS MATERIALIZED (
		SELECT s.number - 1 AS slot, s.owner AS before, coalesce(m.to_node, s.owner) AS after,
			s.slot_rows, s.slot_bytes, s.load
		FROM unnest(input.owners, input.slot_rows, input.slot_bytes, ones)
				WITH ORDINALITY AS s (owner, slot_rows, slot_bytes, load, number)
			LEFT JOIN moves AS m ON m.slot = s.number - 1
		WHERE s.owner IS NOT NULL),
	-- By slots the share is rounded, not stretched by the tolerance.
	ranges AS (
		SELECT r.* FROM shardkit.plan_ranges(input.owners, input.moving, ones, input.weights,
			input.draining, CASE WHEN loads IS NULL THEN 0 ELSE tolerance END) AS r),
	totals AS (
		SELECT n.number::int AS number, n.name, n.weight, r.lowest, r.highest, r.lower_bound,
			count(s.slot) FILTER (WHERE s.before = n.number) AS slots_before,
			count(s.slot) FILTER (WHERE s.after = n.number) AS slots_after,
			coalesce(sum(s.slot_rows) FILTER (WHERE s.before = n.number), 0)::bigint AS rows_before,
			coalesce(sum(s.slot_rows) FILTER (WHERE s.after = n.number), 0)::bigint AS rows_after,
			coalesce(sum(s.slot_bytes) FILTER (WHERE s.before = n.number), 0)::bigint AS bytes_before,
			coalesce(sum(s.slot_bytes) FILTER (WHERE s.after = n.number), 0)::bigint AS bytes_after,
			coalesce(sum(s.load) FILTER (WHERE s.after = n.number), 0)::bigint AS load_after,
			coalesce(sum(s.load) FILTER (WHERE s.after = n.number AND s.before <> n.number), 0)::bigint AS comes,
			coalesce(sum(s.load) FILTER (WHERE s.before = n.number AND s.after <> n.number), 0)::bigint AS goes
		FROM unnest(input.nodes, input.weights) WITH ORDINALITY AS n (name, weight, number)
			JOIN ranges AS r ON r.node = n.number
			LEFT JOIN slots AS s ON n.number IN (s.before, s.after)
		GROUP BY n.number, n.name, n.weight, r.lowest, r.highest, r.lower_bound),
	fewest AS (
		SELECT count(*) AS fewest FROM shardkit.plan_moves(input.owners, input.moving, NULL,
			input.weights, input.draining)),
	largest AS (
		SELECT s.slot, s.load,
			s.load / nullif((SELECT sum(load) FROM slots)::float8
				* (SELECT max(w.weight) / sum(w.weight)
					FROM unnest(input.weights, input.draining) AS w (weight, draining)
					WHERE NOT w.draining), 0) AS over_mean
		FROM slots AS s ORDER BY s.load DESC, s.slot LIMIT 1)
	SELECT t.name, t.weight, t.slots_before, t.slots_after, t.rows_before, t.rows_after,
		t.bytes_before, t.bytes_after, t.lowest, t.highest, t.comes + t.goes, NULL::bigint,
		NULL::int, NULL::float8,
		CASE WHEN t.load_after > t.highest THEN format('%s too many', t.load_after - t.highest)
			WHEN t.load_after < t.lowest THEN format('%s too few', t.lowest - t.load_after)
			ELSE 'even' END
	FROM totals AS t
	UNION ALL
	SELECT NULL, sum(t.weight), sum(t.slots_before)::bigint, sum(t.slots_after)::bigint,
		sum(t.rows_before)::bigint, sum(t.rows_after)::bigint, sum(t.bytes_before)::bigint,
		sum(t.bytes_after)::bigint, NULL, NULL, sum(t.comes)::bigint,
		CASE WHEN loads IS NULL THEN f.fewest ELSE max(t.lower_bound) END,
		max(l.slot)::int, max(l.over_mean),
		format('%s of %s slots move, %s of %s %s', (SELECT count(*) FROM moves), sum(t.slots_before),
			sum(t.comes), (SELECT sum(load) FROM slots), by_what)
			|| format('; no plan moves less than %s',
				CASE WHEN loads IS NULL THEN f.fewest ELSE max(t.lower_bound) END)
			|| CASE WHEN max(l.over_mean) > 1 + tolerance AND loads IS NOT NULL
				THEN format('; slot %s alone is %s times the largest fair share: its node cannot hold less',
					max(l.slot), round(max(l.over_mean)::numeric, 2))
				ELSE '' END
	FROM totals AS t LEFT JOIN largest AS l ON true CROSS JOIN fewest AS f
	GROUP BY f.fewest
	ORDER BY 1 NULLS LAST;
END
$$;
COMMENT ON FUNCTION plan_summary(text, text, float8, int) IS
'every node before and after the plan, and a last row (node null) with what moves, the least that any plan moves, and what the largest slot alone forces (its load over the largest fair share)';
