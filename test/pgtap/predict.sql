-- predictions are what counting by hand says, serial, parallel and sampled alike
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT plan(64);

CREATE TABLE rows_of (id bigint, tenant text, region int, cost int);
INSERT INTO rows_of SELECT i, 't' || (i::bigint * i % 1013), nullif(i % 4, 3), i % 10 FROM generate_series(1, 20000) AS i;
ANALYZE rows_of;

-- every kind of layout against every other
CREATE TABLE layouts AS SELECT row_number() OVER () AS n, l::shardkit.layout AS layout FROM unnest(ARRAY[
	'modulo(8)', 'jump(9)', 'ring(a, b*2, c; vnodes=16)', 'rendezvous(a, b*1.5, d)', 'slots(5; slots=72)',
	'ranges(7)', 'modulo(300)', 'jump(400)']) AS l;
CREATE TABLE pairs AS SELECT a.layout AS old_layout, b.layout AS new_layout
	FROM layouts AS a JOIN layouts AS b ON b.n = 1 + (a.n * 3 + 1) % 8;

CREATE FUNCTION pg_temp.by_hand(old_layout shardkit.layout, new_layout shardkit.layout)
	RETURNS TABLE (from_node text, to_node text, n bigint, cost bigint) LANGUAGE sql AS $$
	SELECT shardkit.place(old_layout, h), shardkit.place(new_layout, h), count(*), sum(r.cost)
	FROM rows_of AS r, LATERAL (SELECT shardkit.partition_hash(tenant, region) AS h) AS x GROUP BY 1, 2 $$;

SELECT set_eq(
	format('SELECT from_node, to_node, rows, weight::bigint FROM shardkit.predict_flows(''rows_of'', ''tenant, region'', %L, %L, weight => ''cost'')', old_layout, new_layout),
	format('SELECT * FROM pg_temp.by_hand(%L, %L)', old_layout, new_layout), old_layout || ' to ' || new_layout)
FROM pairs;
SELECT is(p.rows_moved, (SELECT coalesce(sum(n), 0) FROM pg_temp.by_hand(old_layout, new_layout) AS h WHERE from_node <> to_node)::bigint, 'moved, ' || old_layout || ' to ' || new_layout)
FROM pairs, shardkit.predict_churn('rows_of', 'tenant, region', old_layout, new_layout) AS p;
-- row sums are the counts before, column sums those after, diagonal and moved make the whole
SELECT ok(
	(SELECT bool_and(b.rows = coalesce((SELECT sum(f.rows) FROM shardkit.predict_flows('rows_of', 'tenant, region', old_layout, new_layout) AS f WHERE f.from_node = b.node), 0))
		FROM shardkit.predict_balance('rows_of', 'tenant, region', old_layout) AS b)
	AND (SELECT bool_and(b.rows = coalesce((SELECT sum(f.rows) FROM shardkit.predict_flows('rows_of', 'tenant, region', old_layout, new_layout) AS f WHERE f.to_node = b.node), 0))
		FROM shardkit.predict_balance('rows_of', 'tenant, region', new_layout) AS b), 'sums, ' || old_layout || ' to ' || new_layout)
FROM pairs;

-- keys counted: the same rows, and keys as by hand
SELECT is((p.rows, p.rows_moved, p.keys_moved, p.weight_moved), (q.rows, q.rows_moved, (SELECT count(DISTINCT (tenant, region)) FROM rows_of
	WHERE shardkit.place('ring(8)', shardkit.partition_hash(tenant, region)) <> shardkit.place('ring(9)', shardkit.partition_hash(tenant, region))), q.weight_moved),
	'counting keys changes nothing else')
FROM shardkit.predict_churn('rows_of', 'tenant, region', 'ring(8)', 'ring(9)', count_keys => true, weight => 'cost') AS p,
	shardkit.predict_churn('rows_of', 'tenant, region', 'ring(8)', 'ring(9)', weight => 'cost') AS q;
SELECT is(p.null_keys, (SELECT count(*) FROM rows_of WHERE tenant IS NULL OR region IS NULL), 'NULL keys apart')
FROM shardkit.predict_churn('rows_of', 'tenant, region', 'ring(8)', 'ring(9)') AS p;
SELECT results_eq($$SELECT node, largest_key_rows FROM shardkit.predict_balance('rows_of', 'tenant', 'jump(5)', count_keys => true)$$,
	$$SELECT node, max(n) FROM (SELECT shardkit.place('jump(5)', shardkit.partition_hash(tenant)) AS node, count(*) AS n FROM rows_of GROUP BY tenant) AS k GROUP BY 1, node ORDER BY 1$$,
	'the largest key of each node');

-- serial and parallel, and a parallel plan that is one
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON, VERBOSE) ' || query INTO answer;
	RETURN answer::text;
END $$;
CREATE FUNCTION pg_temp.prediction_plan(relation regclass, key text, VARIADIC options text[]) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.plan_of(replace(shardkit.predict_query(relation, key, weight => options[1]), '$1',
		quote_literal(shardkit_internal.tally_plan('{modulo(8)}', '{modulo(9)}')) || '::bytea')) $$;
