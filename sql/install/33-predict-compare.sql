-- ------------------------------------------------------------------------------------------
-- Predict: strategies side by side
-- ------------------------------------------------------------------------------------------

CREATE TYPE strategy_comparison AS (
	strategy text, rows_moved bigint, share_moved float8, expected_share float8, times_minimum float8,
	smallest_share float8, largest_share float8, largest_over_smallest float8, largest_over_mean float8
);
COMMENT ON TYPE strategy_comparison IS 'what a change of the number of nodes moves under one strategy, and how even it leaves them';

CREATE FUNCTION shardkit_internal.predict_strategies(nodes_before int, nodes_after int, vnodes int, slots int)
	RETURNS TABLE (place int, strategy text, old_layout layout, new_layout layout)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	fewer int := least(nodes_before, nodes_after);
	more int := greatest(nodes_before, nodes_after);
	split shardkit.layout;
	dealt shardkit.layout;
BEGIN
	IF nodes_before IS NULL OR nodes_after IS NULL OR vnodes IS NULL OR slots IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'numbers of nodes, vnodes and slots must not be null';
	END IF;
	IF fewer < 1 OR more > 1000 THEN
		RAISE invalid_parameter_value USING MESSAGE = format('strategies are compared for 1 to 1000 nodes, not %s and %s', nodes_before, nodes_after);
	END IF;
	-- Ranges that are split: the largest part is halved for each new node, the first of equal ones.
	split := format('ranges(%s)', fewer);
	FOR i IN fewer .. more - 1 LOOP
		split := shardkit.layout_split(split,
			(SELECT n.node FROM shardkit.layout_nodes(split) WITH ORDINALITY AS n(node, weight, share, place)
			ORDER BY n.share DESC, n.place LIMIT 1), format('node-%s', i));
	END LOOP;
	dealt := format('slots(%s; slots=%s)', nodes_before, slots);
	FOR i IN nodes_before .. nodes_after - 1 LOOP
		dealt := shardkit.layout_add(dealt, format('node-%s', i));
	END LOOP;
	FOR i IN REVERSE nodes_before - 1 .. nodes_after LOOP
		dealt := shardkit.layout_remove(dealt, format('node-%s', i));
	END LOOP;
	RETURN QUERY SELECT s.place, s.strategy, s.old_layout::shardkit.layout, s.new_layout::shardkit.layout FROM (VALUES
		(1, 'modulo', format('modulo(%s)', nodes_before), format('modulo(%s)', nodes_after)),
		(2, 'ranges, redrawn', format('ranges(%s)', nodes_before), format('ranges(%s)', nodes_after)),
		(3, 'ranges, split', CASE WHEN nodes_before <= nodes_after THEN format('ranges(%s)', fewer) ELSE split::text END,
			CASE WHEN nodes_before <= nodes_after THEN split::text ELSE format('ranges(%s)', fewer) END),
		(4, format('ring, %s vnodes', vnodes), format('ring(%s; vnodes=%s)', nodes_before, vnodes), format('ring(%s; vnodes=%s)', nodes_after, vnodes)),
		(5, format('slots, %s', slots), format('slots(%s; slots=%s)', nodes_before, slots), dealt::text),
		(6, 'rendezvous', format('rendezvous(%s)', nodes_before), format('rendezvous(%s)', nodes_after)),
		(7, 'jump', format('jump(%s)', nodes_before), format('jump(%s)', nodes_after))
	) AS s(place, strategy, old_layout, new_layout);
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_strategies(int, int, int, int) IS 'the pairs of layouts that are compared';

CREATE FUNCTION shardkit_internal.predict_comparison(counts bytea, plan bytea, places int[], strategies text[], old_layouts layout[], new_layouts layout[],
		nodes_before int, nodes_after int) RETURNS SETOF strategy_comparison
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	minimum float8 := abs(nodes_before - nodes_after)::float8 / greatest(nodes_before, nodes_after);
	total bigint := (SELECT coalesce(sum(f.rows), 0) FROM shardkit_internal.tally_flows(counts, plan) AS f WHERE f.pair = 1);
	hot record;
