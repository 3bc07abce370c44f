-- load is not rows: hot keys by Zipf's law, and the same keys salted
CREATE TABLE ranks AS SELECT i::bigint AS key, i::float8 ^ -0.8 AS mild, i::float8 ^ -1.0 AS plain, i::float8 ^ -1.2 AS steep FROM generate_series(1, 100000) AS i;
CREATE TEMP TABLE loads AS SELECT 0.8 AS s, key, mild / sum(mild) OVER () AS load FROM ranks
	UNION ALL SELECT 1.0, key, plain / sum(plain) OVER () FROM ranks UNION ALL SELECT 1.2, key, steep / sum(steep) OVER () FROM ranks;
CREATE TEMP TABLE balance AS SELECT 0.8 AS s, * FROM predict_balance('ranks', 'key', 'modulo(8)', weight => 'mild')
	UNION ALL SELECT 1.0, * FROM predict_balance('ranks', 'key', 'modulo(8)', weight => 'plain')
	UNION ALL SELECT 1.2, * FROM predict_balance('ranks', 'key', 'modulo(8)', weight => 'steep');
SELECT lab.exact('A2', format('s = %s: top key''s share of requests, %%', s), published, round(load::numeric * 100, 1)),
	lab.exact('A2', format('s = %s: top key alone over the average shard', s), alone, round(load::numeric * 8, 2))
FROM loads JOIN (VALUES (0.8, 2.2, 0.18), (1.0, 8.3, 0.66), (1.2, 19.6, 1.57)) AS v(s, published, alone) USING (s) WHERE key = 1 ORDER BY s;
-- Where the few heavy keys fall is one draw: its spread for ideal hashes is sqrt(7 * sum of squared shares).
SELECT lab.close('A2', format('s = %s: hottest shard over the average', s), published, round(hottest::numeric, 2), round(2 * spread::numeric, 2))
FROM (SELECT s, max(weight) * 8 / sum(weight) AS hottest FROM balance GROUP BY s) AS b
JOIN (SELECT s, sqrt(7 * sum(load * load)) AS spread FROM loads GROUP BY s) AS l USING (s)
JOIN (VALUES (0.8, 1.11), (1.0, 1.46), (1.2, 2.14)) AS v(s, published) USING (s) ORDER BY s;

CREATE TEMP TABLE salted AS SELECT * FROM predict_salting('ranks', 'key', '1', '{1,2,4,8,16}', 'modulo(8)', weight => 'steep');
SELECT lab.close('A3', format('%s copies: shards hit', copies), hit, nodes_hit, CASE copies WHEN 1 THEN 0 ELSE 2 END),
	lab.close('A3', format('%s copies: hottest over average', copies), hottest, over_mean::numeric, 0.5)
FROM salted JOIN (VALUES (1, 1, 2.14), (2, 2, 1.67), (4, 3, 1.80), (8, 5, 1.60), (16, 7, 1.50)) AS v(copies, hit, hottest) USING (copies);

-- The card: one key with a quarter of the writes.
CREATE TABLE writes AS SELECT CASE WHEN i % 4 = 0 THEN 'hot' ELSE 'key-' || i END AS k FROM generate_series(1, 400000) AS i;
SELECT lab.close('B', format('a key with a quarter of the writes, %s sub-keys: hottest shard, %%', copies),
	CASE copies WHEN 1 THEN 34.4 ELSE 17.3 END, round(hottest_share::numeric * 100, 1), CASE copies WHEN 1 THEN 0.4 ELSE 3.5 END)
FROM predict_salting('writes', 'k', 'hot', '{1,8}', 'modulo(8)');

-- A million keys on a ring of 8 x 256.
CREATE TABLE requests AS SELECT 'key-' || i AS k, i::float8 ^ -1.07 AS load FROM generate_series(1, 1000000) AS i;
CREATE TEMP TABLE ring AS SELECT * FROM predict_balance('requests', 'k', 'ring(8; vnodes=256)', hash => 'sha256', weight => 'load');
SELECT lab.close('C8', 'keys a node, busiest over the mean', 1.13, round(max(over_mean)::numeric, 2), 0.01) FROM ring;
SELECT lab.close('C8', 'requests a node, busiest over the mean', 1.75, round((max(weight) * 8 / sum(weight))::numeric, 2), 0.6) FROM ring;
SELECT lab.close('C8', 'top key''s share of the requests, %', 10.53, round((100 / sum(load))::numeric, 2), 0.1) FROM requests;
SELECT lab.close('C8', 'the same in % of its node''s requests', 48.27, round((100 / weight)::numeric, 2), 12)
FROM ring WHERE node = place('ring(8; vnodes=256)', hash64('key-1', 'sha256'));