SELECT matches(pg_temp.prediction_plan('rows_of', 'tenant', 'cost'), '"Partial Mode": "Partial".*PARTIAL shardkit_internal.tally', 'a Partial Aggregate of the prediction');
SELECT matches(pg_temp.plan_of($$SELECT shardkit.churn(shardkit.partition_hash(tenant), 'modulo(8)', 'modulo(9)') FROM rows_of$$),
	'"Partial Mode": "Partial".*PARTIAL shardkit.churn', 'a Partial Aggregate of churn');
SELECT matches(pg_temp.plan_of('SELECT shardkit_internal.heavy_hashes(tenant) FROM rows_of'), '"Partial Mode": "Partial"', 'a Partial Aggregate of heavy keys');
CREATE TEMP TABLE parallel_answers AS
	SELECT (SELECT array_agg(p) FROM pairs, shardkit.predict_churn('rows_of', 'tenant, region', old_layout, new_layout, weight => 'cost') AS p) AS churn,
		(SELECT array_agg(c) FROM shardkit.compare_strategies('rows_of', 'tenant', 8, 9) AS c) AS compared,
		(SELECT array_agg(h) FROM shardkit.hot_keys('rows_of', 'tenant') AS h) AS hot,
		(SELECT c FROM (SELECT shardkit.churn(shardkit.partition_hash(tenant), 'modulo(8)', 'modulo(9)', cost) AS c FROM rows_of) AS x) AS direct;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT ok(churn = (SELECT array_agg(p) FROM pairs, shardkit.predict_churn('rows_of', 'tenant, region', old_layout, new_layout, weight => 'cost') AS p), 'predict_churn: serial = parallel') FROM parallel_answers;
SELECT ok(compared = (SELECT array_agg(c) FROM shardkit.compare_strategies('rows_of', 'tenant', 8, 9) AS c), 'compare_strategies: serial = parallel') FROM parallel_answers;
SELECT ok(hot = (SELECT array_agg(h) FROM shardkit.hot_keys('rows_of', 'tenant') AS h), 'hot_keys: serial = parallel') FROM parallel_answers;
SELECT ok(direct = (SELECT shardkit.churn(shardkit.partition_hash(tenant), 'modulo(8)', 'modulo(9)', cost) FROM rows_of), 'churn: serial = parallel') FROM parallel_answers;

-- all seven strategies agree with each alone
SELECT results_eq($$SELECT rows_moved FROM shardkit.compare_strategies('rows_of', 'tenant', 5, 8, vnodes => 32, slots => 72)$$,
	$$SELECT p.rows_moved FROM shardkit_internal.predict_strategies(5, 8, 32, 72) AS s, shardkit.predict_churn('rows_of', 'tenant', s.old_layout, s.new_layout) AS p ORDER BY s.place$$,
	'compare_strategies is seven times predict_churn');
SELECT results_eq($$SELECT key, rows, weight FROM shardkit.hot_keys('rows_of', 'tenant', 20, weight => 'cost')$$,
	$$SELECT tenant, count(*), sum(cost)::float8 FROM rows_of GROUP BY tenant ORDER BY 2 DESC, tenant COLLATE "C" LIMIT 20$$, 'hot_keys, exactly');

-- a group each, and a window
SELECT is((SELECT sum((c).rows_moved) FROM (SELECT shardkit.churn(shardkit.partition_hash(tenant), 'modulo(8)', 'modulo(9)') AS c FROM rows_of GROUP BY region) AS g),
	(SELECT (shardkit.churn(shardkit.partition_hash(tenant), 'modulo(8)', 'modulo(9)')).rows_moved FROM rows_of)::numeric, 'churn by groups adds up');
SELECT is((SELECT max((c).rows) FROM (SELECT shardkit.churn(id, 'modulo(8)', 'modulo(9)') OVER (ORDER BY id) AS c FROM rows_of WHERE id <= 1000) AS w), 1000::bigint, 'churn as a window function');

-- the caller's rights
CREATE ROLE predict_reader;
CREATE ROLE predict_stranger;
GRANT SELECT (tenant) ON rows_of TO predict_reader;
SET LOCAL ROLE predict_reader;
SELECT lives_ok($$SELECT shardkit.predict_churn('rows_of', 'tenant', 'modulo(8)', 'modulo(9)', count_keys => true)$$, 'SELECT on the key is enough');
SELECT lives_ok($$SELECT shardkit.compare_strategies('rows_of', 'tenant', 8, 9), shardkit.hot_keys('rows_of', 'tenant')$$, 'also to compare and to find hot keys');
SELECT throws_ok($$SELECT shardkit.predict_churn('rows_of', 'region', 'modulo(8)', 'modulo(9)')$$, '42501', NULL, 'another column is not readable');
SELECT throws_ok($$SELECT shardkit.predict_churn('rows_of', 'tenant', 'modulo(8)', 'modulo(9)', weight => 'cost')$$, '42501', NULL, 'nor as a weight');
SET LOCAL ROLE predict_stranger;
SELECT throws_ok($$SELECT shardkit.predict_churn('rows_of', 'tenant', 'modulo(8)', 'modulo(9)')$$, '42501', NULL, 'a stranger reads nothing');
RESET ROLE;
ALTER TABLE rows_of ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON rows_of FOR SELECT TO predict_reader USING (tenant < 't5');
SET LOCAL ROLE predict_reader;
SELECT is(p.rows, (SELECT count(tenant) FROM rows_of), 'row security applies') FROM shardkit.predict_churn('rows_of', 'tenant', 'modulo(8)', 'modulo(9)') AS p;
SELECT cmp_ok(count(tenant), '<', 20000::bigint, 'and hides rows') FROM rows_of;
RESET ROLE;

