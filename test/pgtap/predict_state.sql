-- the counts behind the predictions: large, merged, in parallel, without rows, damaged
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT * FROM no_plan();

CREATE FUNCTION pg_temp.plan_of(VARIADIC layouts shardkit.layout[]) RETURNS bytea LANGUAGE sql AS
	'SELECT shardkit_internal.tally_plan(layouts[:1], layouts[2:2])';
CREATE FUNCTION pg_temp.counts(plan bytea, first int, last int) RETURNS bytea LANGUAGE sql AS
	'SELECT shardkit_internal.tally_of_hash(plan, i % 7, i, false) FROM generate_series(first::bigint, last) AS i';

-- far more pairs of nodes than a table of counts begins with, at once and in parts
CREATE TEMP TABLE large AS SELECT pg_temp.plan_of('modulo(3000)', 'modulo(3001)') AS plan;
CREATE TEMP TABLE by_hand AS SELECT 'node-' || i % 3000 AS from_node, 'node-' || i % 3001 AS to_node, count(*) AS rows, sum(i % 7)::float8 AS weight
	FROM generate_series(1, 21000) AS i GROUP BY 1, 2;
SELECT cmp_ok(count(*), '>', 20000::bigint, 'pairs of nodes') FROM by_hand;
SELECT set_eq('SELECT from_node, to_node, rows, weight FROM large, shardkit_internal.tally_flows(pg_temp.counts(plan, 1, 21000), plan)', 'TABLE by_hand', 'many pairs of nodes');
SELECT set_eq('SELECT from_node, to_node, rows, weight FROM large, LATERAL (SELECT shardkit_internal.tally_sum(pg_temp.counts(plan, i * 7000 + 1, i * 7000 + 7000)) AS counts
	FROM generate_series(0, 2) AS i) AS s, shardkit_internal.tally_flows(counts, plan)', 'TABLE by_hand', 'many pairs of nodes, of three parts');
SELECT is((c).rows_moved, (SELECT sum(rows) FROM by_hand WHERE from_node <> to_node)::bigint, 'many pairs of nodes, by churn')
FROM (SELECT shardkit.churn(i, 'modulo(3000)', 'modulo(3001)') AS c FROM generate_series(1, 21000) AS i) AS x;

