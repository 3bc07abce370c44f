-- rings of SHA-256 tokens, a million keys: growth, loss of a node, balance, and why not FNV-1a
CREATE TEMP TABLE keys AS SELECT hash64('key-' || i, 'xxh3') AS hash FROM generate_series(1, 1000000) AS i;
SET client_min_messages = error;

-- where the first tokens lie, % of the circle
SELECT lab.exact('C6', format('position of node-%s#0 under %s, %%', node, algorithm), published,
	round((hash64('node-' || node || '#0', algorithm)::numeric + 18446744073709551616) % 18446744073709551616 * 100 / 18446744073709551616, 2))
FROM (VALUES ('sha256', 0, 71.26), ('sha256', 1, 11.90), ('sha256', 2, 81.01), ('sha256', 3, 63.51),
	('fnv1a', 0, 0.48), ('fnv1a', 1, 3.83), ('fnv1a', 2, 6.89), ('fnv1a', 3, 10.29)) AS v(algorithm, node, published);
SELECT lab.exact('C6', 'the first of four FNV-1a nodes owns, %', 90.19, round(share::numeric * 100, 2))
FROM layout_nodes('ring(4; vnodes=1, token_hash=fnv1a)') WHERE node = 'node-0';
SELECT lab.close('C6', 'FNV-1a, 256 tokens a node: busiest over the mean', 1.32, round(max(share)::numeric * 4, 2), 0.01)
FROM layout_nodes('ring(4; vnodes=256, token_hash=fnv1a)');

-- The tokens are published, so the rings are theirs; only the keys are others: three standard errors of two samples.
CREATE FUNCTION error(share float8) RETURNS numeric LANGUAGE sql AS $$ SELECT round((3 * sqrt(2) * sqrt(share * (1 - share) / 1000000) * 100)::numeric, 2) + 0.005 $$;
SELECT lab.close('C1r', format('%s -> %s nodes, %s tokens: moved, %%', nodes, nodes + 1, vnodes), published,
	round(avg((ring(hash, before, vnodes) <> ring(hash, after, vnodes))::int) * 100, 2), error(published / 100))
FROM (VALUES (4, 1, 30.78), (4, 16, 14.55), (4, 256, 18.6), (100, 1, 0.15), (100, 16, 1.16), (100, 256, 0.99)) AS v(nodes, vnodes, published),
	LATERAL (SELECT array_agg('node-' || i) FILTER (WHERE i < nodes) AS before, array_agg('node-' || i) AS after FROM generate_series(0, nodes) AS i) AS names, keys
GROUP BY nodes, vnodes, published ORDER BY nodes, vnodes;

-- growing, then losing a node: what moves is what it holds, to the key
CREATE TEMP TABLE placed AS SELECT vnodes, place(format('ring(3; vnodes=%s)', vnodes)::layout, hash) AS three,
	place(format('ring(4; vnodes=%s)', vnodes)::layout, hash) AS four, place(format('ring(5; vnodes=%s)', vnodes)::layout, hash) AS five
FROM unnest(ARRAY[1, 16, 256]) AS vnodes, keys;
SELECT lab.exact('C2', format('4 -> 5, %s tokens: keys moved = keys of the new node (ours)', vnodes),
	count(*) FILTER (WHERE five = 'node-4'), count(*) FILTER (WHERE four <> five)) FROM placed GROUP BY vnodes ORDER BY vnodes;
SELECT lab.exact('C3', format('node-3 leaves, %s tokens: keys moved = keys it held (ours)', vnodes),
	count(*) FILTER (WHERE four = 'node-3'), count(*) FILTER (WHERE three <> four)) FROM placed GROUP BY vnodes ORDER BY vnodes;
SELECT lab.close('C3', format('node-3 leaves, %s tokens: keys moved', vnodes), published, count(*) FILTER (WHERE three <> four), error(published / 1000000.0) * 10000)
FROM placed JOIN (VALUES (1, 516164), (16, 230472), (256, 246728)) AS v(vnodes, published) USING (vnodes) GROUP BY vnodes, published ORDER BY vnodes;
SELECT lab.close('C4', format('busiest of 4 nodes over the mean, %s tokens', vnodes), published, round(max(n) * 4 / 1000000.0, 2), 0.01)
FROM (SELECT vnodes, four, count(*) AS n FROM placed GROUP BY vnodes, four) AS held JOIN (VALUES (1, 2.06), (16, 1.28), (256, 1.02)) AS v(vnodes, published) USING (vnodes)
GROUP BY vnodes, published ORDER BY vnodes;
