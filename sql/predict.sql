-- what would move: published figures on the stand's own table, to the row
CREATE EXTENSION shardkit;
CREATE TABLE orders (id bigint, user_id bigint NOT NULL, amount int) PARTITION BY HASH (user_id);
SELECT format('CREATE TABLE orders_%s PARTITION OF orders FOR VALUES WITH (MODULUS 8, REMAINDER %1$s)', i) FROM generate_series(0, 7) AS i \gexec
INSERT INTO orders SELECT i, 1 + i % 20000, i % 100 FROM generate_series(0, 199999) AS i;
SELECT count(*) AS rows_in_partition_0 FROM orders_0;
SELECT rows, rows_moved, share_moved, expected_share, minimum_share, times_minimum, nodes_before, nodes_after
	FROM shardkit.predict_modulus_change('orders', 9);
SELECT * FROM shardkit.predict_split('orders_0');
SELECT rows, rows_moved, keys_moved, weight_moved, null_keys, floor_over_mean
	FROM shardkit.predict_modulus_change('orders', 9, count_keys => true, weight => 'amount');
-- the same from a table without partitions
CREATE TABLE flat AS SELECT * FROM orders;
SELECT rows, rows_moved FROM shardkit.predict_modulus_change('flat', 'user_id', 8, 9);
SELECT rows, rows_moved FROM shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)');
SELECT (shardkit.churn(shardkit.partition_hash(user_id), 'modulo(8)', 'modulo(9)')).* FROM flat;
SELECT (shardkit.churn(shardkit.partition_hash(user_id), 'modulo(8)', 'modulo(9)', amount)).* FROM flat;
SELECT * FROM shardkit.compare_strategies('orders', 'user_id', 8, 9);
SELECT * FROM shardkit.compare_strategies('orders', 'user_id', 9, 8);
SELECT from_node, to_node, rows, weight FROM shardkit.predict_flows('orders', 'user_id', 'modulo(2)', 'modulo(3)', weight => 'amount');
SELECT node, rows, share, over_mean, keys, bar FROM shardkit.predict_balance('orders', 'user_id', 'modulo(8)', count_keys => true);

-- one tenant with 80 % of the rows: said in words
CREATE TABLE skewed (tenant bigint, note text);
INSERT INTO skewed SELECT CASE WHEN i < 320000 THEN 0 ELSE 1 + i % 1999 END FROM generate_series(0, 399999) AS i;
SELECT node, rows, over_mean, keys, largest_key, largest_key_rows, bar
	FROM shardkit.predict_balance('skewed', 'tenant', 'modulo(8)', count_keys => true);
SELECT rows, floor_over_mean FROM shardkit.predict_churn('skewed', 'tenant', 'modulo(8)', 'modulo(16)', count_keys => true);
SELECT strategy, largest_over_mean FROM shardkit.compare_strategies('skewed', 'tenant', 8, 9, count_keys => true);
SELECT key, rows, share, over_average_node FROM shardkit.hot_keys('skewed', 'tenant', 1);
SELECT * FROM shardkit.predict_salting('skewed', 'tenant', '0', '{1,2,4,8,16}', 'modulo(8)');

-- NULL keys apart, empty tables, quoted names, several columns, views, sub-partitions, mixed moduli
CREATE TABLE "Odd ""Name" ("Tenant Id" text, "select" int, n numeric);
SELECT rows, rows_moved, share_moved, null_keys, sampled_percent FROM shardkit.predict_churn('"Odd ""Name"', '"Tenant Id"', 'jump(3)', 'jump(4)');
SELECT * FROM shardkit.predict_flows('"Odd ""Name"', '"Tenant Id"', 'jump(3)', 'jump(4)');
SELECT node, rows, share FROM shardkit.predict_balance('"Odd ""Name"', '"Tenant Id"', 'jump(2)');
SELECT * FROM shardkit.hot_keys('"Odd ""Name"', '"Tenant Id", "select"');
INSERT INTO "Odd ""Name" SELECT nullif('t' || i % 7, 't0'), i % 5, i / 4.0 FROM generate_series(1, 7000) AS i;
SELECT rows, null_keys, keys_moved FROM shardkit.predict_churn('"Odd ""Name"', '"Tenant Id", "select"', 'modulo(3)', 'modulo(4)', count_keys => true);
SELECT rows, null_keys FROM shardkit.predict_churn('"Odd ""Name"', '"Tenant Id"', 'modulo(3)', 'modulo(4)', hash => 'md5', weight => 'n');
CREATE VIEW seen AS SELECT "Tenant Id" AS tenant FROM "Odd ""Name" WHERE "select" < 2;
SELECT rows, bytes_moved FROM shardkit.predict_churn('seen', 'tenant', 'modulo(3)', 'modulo(4)');
SELECT key, rows FROM shardkit.hot_keys('"Odd ""Name"', '"Tenant Id", "select"', 2);
CREATE TABLE mixed (k int, at date) PARTITION BY HASH (k);
CREATE TABLE mixed_0 PARTITION OF mixed FOR VALUES WITH (MODULUS 2, REMAINDER 0) PARTITION BY LIST (k);
CREATE TABLE mixed_0_all PARTITION OF mixed_0 DEFAULT;
CREATE TABLE mixed_1 PARTITION OF mixed FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE mixed_3 PARTITION OF mixed FOR VALUES WITH (MODULUS 8, REMAINDER 3);
INSERT INTO mixed SELECT k FROM generate_series(1, 8000) AS k WHERE shardkit.partition_slot(8, k) <> 7;
SELECT p.rows, p.rows_moved, p.nodes_before, p.rows_moved = (SELECT count(*) FROM mixed
		WHERE shardkit.partition_slot(5, k) <> substr(shardkit.partition_of('mixed', k)::text, 7, 1)::int) AS as_routed
	FROM shardkit.predict_modulus_change('mixed', 5) AS p;
