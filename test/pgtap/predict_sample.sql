-- the 95 % interval of a 2 % sample: twenty samples, in make soak 200
\set samples 20
\set wanted 16
\getenv soak SOAK
\if :{?soak}
\set samples 200
\set wanted 180
\endif
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
SET client_min_messages = warning;
BEGIN;
SELECT plan(8);

-- Tenants of 400 rows that lie together, and the same rows shuffled.
CREATE TABLE together AS SELECT i / 400 AS tenant, repeat('x', 60) AS filler FROM generate_series(0, 399999) AS i;
CREATE TABLE mixed_up AS SELECT tenant, filler FROM together ORDER BY md5(ctid::text);

CREATE FUNCTION pg_temp.held(relation regclass, percent float8, samples int) RETURNS TABLE (held int, width float8, percent_read float8)
LANGUAGE plpgsql AS $$
DECLARE
	truth float8 := (shardkit.predict_churn(relation, 'tenant', 'modulo(8)', 'ring(9)')).share_moved;
	p record;
BEGIN
	held := 0; width := 0; percent_read := 0;
	FOR seed IN 1 .. samples LOOP
		PERFORM set_config('shardkit.sample_seed', seed::text, true);
		SELECT * INTO p FROM shardkit.predict_churn(relation, 'tenant', 'modulo(8)', 'ring(9)', sample_percent => percent);
		held := held + (truth BETWEEN p.share_low AND p.share_high)::int;
		width := width + (p.share_high - p.share_low) / samples;
		percent_read := percent_read + p.sampled_percent / samples;
	END LOOP;
	RETURN NEXT;
END $$;
CREATE TEMP TABLE clustered_answer AS SELECT * FROM pg_temp.held('together', 2, :samples);
CREATE TEMP TABLE mixed_answer AS SELECT * FROM pg_temp.held('mixed_up', 2, :samples);

SELECT cmp_ok(held, '>=', :wanted, format('tenants together: the interval holds the true share %s of %s times', held, :samples)) FROM clustered_answer;
SELECT cmp_ok(held, '>=', :wanted, format('shuffled: %s of %s times', held, :samples)) FROM mixed_answer;
SELECT cmp_ok(c.width, '>', 3 * m.width, 'together the interval is honestly wide') FROM clustered_answer AS c, mixed_answer AS m;
SELECT cmp_ok(width, '<', 0.05::float8, 'shuffled it is narrow') FROM mixed_answer;
SELECT ok(abs(percent_read - 2) < 0.5, 'sampled_percent is what was read') FROM mixed_answer;

SET LOCAL shardkit.sample_seed = '7';
SELECT is(a, b, 'a seed repeats a sample') FROM shardkit.predict_churn('together', 'tenant', 'modulo(8)', 'ring(9)', sample_percent => 2) AS a,
	shardkit.predict_churn('together', 'tenant', 'modulo(8)', 'ring(9)', sample_percent => 2) AS b;
SELECT is((p.share_low, p.share_high, p.sampled_percent), (p.share_moved, p.share_moved, 100::float8), 'not sampled: no interval')
FROM shardkit.predict_churn('together', 'tenant', 'modulo(8)', 'ring(9)') AS p;

-- partitions are sampled as well: blocks of different tables are different blocks
CREATE TABLE parted (tenant int) PARTITION BY HASH (tenant);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT i FROM generate_series(1, 100000) AS i;
SELECT ok(p.sampled_percent BETWEEN 30 AND 70 AND p.rows BETWEEN 30000 AND 70000 AND p.share_moved BETWEEN p.share_low AND p.share_high, 'half of two partitions')
FROM shardkit.predict_modulus_change('parted', 3, sample_percent => 50) AS p;
SELECT * FROM finish();
ROLLBACK;
