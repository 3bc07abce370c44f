-- a million keys by remainder, one node more
CREATE TEMP TABLE keys AS SELECT hash64('key-' || i, 'xxh3') AS hash FROM generate_series(1, 1000000) AS i;

SELECT lab.close('C1', format('%s -> %s nodes: moved, %%', nodes, nodes + 1), published, round(avg((modulo(hash, nodes) <> modulo(hash, nodes + 1))::int) * 100, 2),
	-- two samples of a million keys, three standard errors
	round((3 * sqrt(2) * sqrt(published / 100 * (1 - published / 100) / 1000000) * 100)::numeric, 2))
FROM keys, (VALUES (4, 79.99), (100, 99.01)) AS v(nodes, published) GROUP BY nodes, published ORDER BY nodes;
SELECT lab.exact('C1', format('%s -> %s: times the minimum', nodes, nodes + 1), nodes,
	round((layout_churn(format('modulo(%s)', nodes)::layout, format('modulo(%s)', nodes + 1)::layout) * (nodes + 1)))::int)
FROM unnest(ARRAY[4, 100]) AS nodes;
