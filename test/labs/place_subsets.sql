-- 315 rings: every subset of six nodes, five token counts, 20,000 keys
CREATE TEMP TABLE keys AS SELECT hash64('key-' || i, 'xxh3') AS hash FROM generate_series(1, 20000) AS i;
CREATE TEMP TABLE rings AS SELECT vnodes, bits, layout, (SELECT count(*) FROM layout_nodes(layout)) AS nodes
FROM unnest(ARRAY[1, 4, 16, 64, 256]) AS vnodes, generate_series(1, 63) AS bits, LATERAL (SELECT format('ring(%s; vnodes=%s)',
	string_agg('node-' || i, ',') FILTER (WHERE bits & (1 << i) > 0), vnodes)::layout AS layout FROM generate_series(0, 5) AS i) AS made;
CREATE TEMP TABLE balance AS SELECT vnodes, bits, nodes, max(held) * nodes / 20000.0 AS over_mean
FROM (SELECT vnodes, bits, nodes, place(layout, hash) AS node, count(*) AS held FROM rings, keys GROUP BY 1, 2, 3, 4) AS held GROUP BY vnodes, bits, nodes;

SELECT lab.exact('B', 'rings', 315::bigint, count(*)) FROM balance;
SELECT lab.real('B', format('%s tokens: busiest over the mean, average of 57 rings', vnodes), 'falls as tokens rise', round(average, 3)::text, average < coalesce(lag(average) OVER (ORDER BY vnodes), 7))
FROM (SELECT vnodes, avg(over_mean) AS average FROM balance WHERE nodes > 1 GROUP BY vnodes) AS averages ORDER BY vnodes;

-- 4 -> 5 nodes on the same card
SELECT lab.close('B', what, published, round(layout_churn(a, b)::numeric * 100, 1), within) FROM (VALUES
	('modulo 4 -> 5 moves, %', 80, 'modulo(4)'::layout, 'modulo(5)'::layout, 0.1), ('a ring of 256 tokens 4 -> 5 moves, %', 20, 'ring(4; vnodes=256)', 'ring(5; vnodes=256)', 3),
	('slots 4 -> 5 moves, %', 20, 'slots(4)', layout_add('slots(4)', 'node-4'), 0.1)) AS v(what, published, a, b, within);
