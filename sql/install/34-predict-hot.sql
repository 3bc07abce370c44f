-- ------------------------------------------------------------------------------------------
-- Predict: keys that are larger than a node's even part
-- ------------------------------------------------------------------------------------------

CREATE TYPE hot_key AS (
	key text, rows bigint, share float8, over_average_node float8, weight float8
);
COMMENT ON TYPE hot_key IS 'a key with many rows; over_average_node is their number over that of an average node';

CREATE FUNCTION shardkit_internal.predict_hot_queries(relation regclass, key text, sample_percent float8, weight text,
		OUT candidates text, OUT recount text)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	columns text[];
	source text;
BEGIN
	PERFORM shardkit_internal.predict_check(relation, false, sample_percent);
	columns := (shardkit_internal.predict_key(relation, key)).columns;
	-- Both passes see the same sample.
	source := shardkit_internal.predict_name(relation) || ' AS t' || shardkit_internal.predict_sample(sample_percent);
	candidates := format('SELECT shardkit_internal.heavy_hashes(%s) FROM %s', array_to_string(columns, ', '), source);
	-- The query answers the rows of hot_keys itself: a loop over it would not be planned in parallel.
	recount := format('SELECT %1$s, g.rows, shardkit_internal.predict_round(g.rows::pg_catalog.float8 OPERATOR(pg_catalog./) $3, 6), '
		'shardkit_internal.predict_round(g.rows::pg_catalog.float8 OPERATOR(pg_catalog.*) $4 OPERATOR(pg_catalog./) $3, 4), g.weight '
		'FROM (SELECT %2$s, pg_catalog.count(*) AS rows, pg_catalog.sum(%3$s) AS weight '
		'FROM %4$s WHERE shardkit_internal.is_heavy($1, %5$s) GROUP BY %6$s) AS g ORDER BY g.rows DESC, %1$s COLLATE pg_catalog."C" LIMIT $2',
		CASE cardinality(columns) WHEN 1 THEN 'g.k1::pg_catalog.text'
			ELSE (SELECT format('ROW(%s)::pg_catalog.text', string_agg('g.k' || i, ', ' ORDER BY i)) FROM generate_subscripts(columns, 1) AS i) END,
		(SELECT string_agg(format('%s AS k%s', c, i), ', ' ORDER BY i) FROM unnest(columns) WITH ORDINALITY AS u(c, i)),
		shardkit_internal.predict_weight(relation, weight), source, array_to_string(columns, ', '),
		(SELECT string_agg(i::text, ', ' ORDER BY i) FROM generate_subscripts(columns, 1) AS i));
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_hot_queries(regclass, text, float8, text) IS
'SQL text of the two passes of hot_keys';

