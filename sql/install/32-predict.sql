-- ------------------------------------------------------------------------------------------
-- Predict: what a change of layout moves, on the table's own rows
--
-- The functions that read the table have no search_path of their own and qualify everything; what
-- reckons with the counts afterwards has one.
-- ------------------------------------------------------------------------------------------

CREATE TYPE churn_prediction AS (
	rows bigint, rows_moved bigint, share_moved float8, expected_share float8,
	minimum_share float8, times_minimum float8, bytes_moved bigint, keys_moved bigint,
	weight_moved float8, null_keys bigint, nodes_before int, nodes_after int,
	smallest_share float8, largest_share float8, largest_over_mean float8, floor_over_mean float8,
	sampled_percent float8, share_low float8, share_high float8
);
COMMENT ON TYPE churn_prediction IS
'what a change of layout moves and how even it leaves the nodes; shares are fractions of the rows';

CREATE FUNCTION shardkit_internal.predict_round(value float8, digits int) RETURNS float8
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT round(value::numeric, digits)::float8 $$;
COMMENT ON FUNCTION shardkit_internal.predict_round(float8, int) IS 'a figure that people read';

CREATE FUNCTION shardkit_internal.predict_nodes(layout layout) RETURNS TABLE (node text, due float8, place bigint)
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT node, weight / sum(weight) OVER (), place
	FROM shardkit.layout_nodes(layout) WITH ORDINALITY AS n(node, weight, share, place) WHERE node <> '(none)'
$$;
COMMENT ON FUNCTION shardkit_internal.predict_nodes(layout) IS 'nodes of a layout and the share that each would have if it were even';

CREATE FUNCTION shardkit_internal.predict_tell_floor(largest_key text, largest_rows bigint, all_rows bigint, nodes bigint) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF largest_rows > all_rows::float8 / nodes THEN
		RAISE NOTICE 'key % alone holds % %% of the rows, % times the mean of % nodes: no layout gets below that, and more nodes do not help. Split the key (see predict_salting) or give it a node of its own.',
			left(largest_key, 100), round(100 * largest_rows::numeric / all_rows, 1),
			round(largest_rows::numeric * nodes / all_rows, 2), nodes;
	END IF;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_tell_floor(text, bigint, bigint, bigint) IS
'says in words when one key is larger than a node''s even part';

CREATE FUNCTION shardkit_internal.predict_report(counts bytea, plan bytea, old_layout layout, new_layout layout, relation regclass,
		count_keys boolean, sample_percent float8, weight text) RETURNS churn_prediction
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	answer shardkit.churn_prediction;
	sample record;
	hot record;
	all_blocks float8 := shardkit_internal.predict_blocks(relation);
BEGIN
	SELECT coalesce(sum(f.rows), 0), coalesce(sum(f.rows) FILTER (WHERE f.from_node <> f.to_node), 0),
		coalesce(sum(f.keys) FILTER (WHERE f.from_node <> f.to_node), 0),
		coalesce(sum(f.weight) FILTER (WHERE f.from_node <> f.to_node), 0)
	INTO answer.rows, answer.rows_moved, answer.keys_moved, answer.weight_moved
	FROM shardkit_internal.tally_flows(counts, plan) AS f;
	answer.keys_moved := CASE WHEN count_keys THEN answer.keys_moved END;
	answer.weight_moved := CASE WHEN weight IS NOT NULL THEN answer.weight_moved END;
	answer.share_moved := shardkit_internal.predict_round(answer.rows_moved::float8 / nullif(answer.rows, 0), 6);
	answer.expected_share := shardkit_internal.predict_round(shardkit.layout_churn(old_layout, new_layout), 6);
	answer.bytes_moved := shardkit_internal.predict_bytes(relation) * (answer.rows_moved::float8 / nullif(answer.rows, 0));

	SELECT shardkit_internal.predict_round(sum(greatest(0, n.due - coalesce(o.due, 0))), 6), count(o.node), count(n.node)
	INTO answer.minimum_share, answer.nodes_before, answer.nodes_after
	FROM shardkit_internal.predict_nodes(new_layout) AS n FULL JOIN shardkit_internal.predict_nodes(old_layout) AS o ON o.node = n.node;
	answer.times_minimum := shardkit_internal.predict_round(answer.share_moved / nullif(answer.minimum_share, 0), 2);

	SELECT shardkit_internal.predict_round(min(s.share), 6), shardkit_internal.predict_round(max(s.share), 6), shardkit_internal.predict_round(max(s.share / s.due), 3)
	INTO answer.smallest_share, answer.largest_share, answer.largest_over_mean
	FROM (SELECT n.due, coalesce(sum(f.rows), 0)::float8 / nullif(answer.rows, 0) AS share
		FROM shardkit_internal.predict_nodes(new_layout) AS n LEFT JOIN shardkit_internal.tally_flows(counts, plan) AS f ON f.to_node = n.node
		GROUP BY n.node, n.due) AS s;

	SELECT * INTO sample FROM shardkit_internal.tally_sample(counts, all_blocks);
	answer.null_keys := coalesce(sample.null_keys, 0);
	answer.sampled_percent := 100;
	answer.share_low := answer.share_moved;
	answer.share_high := answer.share_moved;
	IF sample_percent < 100 THEN
		answer.sampled_percent := shardkit_internal.predict_round(100 * coalesce(sample.blocks, 0) / nullif(all_blocks, 0), 4);
		answer.share_low := shardkit_internal.predict_round(sample.share_low, 6);
		answer.share_high := shardkit_internal.predict_round(sample.share_high, 6);
	END IF;

	IF count_keys THEN
		SELECT l.key, l.rows INTO hot FROM shardkit_internal.tally_largest(counts, plan) AS l ORDER BY l.rows DESC, l.key COLLATE "C" LIMIT 1;
		answer.floor_over_mean := shardkit_internal.predict_round(hot.rows::float8 * answer.nodes_after / nullif(answer.rows, 0), 4);
		PERFORM shardkit_internal.predict_tell_floor(hot.key, hot.rows, answer.rows, answer.nodes_after);
	END IF;
	RETURN answer;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_report(bytea, bytea, layout, layout, regclass, boolean, float8, text) IS