-- parts that do not belong together, or not to these layouts
SELECT throws_ok(format('SELECT shardkit_internal.tally_sum(c) FROM (VALUES (pg_temp.counts(pg_temp.plan_of(''modulo(8)'', ''modulo(9)''), 1, 9)),
	(pg_temp.counts(%s, 1, 9))) AS p(c)', other), '22023', 'invalid plan of a prediction: parts of two different predictions', 'not added up: ' || other)
FROM unnest(ARRAY[$$pg_temp.plan_of('modulo(8)', 'modulo(10)')$$, $$pg_temp.plan_of('modulo(7)', 'modulo(9)')$$, $$pg_temp.plan_of('modulo(8)', NULL)$$,
	$$shardkit_internal.tally_plan('{modulo(8),modulo(8)}', '{modulo(9),modulo(9)}')$$]) AS other;
SELECT throws_ok($$SELECT shardkit_internal.tally_flows(pg_temp.counts(pg_temp.plan_of('modulo(8)', 'modulo(9)'), 1, 9), pg_temp.plan_of('modulo(8)', 'modulo(10)'))$$,
	'22023', 'the counts do not belong to these layouts', 'counts of other layouts');

-- NULLs: of states, of counts, of hashes, of plans
CREATE TEMP TABLE small AS SELECT pg_temp.plan_of('modulo(2)', 'modulo(3)') AS plan, pg_temp.counts(pg_temp.plan_of('modulo(2)', 'modulo(3)'), 1, 6) AS counts;
SELECT is(shardkit_internal.tally_sum(c), (SELECT counts FROM small), 'NULL counts add nothing') FROM (SELECT NULL UNION ALL SELECT counts FROM small UNION ALL SELECT NULL) AS p(c);
SELECT is(shardkit_internal.tally_sum(c), NULL, 'nothing but NULL counts') FROM (VALUES (NULL::bytea), (NULL)) AS p(c);
SELECT is(shardkit.churn(i, 'modulo(2)', 'modulo(3)'), NULL, 'churn of no rows') FROM generate_series(1, 0) AS i;
SELECT is(shardkit.churn(nullif(i, 3), 'modulo(2)', 'modulo(3)')::text, '(5,3,0.6,1,0,0)', 'a NULL hash is counted apart') FROM generate_series(1, 6) AS i;
SELECT is(shardkit_internal.tally_of_sample(plan, NULL, nullif(i, 3), i = 4, 1, '(0,1)') IS NOT NULL, true, 'also in a sample') FROM small, generate_series(1, 6) AS i GROUP BY plan;
SELECT throws_ok($$SELECT shardkit.churn(1, NULL, 'modulo(3)')$$, '22004', 'a layout must not be null', 'no old layout');
SELECT throws_ok($$SELECT shardkit.churn(1, 'modulo(3)', NULL)$$, '22004', 'a layout must not be null', 'no new layout');
SELECT throws_ok($$SELECT shardkit_internal.tally_of_hash(NULL, 1, 1, false)$$, '22004', 'the plan of a prediction must not be null', 'no plan');
SELECT is(shardkit_internal.tally_of_hash(p.plan, i % 7, i, false), small.counts, 'a plan that comes with the rows') FROM generate_series(1, 6) AS i, small, (SELECT plan FROM small OFFSET 0) AS p GROUP BY counts;
SELECT throws_ok($$SELECT shardkit_internal.tally_of_hash(pg_temp.plan_of('modulo(2)', format('modulo(%s)', i)::shardkit.layout), 1, i, false) FROM generate_series(3, 4) AS i$$,
	'22023', 'the layouts of a prediction must be the same for all rows', 'and changes with them');

-- plans that are none
SELECT throws_ok(format('SELECT shardkit_internal.tally_of_hash(%s, 1, 1, false)', plan), '22023', 'invalid plan of a prediction: ' || reason, reason || ': ' || left(plan, 30))
FROM (VALUES ($$''$$, 'no layouts'), ($$'#20\000'$$, 'no layouts'), ($$'#x\000'$$, 'types of the key are expected'), ($$'#99999999999\000'$$, 'types of the key are expected'),
	($$decode('23' || repeat('312c', 40) || '3100', 'hex')$$, 'types of the key are expected'),
	($$decode(repeat('6d6f64756c6f28312900' || '00', 65), 'hex')$$, 'too many layouts'), ($$'modulo(1)'$$, 'a layout does not end')) AS p(plan, reason);
SELECT throws_ok($$SELECT shardkit_internal.tally_plan('{}', '{}')$$, '22023', 'a prediction compares 1 to 64 pairs of layouts', 'no pair');
SELECT throws_ok($$SELECT shardkit_internal.tally_plan(array_fill('modulo(1)'::shardkit.layout, '{65}'), array_fill('modulo(1)'::shardkit.layout, '{65}'))$$,
	'22023', 'a prediction compares 1 to 64 pairs of layouts', '65 pairs');
SELECT throws_ok($$SELECT shardkit_internal.tally_plan('{NULL}', '{modulo(1)}')$$, '22004', 'a layout must not be null', 'a pair without an old layout');
SELECT throws_ok($$SELECT shardkit_internal.tally_typed_plan(plan, '{20,NULL}') FROM small$$, '22004', 'types must not be null', 'a NULL type');
SELECT throws_ok($$SELECT shardkit_internal.tally(plan, 1, VARIADIC ARRAY[1]) FROM small$$, '0A000', 'the key of a prediction must be a list of columns', 'an array as key');

-- keys: each node's largest, of several processes and of several parts; a node without keys is missing
CREATE TABLE state_keys AS SELECT i % 3 AS hash, 1 + i % 50 AS rows, 'k' || i AS key FROM generate_series(1, 4000) AS i;
ANALYZE state_keys;
CREATE TEMP TABLE largest AS SELECT DISTINCT ON (hash) 'node-' || hash AS node, rows::bigint, key FROM state_keys ORDER BY hash, rows DESC, key COLLATE "C";
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 3;
CREATE FUNCTION pg_temp.partial(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE answer json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO answer;
	RETURN answer::text LIKE '%"Partial Mode": "Partial"%';
END $$;
CREATE TEMP TABLE queries AS SELECT format('SELECT shardkit_internal.tally_of_keys(%L::bytea, NULL, hash, false, rows, key) AS counts FROM state_keys', pg_temp.plan_of('modulo(5)', 'modulo(6)')) AS keys;
SELECT ok(pg_temp.partial(keys), 'keys are counted in parallel') FROM queries;
SELECT set_eq(format('SELECT l.* FROM (%s) AS c, shardkit_internal.tally_largest(counts, %L::bytea) AS l', keys, pg_temp.plan_of('modulo(5)', 'modulo(6)')), 'TABLE largest', 'the largest keys, in parallel') FROM queries;
CREATE FUNCTION pg_temp.answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	EXECUTE query INTO answer;
	RETURN answer;
END $$;
SELECT is(format('%s %s', pg_temp.partial(query), coalesce(pg_temp.answer(query), 'NULL')), 't NULL', 'no row in any process: ' || left(query, 40)) FROM unnest(ARRAY[
	$$SELECT shardkit.churn(hash, 'modulo(2)', 'modulo(3)') FROM state_keys WHERE hash % 7 > 5$$,
	$$SELECT shardkit_internal.heavy_hashes(key) FROM state_keys WHERE hash % 7 > 5$$,
	(SELECT keys || ' WHERE hash % 7 > 5' FROM queries)]) AS query;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT set_eq(format('SELECT l.* FROM (SELECT shardkit_internal.tally_sum(counts) AS counts FROM (%s WHERE rows < 30 UNION ALL %1$s WHERE rows >= 30) AS parts) AS c,
	shardkit_internal.tally_largest(counts, %L::bytea) AS l', keys, pg_temp.plan_of('modulo(5)', 'modulo(6)')), 'TABLE largest', 'the largest keys, of two parts') FROM queries;

-- bytes that are not counts: every cut is refused, every changed byte is refused or read
CREATE FUNCTION pg_temp.reading(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM shardkit_internal.tally_sum(bytes);
	RETURN 'read';
EXCEPTION WHEN invalid_binary_representation OR character_not_in_repertoire THEN
	RETURN 'refused';
END $$;
CREATE TEMP TABLE whole AS SELECT shardkit_internal.tally_of_keys(pg_temp.plan_of('modulo(2)', 'modulo(3)'), 1, i, false, i, 'k' || i) AS bytes FROM generate_series(1, 6) AS i;
SELECT is(pg_temp.reading(bytes), 'read', 'whole counts') FROM whole;
SELECT is(pg_temp.reading(bytes || '\x00'), 'refused', 'a byte too many') FROM whole;
SELECT is(count(*) FILTER (WHERE pg_temp.reading(substr(bytes, 1, i)) <> 'refused'), 0::bigint, 'counts that are cut') FROM whole, generate_series(0, length(bytes) - 1) AS i;
SELECT ok(count(*) FILTER (WHERE reading = 'refused') > 30 AND count(*) FILTER (WHERE reading = 'read') > 30, 'counts with a changed byte')
FROM whole, generate_series(0, length(bytes) - 1) AS i, unnest(ARRAY[0, 255]) AS value, LATERAL (SELECT pg_temp.reading(set_byte(bytes, i, value)) AS reading) AS r;

-- heavy keys: NULLs hash to 0, candidates that come with the rows, what is no list
SELECT is(shardkit_internal.is_heavy('{0,5}', NULL::int, NULL::text), true, 'a key of NULLs among the candidates');
SELECT is(shardkit_internal.is_heavy('{1,5}', NULL::int), false, 'and not among them');
SELECT is(shardkit_internal.is_heavy('{}', 1), false, 'no candidates');
SELECT is(shardkit_internal.is_heavy(NULL, 1), NULL, 'unknown candidates');
SELECT results_eq($$SELECT i, shardkit_internal.is_heavy(ARRAY[shardkit.partition_hash(i), shardkit.partition_hash(i + 1)], 3) FROM generate_series(1, 4) AS i$$,
	'VALUES (1, false), (2, true), (3, true), (4, false)', 'candidates of each row');
SELECT is((shardkit_internal.heavy_hashes(nullif(i, i)))[1:2], '{100,0}', 'NULLs alone are one heavy key') FROM generate_series(1, 100) AS i;
SELECT throws_ok($$SELECT shardkit_internal.is_heavy('{1,NULL}', 1)$$, '22004', 'a candidate''s hash must not be null', 'a NULL candidate');
SELECT throws_ok($$SELECT shardkit_internal.heavy_hashes(VARIADIC ARRAY[1, 2])$$, '0A000', 'the key must be a list of columns', 'an array as key');
-- more keys than counters, each many times: the few above the rest are found, and counted exactly
CREATE TEMP TABLE crowd AS SELECT i % 3000 AS k FROM generate_series(1, 240000) AS i UNION ALL SELECT 10000 + i % 3 FROM generate_series(1, 60000) AS i;
SELECT results_eq($$SELECT key, rows FROM shardkit.hot_keys('crowd', 'k', 3) ORDER BY key$$, $$VALUES ('10000', 20000::bigint), ('10001', 20000), ('10002', 20000)$$, 'heavy keys in a crowd');

-- keys that are none
CREATE TABLE wide (a int);
SELECT format('ALTER TABLE wide ADD c%s int', i) FROM generate_series(1, 33) AS i \gexec
SELECT lives_ok(format($$SELECT shardkit.predict_churn('wide', %L, 'modulo(2)', 'modulo(3)')$$, string_agg('c' || i, ',')), 'a key of 32 columns') FROM generate_series(1, 32) AS i;
SELECT throws_ok(format($$SELECT shardkit.predict_churn('wide', %L, 'modulo(2)', 'modulo(3)')$$, string_agg('c' || i, ',')), '54011', 'a key cannot have more than 32 columns', 'of 33') FROM generate_series(1, 33) AS i;
SELECT throws_ok(format($$SELECT shardkit.predict_churn('wide', %L, 'modulo(2)', 'modulo(3)')$$, key), '42601', format('key "%s" is not a list of column names', key), 'no list: ' || key)
FROM unnest(ARRAY['', 'a b', 'a,', '"a']) AS key;
SELECT is(shardkit_internal.predict_key(NULL, 'a')::text, NULL, 'no relation');

-- bounds of partitions: chains of moduli, gaps, and what is no layout
CREATE TABLE chain (k int) PARTITION BY HASH (k);
SELECT throws_ok($$SELECT shardkit.predict_modulus_change('chain', 3)$$, '55000', '"chain" has no partitions', 'no partitions');
CREATE TABLE chain_2_0 PARTITION OF chain FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE chain_8_3 PARTITION OF chain FOR VALUES WITH (MODULUS 8, REMAINDER 3);
INSERT INTO chain SELECT k FROM generate_series(1, 8000) AS k WHERE shardkit.partition_slot(8, k) IN (0, 2, 4, 6, 3);
SELECT is(shardkit_internal.partition_layout('chain', NULL), 'slots(node-0[0,2,4,6], "(none)"[1,5,7], node-3[3]; slots=8)', 'a chain as a layout');
SELECT is(shardkit_internal.partition_layout('chain', 'chain_2_0'), 'slots(node-0[0,4], "(none)"[1,5,7], node-2[2,6], node-3[3]; slots=8)', 'and its split');
SELECT is((p.modulus, p.remainder, p.new_remainder, p.rows_copied), (2, 0, 2, (SELECT count(*) FROM chain_2_0 WHERE shardkit.partition_slot(4, k) = 2)), 'a split within the chain') FROM shardkit.predict_split('chain_2_0') AS p;
SELECT is((p.modulus, p.remainder, p.new_remainder, p.rows_copied), (8, 3, 11, (SELECT count(*) FROM chain_8_3 WHERE shardkit.partition_slot(16, k) = 11)), 'a split at its end') FROM shardkit.predict_split('chain_8_3') AS p;
CREATE TABLE odd (k int) PARTITION BY HASH (k);
CREATE TABLE odd_2_0 PARTITION OF odd FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE odd_6_5 PARTITION OF odd FOR VALUES WITH (MODULUS 6, REMAINDER 5);
SELECT throws_ok($$SELECT shardkit.predict_split('odd_2_0')$$, '22023', 'a partition of modulus 2 cannot be split in two here', '4 is no factor of 6');
CREATE TABLE gap (k int) PARTITION BY HASH (k);
CREATE TABLE gap_0 PARTITION OF gap FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE gap_5 PARTITION OF gap FOR VALUES WITH (MODULUS 8, REMAINDER 5);
SELECT is(shardkit_internal.partition_layout('gap', NULL), 'slots(node-0[0], "(none)"[1-4,6-7], node-5[5]; slots=8)', 'runs of slots that nobody has');
CREATE TABLE endless (k int) PARTITION BY HASH (k);
CREATE TABLE endless_0 PARTITION OF endless FOR VALUES WITH (MODULUS 1048576, REMAINDER 0);
SELECT throws_ok($$SELECT shardkit.predict_split('endless_0')$$, '54000', 'a layout cannot have more than 1048576 slots', 'a split beyond the largest layout');
SELECT is(shardkit_internal.partition_layout(NULL, 'gap_0'), NULL, 'no parent');

SELECT * FROM finish();
ROLLBACK;