-- a hot key is whatever its type calls equal, and a sample counts it where it counts the others
CREATE TABLE salted AS SELECT CASE WHEN i % 2 = 0 THEN (ARRAY['5', '5.0', '5.00'])[1 + i % 3]::numeric ELSE i END AS n,
	CASE WHEN i % 2 = 0 THEN 'pg_catalog.coalesce' ELSE 't' || i END::char(30) AS c, ARRAY[i % 2, nullif(i % 2, 0) * i] AS a FROM generate_series(1, 20000) AS i;
SELECT cmp_ok(s.hottest_share, '<', 0.2::float8, 'half of the rows are spread, hot key ' || hot)
FROM (VALUES ('n', '5'), ('n', '5.000'), ('c', 'pg_catalog.coalesce'), ('a', '{0,NULL}')) AS k(key, hot),
	LATERAL shardkit.predict_salting('salted', key, hot, '{1000}', 'modulo(8)') AS s;
CREATE TABLE one_key AS SELECT 7 AS k FROM generate_series(1, 50000);
SELECT is(count(DISTINCT s.hottest_share), 1::bigint, 'one key alone has the same share in every sample')
FROM generate_series(1, 10) AS i, LATERAL shardkit.predict_salting('one_key', 'k', '7', ARRAY[16 + 0 * i], 'modulo(8)', sample_percent => 20) AS s;
SELECT is(nullif(current_setting('shardkit.sample_seed', true), ''), NULL, 'whose seed is forgotten again');

-- wrong calls of what takes more than one form
SELECT throws_ok($$SELECT shardkit.predict_salting('rows_of', 'tenant', 't1', '{}', 'modulo(4)')$$, '22023', NULL, 'no numbers of copies');
SELECT throws_ok($$SELECT shardkit.predict_salting('rows_of', 'tenant', 't1', '{{1,2},{3,4}}', 'modulo(4)')$$, '22023', NULL, 'copies are a plain list');
SELECT throws_ok($$SELECT shardkit.predict_churn('rows_of', 'tenant', 'modulo(8)', 'modulo(9)', hash => 'no_route(text)')$$, '42883',
	'function no_route(text) does not exist', 'a hash function without its schema');

-- under a search_path full of traps
CREATE SCHEMA predict_trap;
SELECT format('CREATE FUNCTION predict_trap.spring(a %1$s, b %1$s) RETURNS boolean LANGUAGE plpgsql AS
	$$BEGIN RAISE EXCEPTION ''trapped''; END;$$', type)
FROM unnest(ARRAY['text', 'int', 'bigint', 'name', 'float8', 'oid']) AS type \gexec
SELECT format('CREATE OPERATOR predict_trap.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = predict_trap.spring)', operator, type)
FROM unnest(ARRAY['=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '/']) AS operator,
	unnest(ARRAY['text', 'int', 'bigint', 'name', 'float8', 'oid']) AS type \gexec
CREATE TABLE halves (k bigint) PARTITION BY HASH (k);
CREATE TABLE half PARTITION OF halves FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE other_half PARTITION OF halves FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE FUNCTION pg_temp.untrapped(call text) RETURNS text LANGUAGE plpgsql SET search_path = predict_trap, pg_catalog AS
$$BEGIN EXECUTE 'SELECT shardkit.' || call; RETURN 'ok'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END$$;
SELECT is(pg_temp.untrapped(call), 'ok', 'untrapped: ' || call) FROM (VALUES
	($$predict_churn('public.rows_of', 'tenant', 'modulo(8)', 'ring(9)', weight => 'cost')$$),
	($$predict_churn('public.rows_of', 'tenant', 'modulo(8)', 'ring(9)', sample_percent => 50)$$),
	($$predict_balance('public.rows_of', 'tenant', 'jump(8)', count_keys => true)$$),
	($$predict_flows('public.rows_of', 'tenant', 'modulo(8)', 'modulo(9)', hash => 'md5')$$),
	($$compare_strategies('public.rows_of', 'tenant', 8, 9)$$),
	($$hot_keys('public.rows_of', 'tenant')$$),
	($$predict_salting('public.rows_of', 'tenant', 't1', '{1,4}', 'modulo(8)')$$),
	($$predict_salting('public.rows_of', 'tenant', 't1', '{1,4}', 'modulo(8)', hash => 'md5', weight => 'cost')$$),
	($$predict_modulus_change('public.halves', 3)$$),
	($$predict_split('public.half')$$)) AS c (call);

SELECT * FROM finish();
ROLLBACK;