'a churn_prediction from counts';

CREATE FUNCTION predict_churn(relation regclass, key text, old_layout layout, new_layout layout,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS churn_prediction
	LANGUAGE plpgsql
AS $$
DECLARE
	plan bytea := shardkit_internal.tally_plan(ARRAY[old_layout], ARRAY[new_layout]);
BEGIN
	IF old_layout IS NULL OR new_layout IS NULL OR key IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'key and layouts must not be null';
	END IF;
	RETURN shardkit_internal.predict_report(
		shardkit_internal.predict_counts(relation, key, plan, count_keys, sample_percent, hash, weight),
		plan, old_layout, new_layout, relation, count_keys, sample_percent, weight);
END $$;
COMMENT ON FUNCTION predict_churn(regclass, text, layout, layout, boolean, float8, text, text) IS
'what moves when a table''s rows are placed by another layout, counted on its rows';

CREATE FUNCTION shardkit_internal.predict_modulo(modulus int) RETURNS layout
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF modulus IS NULL OR modulus NOT BETWEEN 1 AND 65535 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('modulus must be from 1 to 65535, not %s', coalesce(modulus::text, 'NULL')),
			HINT = 'It is the number of partitions that share the rows.';
	END IF;
	RETURN format('modulo(%s)', modulus)::shardkit.layout;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_modulo(int) IS 'one partition for each remainder, as a layout';

CREATE FUNCTION predict_modulus_change(parent regclass, new_modulus int,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100, weight text DEFAULT NULL) RETURNS churn_prediction
	LANGUAGE plpgsql
AS $$
DECLARE
	old_layout shardkit.layout := shardkit_internal.partition_layout(parent, NULL)::shardkit.layout;
	new_layout shardkit.layout := shardkit_internal.predict_modulo(new_modulus);
	plan bytea := shardkit_internal.tally_plan(ARRAY[old_layout], ARRAY[new_layout]);
BEGIN
	RETURN shardkit_internal.predict_report(
		shardkit_internal.predict_counts(parent, NULL, plan, count_keys, sample_percent, 'postgres', weight),
		plan, old_layout, new_layout, parent, count_keys, sample_percent, weight);
END $$;
COMMENT ON FUNCTION predict_modulus_change(regclass, int, boolean, float8, text) IS
'what moves when a hash-partitioned table, judged by its real bounds, gets one partition for each remainder of another modulus';

CREATE FUNCTION predict_modulus_change(relation regclass, key text, old_modulus int, new_modulus int,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS churn_prediction
	LANGUAGE sql
AS $$
	SELECT shardkit.predict_churn(relation, key, shardkit_internal.predict_modulo(old_modulus),
		shardkit_internal.predict_modulo(new_modulus), count_keys, sample_percent, hash, weight)
$$;
COMMENT ON FUNCTION predict_modulus_change(regclass, text, int, int, boolean, float8, text, text) IS
'what moves between two moduli, for a table that is not partitioned yet';

-- Results are row types: a column may then bear the name of an argument.

CREATE TYPE flow_prediction AS (
	from_node text, to_node text, rows bigint, bytes bigint, keys bigint, weight float8
);
COMMENT ON TYPE flow_prediction IS 'how many rows go from one node to another, or stay';

CREATE FUNCTION shardkit_internal.predict_flow_rows(counts bytea, plan bytea, old_layout layout, new_layout layout, relation regclass,
		count_keys boolean, weighted boolean) RETURNS SETOF flow_prediction
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.from_node, f.to_node, f.rows,
		round(shardkit_internal.predict_bytes(relation) * (f.rows / sum(f.rows) OVER ()))::bigint,
		CASE WHEN count_keys THEN f.keys END, CASE WHEN weighted THEN f.weight END
	FROM shardkit_internal.tally_flows(counts, plan) AS f
	LEFT JOIN shardkit_internal.predict_nodes(old_layout) AS o ON o.node = f.from_node
	LEFT JOIN shardkit_internal.predict_nodes(new_layout) AS n ON n.node = f.to_node
	ORDER BY o.place, n.place
$$;
COMMENT ON FUNCTION shardkit_internal.predict_flow_rows(bytea, bytea, layout, layout, regclass, boolean, boolean) IS 'flows from counts';

CREATE FUNCTION predict_flows(relation regclass, key text, old_layout layout, new_layout layout,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS SETOF flow_prediction
	LANGUAGE plpgsql
AS $$
DECLARE
	plan bytea := shardkit_internal.tally_plan(ARRAY[old_layout], ARRAY[new_layout]);
BEGIN
	RETURN QUERY SELECT f.* FROM shardkit_internal.predict_flow_rows(
		shardkit_internal.predict_counts(relation, key, plan, count_keys, sample_percent, hash, weight),
		plan, old_layout, new_layout, relation, count_keys, weight IS NOT NULL) AS f;
END $$;
COMMENT ON FUNCTION predict_flows(regclass, text, layout, layout, boolean, float8, text, text) IS
'from which node to which how many rows go; rows that stay are on the diagonal';

CREATE TYPE balance_prediction AS (
	node text, rows bigint, share float8, over_mean float8, bytes bigint, keys bigint, weight float8,
	largest_key text, largest_key_rows bigint, bar text
);
COMMENT ON TYPE balance_prediction IS 'what a node holds under a layout';

CREATE FUNCTION shardkit_internal.predict_balance_rows(counts bytea, plan bytea, layout layout, relation regclass,
		count_keys boolean, weighted boolean) RETURNS SETOF balance_prediction
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	hot record;
	total bigint := (SELECT coalesce(sum(f.rows), 0) FROM shardkit_internal.tally_flows(counts, plan) AS f);
BEGIN
	RETURN QUERY
	WITH held AS (
		SELECT n.node, n.place, n.due, coalesce(f.rows, 0) AS rows, coalesce(f.keys, 0) AS keys,
			coalesce(f.weight, 0) AS weight, coalesce(f.rows, 0)::float8 / nullif(total, 0) AS share
		FROM shardkit_internal.predict_nodes(layout) AS n LEFT JOIN shardkit_internal.tally_flows(counts, plan) AS f ON f.from_node = n.node
	)
	SELECT h.node, h.rows, shardkit_internal.predict_round(h.share, 6), shardkit_internal.predict_round(h.share / h.due, 3),
		round(shardkit_internal.predict_bytes(relation) * h.share)::bigint,
		CASE WHEN count_keys THEN h.keys END, CASE WHEN weighted THEN h.weight END, l.key, l.rows,
		repeat('#', round(30 * h.rows::numeric / nullif(max(h.rows) OVER (), 0))::int)
	FROM held AS h LEFT JOIN shardkit_internal.tally_largest(counts, plan) AS l ON l.node = h.node
	ORDER BY h.place;

	SELECT l.key, l.rows INTO hot FROM shardkit_internal.tally_largest(counts, plan) AS l ORDER BY l.rows DESC, l.key COLLATE "C" LIMIT 1;
	PERFORM shardkit_internal.predict_tell_floor(hot.key, hot.rows, total, (SELECT count(*) FROM shardkit_internal.predict_nodes(layout)));
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_balance_rows(bytea, bytea, layout, regclass, boolean, boolean) IS 'balance from counts';

CREATE FUNCTION predict_balance(relation regclass, key text, layout layout,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS SETOF balance_prediction
	LANGUAGE plpgsql
AS $$
DECLARE
	plan bytea := shardkit_internal.tally_plan(ARRAY[layout], ARRAY[NULL::shardkit.layout]);
BEGIN
	RETURN QUERY SELECT b.* FROM shardkit_internal.predict_balance_rows(
		shardkit_internal.predict_counts(relation, key, plan, count_keys, sample_percent, hash, weight),
		plan, layout, relation, count_keys, weight IS NOT NULL) AS b;
END $$;
COMMENT ON FUNCTION predict_balance(regclass, text, layout, boolean, float8, text, text) IS
'what each node would hold under a layout; over_mean 1 is what its weight asks for';

CREATE TYPE split_prediction AS (
	modulus int, remainder int, new_remainder int, rows_before bigint, rows_copied bigint, share_copied float8,
	rows_seen_in_transit bigint, largest_over_smallest float8
);
COMMENT ON TYPE split_prediction IS 'one hash partition split into two of twice its modulus';

CREATE FUNCTION shardkit_internal.predict_split_report(counts bytea, plan bytea, partition regclass, split_layout layout) RETURNS split_prediction
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	answer shardkit.split_prediction;
	bound text[] := (SELECT regexp_match(pg_get_expr(c.relpartbound, c.oid), 'modulus ([0-9]+), remainder ([0-9]+)', 'i') FROM pg_class AS c WHERE c.oid = partition);
	total bigint := (SELECT coalesce(sum(f.rows), 0) FROM shardkit_internal.tally_flows(counts, plan) AS f);
BEGIN
	answer.modulus := bound[1]::int;
	answer.remainder := bound[2]::int;
	answer.new_remainder := answer.remainder + answer.modulus;
	SELECT coalesce(sum(f.rows), 0), coalesce(sum(f.rows) FILTER (WHERE f.to_node <> f.from_node), 0)
	INTO answer.rows_before, answer.rows_copied
	FROM shardkit_internal.tally_flows(counts, plan) AS f WHERE f.from_node = 'node-' || answer.remainder;
	answer.share_copied := shardkit_internal.predict_round(answer.rows_copied::float8 / nullif(total, 0), 6);
	answer.rows_seen_in_transit := total + answer.rows_copied;
	SELECT shardkit_internal.predict_round(max(h.held) / nullif(min(h.held), 0), 3) INTO answer.largest_over_smallest
	FROM (SELECT coalesce(sum(f.rows), 0)::float8 AS held
		FROM shardkit_internal.predict_nodes(split_layout) AS n LEFT JOIN shardkit_internal.tally_flows(counts, plan) AS f ON f.to_node = n.node
		GROUP BY n.node) AS h;
	RETURN answer;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_split_report(bytea, bytea, regclass, layout) IS 'a split from counts';

CREATE FUNCTION shardkit_internal.predict_split_parent(partition regclass) RETURNS regclass
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	parent regclass := (SELECT i.inhparent FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
		WHERE i.inhrelid = partition AND c.relispartition);
BEGIN
	IF partition IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'partition must not be null';
	END IF;
	IF parent IS NULL OR (SELECT p.partstrat FROM pg_partitioned_table AS p WHERE p.partrelid = parent) <> 'h' THEN
		RAISE wrong_object_type USING MESSAGE = format('"%s" is not a hash partition', partition),
			HINT = 'Name a partition of a table that is partitioned by hash.';
	END IF;
	RETURN parent;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_split_parent(regclass) IS 'the hash-partitioned table of a partition';

CREATE FUNCTION predict_split(partition regclass) RETURNS split_prediction
	LANGUAGE plpgsql
AS $$
DECLARE
	parent regclass := shardkit_internal.predict_split_parent(partition);
	old_layout shardkit.layout := shardkit_internal.partition_layout(parent, NULL)::shardkit.layout;
	split_layout shardkit.layout := shardkit_internal.partition_layout(parent, partition)::shardkit.layout;
	plan bytea := shardkit_internal.tally_plan(ARRAY[old_layout], ARRAY[split_layout]);
BEGIN
	RETURN shardkit_internal.predict_split_report(
		shardkit_internal.predict_counts(parent, NULL, plan, false, 100, 'postgres', NULL), plan, partition, split_layout);
END $$;
COMMENT ON FUNCTION predict_split(regclass) IS
'what is copied when one hash partition is split into two of twice its modulus, and what count(*) shows while both copies are there';

