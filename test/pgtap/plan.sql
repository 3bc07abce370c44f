-- plans over real tables
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT plan(42);

-- The planner on literals: no map is needed.
SELECT set_eq(
	$$SELECT * FROM shardkit.plan_moves(ARRAY[1,1,1,1,2,2], array_fill(false, ARRAY[6]), NULL,
		ARRAY[1,1,1]::float8[], ARRAY[false,false,false])$$,
	$$VALUES (3, 1, 3), (2, 1, 3)$$, 'literals: the node with most gives');
SELECT set_eq(
	$$SELECT * FROM shardkit.plan_moves(ARRAY[1,1,2,NULL], ARRAY[true,false,false,false],
		ARRAY[10,10,10,99], ARRAY[1,1]::float8[], ARRAY[false,true])$$,
	$$VALUES (2, 2, 1)$$, 'literals: a draining node is emptied, slots without an owner stay so');
SELECT throws_ok(
	$$SELECT shardkit.plan_moves(ARRAY[1], ARRAY[false], NULL, ARRAY[1]::float8[], ARRAY[true])$$,
	'55000', 'there is no node to move slots to', 'nowhere to go');
SELECT throws_ok(
	$$SELECT shardkit.plan_moves(ARRAY[3], ARRAY[false], NULL, ARRAY[1]::float8[], ARRAY[false])$$,
	'22023', NULL, 'an owner that is no node');
SELECT throws_ok(
	$$SELECT shardkit.plan_moves(ARRAY[1], ARRAY[false], ARRAY[-1], ARRAY[1]::float8[], ARRAY[false])$$,
	'22003', NULL, 'a negative load');
SELECT throws_ok(
	$$SELECT shardkit.plan_moves(ARRAY[1,1], ARRAY[false], NULL, ARRAY[1]::float8[], ARRAY[false])$$,
	'2202E', NULL, 'arrays of different lengths');
SELECT throws_ok(
	$$SELECT shardkit.plan_moves(ARRAY[1], ARRAY[false], NULL, ARRAY['NaN']::float8[], ARRAY[false])$$,
	'22023', NULL, 'a weight that is no number');

-- A tenth of the keys hold most rows, the largest a seventh of all.
CREATE TABLE plan_model (tenant bigint NOT NULL, n int NOT NULL, pad text,
	PRIMARY KEY (tenant, n));
SELECT shardkit.create_map('plan map', 72,
	ARRAY['plan1','plan2','plan3','plan4','plan5','plan6','plan7','plan8']);
SELECT shardkit.add_table('plan map', 'events', 'tenant', template => 'plan_model');
DO $$
DECLARE
	node text;
