-- the fingerprint of a set of rows, against values computed outside from its description
CREATE EXTENSION shardkit;
\pset format unaligned
\pset tuples_only on

SELECT shardkit.fingerprint(r) FROM (SELECT 1 AS a) r WHERE false;
SELECT shardkit.fingerprint(r) FROM (VALUES (1, 'x'), (2, NULL)) r (a, b);
SELECT shardkit.fingerprint(r) FROM (SELECT k AS a, k::text AS b FROM pg_catalog.generate_series(1::bigint, 1000) k) r;
-- longer than the hasher's buffer
SELECT shardkit.fingerprint(r) FROM (SELECT pg_catalog.repeat('y', 100000) AS a) r;

-- order of rows and columns, dropped columns, storage and settings do not matter
CREATE TABLE plain (id bigint, "Note" text, price numeric, at timestamptz, tags text[], f float8, data jsonb, u uuid, d date, s int2, ok bool, raw bytea);
INSERT INTO plain SELECT k, pg_catalog.repeat('é' || k, k), k / 7.0, '2026-01-01 00:00:00+00'::timestamptz + k * interval '1 hour',
	ARRAY['a' || k, NULL], pg_catalog.sqrt(k), pg_catalog.jsonb_build_object('k', k), pg_catalog.md5(k::text)::uuid,
	'2026-01-01'::date + k, k, k % 2 = 0, pg_catalog.decode(pg_catalog.md5(k::text), 'hex')
	FROM pg_catalog.generate_series(1, 2000) k;
INSERT INTO plain (id) VALUES (-1);
CREATE TABLE other (raw bytea, gone int, f float8, ok bool, "Note" text, d date, u uuid, s int2, tags text[], at timestamptz, data jsonb, price numeric, id bigint);
ALTER TABLE other DROP COLUMN gone;
ALTER TABLE other ALTER "Note" SET STORAGE EXTERNAL;
INSERT INTO other (id, "Note", price, at, tags, f, data, u, d, s, ok, raw) SELECT * FROM plain ORDER BY id DESC;
SELECT (SELECT shardkit.fingerprint(p) FROM plain p) = (SELECT shardkit.fingerprint(o) FROM other o);
SELECT shardkit.fingerprint(p) AS before FROM plain p \gset
SET client_encoding = 'LATIN1';
SET TimeZone = 'Asia/Tokyo';
SET extra_float_digits = 0;
SET bytea_output = 'escape';
SELECT shardkit.fingerprint(p) = :'before' FROM plain p;
SHOW client_encoding;
RESET ALL;
SET client_encoding = 'UTF8';

-- one bit more or less does
BEGIN;
UPDATE other SET f = f + 1e-15 WHERE id = 5;
SELECT shardkit.fingerprint(o) = :'before' FROM other o;
ROLLBACK;
BEGIN;
DELETE FROM other WHERE id = 7;
SELECT shardkit.fingerprint(o) = :'before' FROM other o;
INSERT INTO other (id, "Note", price, at, tags, f, data, u, d, s, ok, raw) SELECT * FROM plain WHERE id = 7;
SELECT shardkit.fingerprint(o) = :'before' FROM other o;
ROLLBACK;
-- NULL is not the empty string, and a value does not slide into the next column
SELECT pg_catalog.count(DISTINCT f) FROM (
	SELECT shardkit.fingerprint(r) f FROM (SELECT ''::text AS a, ''::text AS b) r
	UNION ALL SELECT shardkit.fingerprint(r) FROM (SELECT NULL::text AS a, ''::text AS b) r
	UNION ALL SELECT shardkit.fingerprint(r) FROM (SELECT 'x'::text AS a, ''::text AS b) r
	UNION ALL SELECT shardkit.fingerprint(r) FROM (SELECT ''::text AS a, 'x'::text AS b) r) every;

-- parallel = serial
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION plan_has(query text, what text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line LIKE '%' || what || '%' THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
SELECT plan_has('SELECT shardkit.fingerprint(p) FROM plain p', 'Partial Aggregate');
SELECT shardkit.fingerprint(p) = :'before' FROM plain p;
RESET ALL;

-- types without a binary form, alone and inside others; domains, enums, composites, ranges
CREATE TYPE pair AS (a aclitem, b int);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TYPE point3 AS (x float8, y float8, z positive);
CREATE TABLE odd (id int, a aclitem, l aclitem[], p pair, m mood, n positive, q point3, r int4range, mr int4multirange, j json);
INSERT INTO odd VALUES (1, '=r/pg_monitor', ARRAY['=r/pg_monitor'::aclitem], ROW('=r/pg_monitor', 2), 'glad', 7, ROW(1, 2, 3), '[1,5)', '{[1,2),[5,9)}', '{"a": 1}');
INSERT INTO odd (id) VALUES (2);
SELECT (SELECT shardkit.fingerprint(o) FROM odd o) = (SELECT shardkit.fingerprint(o) FROM (SELECT j, mr, r, q, n, m, p, l, a, id FROM odd) o);
SELECT pg_catalog.count(DISTINCT f) FROM (SELECT shardkit.fingerprint(o) f FROM odd o GROUP BY id) every;

-- records that change their shape, NULL rows, wrong calls
SELECT shardkit.fingerprint(r) = (SELECT shardkit.fingerprint(s) FROM (VALUES (ROW(1)), (ROW(2))) v (s))
	FROM (VALUES (ROW(2)), (ROW(1))) t (r);
SELECT shardkit.fingerprint(NULL::plain);
SELECT shardkit.fingerprint(1);

DROP TABLE plain, other, odd;
DROP TYPE pair, mood, point3;
DROP DOMAIN positive;
DROP FUNCTION plan_has;
DROP EXTENSION shardkit;