SELECT * FROM shardkit.predict_split('mixed_3');
CREATE TABLE by_lower (k text) PARTITION BY HASH (lower(k));
CREATE TABLE by_lower_0 PARTITION OF by_lower FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO by_lower SELECT chr(65 + i % 26) FROM generate_series(1, 260) AS i;
SELECT p.rows, p.rows_moved = (SELECT count(*) FROM by_lower WHERE shardkit.partition_slot(3, lower(k)) <> 0) AS same
	FROM shardkit.predict_modulus_change('by_lower', 3) AS p;

-- routers outside: their own hash
CREATE SCHEMA app;
CREATE FUNCTION app.route(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || substr(md5($1), 1, 16))::bit(64)::bigint $$;
SELECT a.rows_moved, a.rows_moved = b.rows_moved AS same FROM shardkit.predict_modulus_change('flat', 'user_id', 4, 5, hash => 'app.route(text)') AS a,
	shardkit.predict_modulus_change('flat', 'user_id', 4, 5, hash => 'md5') AS b;

-- one clear error each
\set VERBOSITY terse
SELECT shardkit.predict_modulus_change('flat', 9);
SELECT shardkit.predict_modulus_change('orders', 0);
SELECT shardkit.predict_modulus_change('flat', 'user_id', 0, 9);
SELECT shardkit.predict_modulus_change('flat', 'user_id', 8, NULL);
SELECT shardkit.predict_churn('flat', 'nope', 'modulo(8)', 'modulo(9)');
SELECT shardkit.predict_churn('flat', 'user_id, user_id', 'modulo(8)', 'modulo(9)');
SELECT shardkit.predict_churn('flat', 'ctid', 'modulo(8)', 'modulo(9)');
SELECT shardkit.predict_churn('flat', 'user_id', NULL, 'modulo(9)');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', hash => NULL);
SELECT shardkit.predict_churn(NULL, 'user_id', 'modulo(8)', 'modulo(9)');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', sample_percent => 0);
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', sample_percent => 'NaN');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', true, 10);
SELECT shardkit.predict_churn('seen', 'tenant', 'modulo(8)', 'modulo(9)', sample_percent => 10);
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', hash => 'crc32');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', hash => 'random()');
SELECT shardkit.predict_churn('"Odd ""Name"', 'n', 'modulo(8)', 'modulo(9)', hash => 'md5');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', weight => 'nope');
SELECT shardkit.predict_churn('"Odd ""Name"', 'n', 'modulo(8)', 'modulo(9)', weight => '"Tenant Id"');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', weight => '');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', weight => 'user_id, user_id');
CREATE FUNCTION app.several(text) RETURNS SETOF bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1::bigint';
CREATE FUNCTION app.listed(VARIADIC text[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1::bigint';
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', hash => 'app.several(text)');
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', hash => 'app.listed(text[])');
SET shardkit.sample_seed = 'NaN';
SELECT shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', sample_percent => 10);
SELECT shardkit.hot_keys('flat', 'user_id', sample_percent => 10);
SET shardkit.sample_seed = '-1.5e3';
SELECT (shardkit.predict_churn('flat', 'user_id', 'modulo(8)', 'modulo(9)', sample_percent => 1e-300)).rows;
RESET shardkit.sample_seed;
SELECT shardkit.predict_churn('pg_catalog.pg_class_oid_index', 'oid', 'modulo(8)', 'modulo(9)');
SELECT shardkit.predict_split('flat');
SELECT shardkit.predict_split(NULL);
SELECT shardkit_internal.partition_layout('orders', 'pg_class') IS NULL;
SELECT shardkit.compare_strategies('flat', 'user_id', 0, 9);
SELECT shardkit.hot_keys('flat', 'user_id', 0);
SELECT shardkit.predict_salting('flat', 'user_id', '1', '{0}', 'modulo(8)');
SELECT shardkit_internal.tally_flows('\x00', '\x00');
SELECT shardkit_internal.tally('\x6d6f64756c6f283829', NULL, 1);
SELECT shardkit_internal.tally_sum('\x01544b53010000000000');
SELECT shardkit_internal.tally_flows('\x00', '\x6d6f64756c6f28ff2900'), shardkit_internal.tally('\x6d6f64756c6f28ff290000', NULL, 1);
SELECT shardkit.churn(i, format('modulo(%s)', i)::shardkit.layout, 'modulo(9)') FROM generate_series(8, 9) AS i;

DROP TABLE orders, flat, skewed, mixed, by_lower;
DROP VIEW seen;
DROP TABLE "Odd ""Name";
DROP SCHEMA app CASCADE;
DROP EXTENSION shardkit;