BEGIN
	FOR node IN SELECT name FROM shardkit.node WHERE map = 'plan map' LOOP
		EXECUTE format('INSERT INTO %I.events SELECT t, i, repeat(''x'', (t %% 50)::int)
			FROM generate_series(1, 1000) AS t, generate_series(1, greatest(1, 3000 / t)::int) AS i
			WHERE shardkit.node_of(''plan map'', t) = %L', node, node);
	END LOOP;
END
$$;
SELECT is((SELECT sum(rows)::bigint FROM shardkit.slot_counts('plan map')),
	(SELECT sum(greatest(1, 3000 / t)) FROM generate_series(1, 1000) AS t), 'every row is counted');
SELECT is_empty($$SELECT * FROM shardkit.plan_rebalance('plan map')$$, 'dealt slots are even');

SELECT shardkit.add_node('plan map', 'plan9');
SELECT results_eq(
	$$SELECT count(*), count(DISTINCT from_node), min(to_node), max(to_node)
		FROM shardkit.plan_rebalance('plan map')$$,
	$$VALUES (8::bigint, 8::bigint, 'plan9', 'plan9')$$, 'from 8 to 9 nodes: 8 slots, one from each');
SELECT is((SELECT lower_bound FROM shardkit.plan_summary('plan map') WHERE node IS NULL), 8::bigint,
	'the fewest');
SELECT is(
	(SELECT sum(p.rows)::bigint FROM shardkit.plan_rebalance('plan map') AS p),
	(SELECT sum(c.rows)::bigint FROM shardkit.slot_counts('plan map') AS c
		JOIN shardkit.plan_rebalance('plan map') AS p USING (slot)),
	'the rows of the plan are those of its slots');

-- By rows the largest tenant's slot exceeds a fair share of nine: its floor is named, the rest even.
SELECT ok(floor_over_mean > 1.05 AND note ~ 'slot \d+ alone is' AND moved >= lower_bound,
	'the floor of the largest slot is named')
	FROM shardkit.plan_summary('plan map', 'rows') WHERE node IS NULL;
SELECT is((SELECT largest_slot FROM shardkit.plan_summary('plan map', 'rows') WHERE node IS NULL),
	shardkit.slot_of('plan map', 1::bigint), 'it is the largest tenant''s');
SELECT is_empty(
	$$SELECT * FROM shardkit.plan_summary('plan map', 'rows')
		WHERE node IS NOT NULL AND (note <> 'even' OR rows_after NOT BETWEEN lowest AND highest)$$,
	'every other node is even');
SELECT ok((SELECT sum(moved) FROM shardkit.plan_summary('plan map', 'rows') WHERE node IS NOT NULL)
	= 2 * (SELECT moved FROM shardkit.plan_summary('plan map', 'rows') WHERE node IS NULL),
	'what leaves is what arrives');
SELECT ok((SELECT bool_and(note = 'even') FROM shardkit.plan_summary('plan map', 'bytes')
	WHERE node IS NOT NULL), 'by bytes likewise');

SELECT is((SELECT count(*) FROM shardkit.plan_rebalance('plan map', 'rows', max_moves => 2)),
	2::bigint, 'no more than asked');
SELECT shardkit.set_weight('plan map', 'plan9', 2);
SELECT is((SELECT slots_after FROM shardkit.plan_summary('plan map') WHERE node = 'plan9'),
	15::bigint, 'a node of weight 2 gets two shares of ten, by the largest remainder');

SELECT throws_ok($$SELECT * FROM shardkit.plan_rebalance('no map')$$, '42704', NULL, 'no such map');
SELECT throws_ok($$SELECT * FROM shardkit.plan_rebalance('plan map', 'weight')$$, '22023', NULL,
	'no such measure');

-- slots that cannot move: no plan makes it even, and planning again from the answer moves nothing
CREATE FUNCTION pg_temp.owners_after(owners int[], moving boolean[], loads bigint[], weights float8[], draining boolean[]) RETURNS int[] LANGUAGE sql AS $$
	SELECT array_agg(coalesce(m.to_node, o.owner) ORDER BY o.number)
	FROM unnest(owners) WITH ORDINALITY AS o(owner, number) LEFT JOIN shardkit.plan_moves(owners, moving, loads, weights, draining) AS m ON m.slot = o.number - 1 $$;
CREATE TEMP TABLE stuck AS SELECT array_agg(CASE WHEN i <= 40 THEN 1 ELSE 2 END ORDER BY i) AS owners, array_agg(i <= 30 ORDER BY i) AS moving, array_agg(100::bigint + i ORDER BY i) AS loads
	FROM generate_series(1, 60) AS i;
SELECT is(count(*) FILTER (WHERE slot < 30), 0::bigint, 'what moves already is left alone') FROM stuck, shardkit.plan_moves(owners, moving, loads, '{1,1,1}', '{f,f,f}');
SELECT ok(count(*) >= 10 AND bool_and(to_node = 3), 'all that can leave the full node does') FROM stuck, shardkit.plan_moves(owners, moving, loads, '{1,1,1}', '{f,f,f}');
SELECT is_empty($$SELECT m.* FROM stuck, LATERAL pg_temp.owners_after(owners, moving, loads, '{1,1,1}', '{f,f,f}') AS after, shardkit.plan_moves(after, moving, loads, '{1,1,1}', '{f,f,f}') AS m$$,
	'a second plan moves nothing');

-- wrong arrays, each named
SELECT throws_ok(format('SELECT * FROM shardkit.plan_moves(%s)', arguments), state, message, message) FROM (VALUES
	($$NULL, '{f}', NULL, '{1}', '{f}'$$, '22004', 'owners must not be null'), ($$'{1}', NULL, NULL, '{1}', '{f}'$$, '22004', 'moving must not be null'),
	($$'{1}', '{f}', NULL, NULL, '{f}'$$, '22004', 'weights must not be null'), ($$'{1}', '{f}', NULL, '{1}', NULL$$, '22004', 'draining must not be null'),
	($$'{{1}}', '{f}', NULL, '{1}', '{f}'$$, '2202E', 'owners must be an array of one dimension'), ($$'{1}', '{f,f}', NULL, '{1}', '{f}'$$, '2202E', 'moving must have as many elements as owners: 1, not 2'),
	($$'{1}', '{NULL}', NULL, '{1}', '{f}'$$, '22004', 'moving must not contain a null'), ($$'{1}', '{f}', '{NULL}', '{1}', '{f}'$$, '22004', 'loads must not contain a null'),
	($$'{1}', '{f}', NULL, '{NULL}', '{f}'$$, '22004', 'weights must not contain a null'), ($$'{1}', '{f}', NULL, '{1}', '{NULL}'$$, '22004', 'draining must not contain a null'),
	($$'{2}', '{f}', NULL, '{1}', '{f}'$$, '22023', 'owners must be between 1 and the number of nodes, not 2'), ($$'{1}', '{f}', '{-1}', '{1}', '{f}'$$, '22003', 'loads must not be negative, and less than 2^62 together'),
	($$'{1}', '{f}', NULL, '{0}', '{f}'$$, '22023', 'weights must be positive and finite'), ($$'{1}', '{f}', NULL, '{1e101}', '{f}'$$, '22003', 'weights must be between 1e-100 and 1e+100'), ($$'{1}', '{f}', NULL, '{1e-101}', '{f}'$$, '22003', 'weights must be between 1e-100 and 1e+100'), ($$'{1}', '{f}', NULL, '{1}', '{f}', 1.5$$, '22023', 'tolerance must be between 0 and 1'),
	($$'{1}', '{f}', NULL, '{1}', '{f}', NULL$$, '22023', 'tolerance must be between 0 and 1'),
	($$'{1}', '{f}', NULL, '{1}', '{f}', 0.1, -1$$, '22023', 'max_moves must not be negative, not -1')) AS c(arguments, state, message);

SELECT * FROM finish();
ROLLBACK;