BEGIN
	RETURN QUERY
	WITH flows AS MATERIALIZED (
		SELECT f.* FROM shardkit_internal.tally_flows(counts, plan) AS f
	), moved AS (
		SELECT f.pair, sum(f.rows) FILTER (WHERE f.from_node <> f.to_node) AS rows FROM flows AS f GROUP BY f.pair
	), held AS (
		SELECT f.pair, f.to_node, sum(f.rows) AS rows FROM flows AS f GROUP BY f.pair, f.to_node
	), even AS (
		-- A node that holds nothing does not occur among the flows.
		SELECT p.place, max(coalesce(h.rows, 0))::float8 AS largest, min(coalesce(h.rows, 0))::float8 AS smallest
		FROM unnest(places) AS p(place) CROSS JOIN generate_series(0, nodes_after - 1) AS n
		LEFT JOIN held AS h ON h.pair = p.place AND h.to_node = 'node-' || n GROUP BY p.place
	)
	SELECT strategies[e.place], coalesce(m.rows, 0)::bigint, shardkit_internal.predict_round(coalesce(m.rows, 0)::float8 / nullif(total, 0), 4),
		shardkit_internal.predict_round(shardkit.layout_churn(old_layouts[e.place], new_layouts[e.place]), 4),
		shardkit_internal.predict_round(coalesce(m.rows, 0)::float8 / nullif(total, 0) / nullif(minimum, 0), 2),
		shardkit_internal.predict_round(e.smallest / nullif(total, 0), 4), shardkit_internal.predict_round(e.largest / nullif(total, 0), 4),
		shardkit_internal.predict_round(e.largest / nullif(e.smallest, 0), 2), shardkit_internal.predict_round(e.largest * nodes_after / nullif(total, 0), 2)
	FROM even AS e LEFT JOIN moved AS m ON m.pair = e.place ORDER BY e.place;

	SELECT l.key, l.rows INTO hot FROM shardkit_internal.tally_largest(counts, plan) AS l ORDER BY l.rows DESC, l.key COLLATE "C" LIMIT 1;
	PERFORM shardkit_internal.predict_tell_floor(hot.key, hot.rows, total, nodes_after);
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_comparison(bytea, bytea, int[], text[], layout[], layout[], int, int) IS 'the comparison from counts';

CREATE FUNCTION compare_strategies(relation regclass, key text, nodes_before int, nodes_after int,
		vnodes int DEFAULT 128, slots int DEFAULT 1024,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS SETOF strategy_comparison
	LANGUAGE plpgsql
AS $$
DECLARE
	s record;
	plan bytea;
BEGIN
	SELECT pg_catalog.array_agg(p.place ORDER BY p.place) AS places, pg_catalog.array_agg(p.strategy ORDER BY p.place) AS strategies,
		pg_catalog.array_agg(p.old_layout ORDER BY p.place) AS old_layouts, pg_catalog.array_agg(p.new_layout ORDER BY p.place) AS new_layouts
	INTO s FROM shardkit_internal.predict_strategies(nodes_before, nodes_after, vnodes, slots) AS p;
	plan := shardkit_internal.tally_plan(s.old_layouts, s.new_layouts);
	RETURN QUERY SELECT c.* FROM shardkit_internal.predict_comparison(
		shardkit_internal.predict_counts(relation, key, plan, count_keys, sample_percent, hash, weight), plan,
		s.places, s.strategies, s.old_layouts, s.new_layouts, nodes_before, nodes_after) AS c;
END $$;
COMMENT ON FUNCTION compare_strategies(regclass, text, int, int, int, int, boolean, float8, text, text) IS
'what a change of the number of nodes moves under each placement strategy, all counted in one pass over the table';