CREATE FUNCTION hot_keys(relation regclass, key text, top int DEFAULT 10, nodes int DEFAULT 8,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS SETOF hot_key
	LANGUAGE plpgsql
AS $$
DECLARE
	q record;
	found bigint[];
BEGIN
	IF key IS NULL OR top IS NULL OR nodes IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'key, top and nodes must not be null';
	END IF;
	IF top OPERATOR(pg_catalog.<) 1 OR top OPERATOR(pg_catalog.>) 500 OR nodes OPERATOR(pg_catalog.<) 1 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'top must be 1 to 500, nodes at least 1';
	END IF;
	SELECT h.candidates, h.recount INTO q FROM shardkit_internal.predict_hot_queries(relation, key, sample_percent, weight) AS h;
	EXECUTE q.candidates INTO found;
	RETURN QUERY EXECUTE q.recount USING found[2:], top, found[1], nodes;
END $$;
COMMENT ON FUNCTION hot_keys(regclass, text, int, int, boolean, float8, text, text) IS
'keys with the most rows, counted exactly; none above 0.2 % of the rows can be missing';

CREATE TYPE salting_prediction AS (
	copies int, nodes_hit int, hottest_share float8, over_mean float8, reads_per_read int
);
COMMENT ON TYPE salting_prediction IS 'how even a layout is when one key is split into several';

CREATE FUNCTION shardkit_internal.predict_salt_queries(relation regclass, key text, hot_key text, hash text, sample_percent float8, weight text,
		OUT hot_rows text, OUT salted text)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	k record;
	literal text;
BEGIN
	IF hot_key IS NULL OR key IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'key and hot_key must not be null';
	END IF;
	SELECT * INTO k FROM shardkit_internal.predict_key(relation, key);
	IF cardinality(k.columns) <> 1 THEN
		RAISE feature_not_supported USING MESSAGE = 'only a key of one column can be salted',
			HINT = 'A key of two columns is salted already: its second column is the salt.';
	END IF;
	literal := format('%L::%s', hot_key, (SELECT format('%I.%I', n.nspname, t.typname)
		FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace WHERE t.oid = k.types[1]));
	-- record_eq finds the type's own equality under any search_path; CASE gives the literal the column's collation.
	hot_rows := format('SELECT pg_catalog.count(*) AS rows, coalesce(pg_catalog.sum(%1$s), 0) AS weight FROM %2$s AS t%3$s'
		' WHERE pg_catalog.record_eq(ROW(%4$s), ROW(CASE WHEN true THEN %5$s ELSE %4$s END))',
		shardkit_internal.predict_weight(relation, weight), shardkit_internal.predict_name(relation),
		shardkit_internal.predict_sample(sample_percent), k.columns[1], literal);
	-- Copy 0 stays where the key is; a salt column that is NULL adds nothing to the hash.
	IF hash = 'postgres' THEN
		salted := format('SELECT CASE WHEN $1 OPERATOR(pg_catalog.=) 0 THEN shardkit.partition_hash(%s) ELSE shardkit.partition_hash(%1$s, $1) END', literal);
	ELSIF hash IN ('md5', 'sha1', 'sha256', 'blake2b', 'xxh64', 'xxh3', 'murmur3', 'fnv1a') THEN
		salted := format('SELECT shardkit.hash64(CASE WHEN $1 OPERATOR(pg_catalog.=) 0 THEN %s::pg_catalog.text ELSE pg_catalog.concat(%1$s, ''#'', $1) END, %L)', literal, hash);
	ELSE
		RAISE feature_not_supported USING MESSAGE = 'salting is predicted for hash postgres and the algorithms of hash64 only';
	END IF;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_salt_queries(regclass, text, text, text, float8, text) IS
'SQL text that counts the hot key''s rows, and that hashes one of its copies';

CREATE FUNCTION shardkit_internal.predict_salting_rows(counts bytea, plan bytea, layout layout, hot float8, by_weight boolean, copies int[], hashes bigint[])
	RETURNS SETOF salting_prediction
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH held AS (
		SELECT n.node, coalesce(CASE WHEN by_weight THEN f.weight ELSE f.rows END, 0) AS load
		FROM shardkit_internal.predict_nodes(layout) AS n LEFT JOIN shardkit_internal.tally_flows(counts, plan) AS f ON f.from_node = n.node
	), salted AS (
		SELECT k.copies, k.place, shardkit.place(layout, hashes[i]) AS node, count(*) AS parts
		FROM unnest(copies) WITH ORDINALITY AS k(copies, place), generate_series(1, least(k.copies, cardinality(hashes))) AS i GROUP BY 1, 2, 3
	), loads AS (
		SELECT k.copies, k.place, h.node, s.parts,
			h.load - CASE WHEN h.node = shardkit.place(layout, hashes[1]) THEN hot ELSE 0 END
				+ hot * coalesce(s.parts, 0) / k.copies AS load
		FROM unnest(copies) WITH ORDINALITY AS k(copies, place) CROSS JOIN held AS h
		LEFT JOIN salted AS s ON s.place = k.place AND s.node = h.node
	)
	SELECT l.copies, count(l.parts)::int, shardkit_internal.predict_round(max(l.load) / nullif(sum(l.load), 0), 4),
		shardkit_internal.predict_round(max(l.load) * count(*) / nullif(sum(l.load), 0), 2), l.copies
	FROM loads AS l GROUP BY l.copies, l.place ORDER BY l.place
$$;
COMMENT ON FUNCTION shardkit_internal.predict_salting_rows(bytea, bytea, layout, float8, boolean, int[], bigint[]) IS 'salting from counts';

CREATE FUNCTION predict_salting(relation regclass, key text, hot_key text, copies int[], layout layout,
		count_keys boolean DEFAULT false, sample_percent float8 DEFAULT 100,
		hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS SETOF salting_prediction
	LANGUAGE plpgsql
AS $$
DECLARE
	plan bytea := shardkit_internal.tally_plan(ARRAY[layout], ARRAY[NULL::shardkit.layout]);
	q record;
	hot record;
	hashes bigint[];
	one bigint;
	counts bytea;
	seed text := pg_catalog.current_setting('shardkit.sample_seed', true);
BEGIN
	IF pg_catalog.array_ndims(copies) IS NULL OR pg_catalog.array_ndims(copies) OPERATOR(pg_catalog.<>) 1 OR 1 OPERATOR(pg_catalog.>) ANY (copies) OR 10000 OPERATOR(pg_catalog.<) ANY (copies) OR pg_catalog.array_position(copies, NULL) IS NOT NULL THEN
		RAISE invalid_parameter_value USING MESSAGE = 'copies must be a list of numbers from 1 to 10000';
	END IF;
	-- The key is counted in the blocks in which all keys are.
	IF seed IS NULL OR seed OPERATOR(pg_catalog.=) '' THEN
		PERFORM pg_catalog.set_config('shardkit.sample_seed', pg_catalog.random()::pg_catalog.text, true);
	END IF;
	SELECT s.hot_rows, s.salted INTO q FROM shardkit_internal.predict_salt_queries(relation, key, hot_key, hash, sample_percent, weight) AS s;
	counts := shardkit_internal.predict_counts(relation, key, plan, count_keys, sample_percent, hash, weight);
	EXECUTE q.hot_rows INTO hot;
	PERFORM pg_catalog.set_config('shardkit.sample_seed', seed, true);
	IF hot.rows OPERATOR(pg_catalog.=) 0 THEN
		RAISE NOTICE 'no row of % has the key "%"', relation, hot_key USING HINT = 'hot_keys lists the keys with the most rows.';
	END IF;
	FOR i IN 0 .. (SELECT pg_catalog.max(c.n) OPERATOR(pg_catalog.-) 1 FROM pg_catalog.unnest(copies) AS c(n)) LOOP
		EXECUTE q.salted INTO one USING i;
		hashes := pg_catalog.array_append(hashes, one);
	END LOOP;
	RETURN QUERY SELECT s.* FROM shardkit_internal.predict_salting_rows(counts, plan, layout,
		CASE WHEN weight IS NULL THEN hot.rows ELSE hot.weight END, weight IS NOT NULL, copies, hashes) AS s;
END $$;
COMMENT ON FUNCTION predict_salting(regclass, text, text, int[], layout, boolean, float8, text, text) IS
'what splitting one hot key into copies (a second key column, the salt) does to the hottest node, and what a read of it then costs';

