-- 1.2 million rows of 200,000 workspaces, sharded by a router's own hash (BLAKE2b of the id's text)
SELECT setseed(0.42);
CREATE TABLE docs AS SELECT id::bigint AS workspace FROM generate_series(1, 200000) AS id,
	LATERAL (SELECT random() + id * 0 AS r OFFSET 0) AS x, LATERAL generate_series(1, least(20, 1 + round(20 * r ^ 3))::int) AS row_of;
ANALYZE docs;
SELECT lab.close('D', 'rows', 1202000, count(*), 60000) FROM docs;

-- Rows of a workspace move together: three standard errors of two draws of workspaces weighted by rows.
SELECT lab.close('D1', format('modulo %s -> %s: rows that move, %%', old, new), published, round(share_moved::numeric * 100, 1), 0.6)
FROM (VALUES (4, 5, 79.9), (4, 6, 66.8), (4, 8, 49.8), (8, 12, 66.6)) AS v(old, new, published),
	LATERAL predict_modulus_change('docs', 'workspace', old, new, hash => 'blake2b') AS p;

-- The same through a function of the router's.
CREATE FUNCTION public.route(text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT shardkit.hash64($1, 'blake2b') $$;
SELECT lab.exact('D1', 'the router''s own SQL function agrees', a.rows_moved, b.rows_moved)
FROM predict_modulus_change('docs', 'workspace', 4, 6, hash => 'public.route(text)') AS a, predict_modulus_change('docs', 'workspace', 4, 6, hash => 'blake2b') AS b;
