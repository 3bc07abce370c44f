-- PostgreSQL's hash partitioning in SQL
CREATE EXTENSION shardkit;

-- the hash never changes (checked against the server row by row in test/pgtap/key.sql)
SELECT shardkit.partition_hash(42) AS int4, shardkit.partition_hash(42::bigint) AS int8,
	shardkit.partition_hash('a') AS text, shardkit.partition_hash(NULL::int) AS "null",
	shardkit.partition_hash(1, NULL::text) = shardkit.partition_hash(1) AS null_adds_nothing;
SELECT shardkit.partition_hash(1, 'a') <> shardkit.partition_hash('a', 1) AS order_counts,
	shardkit.partition_hash('a') = shardkit.partition_hash('a'::text) AS literal_is_text,
	shardkit.partition_hash('a'::varchar) = shardkit.partition_hash('a'::text) AS varchar_is_text,
	shardkit.partition_hash(VARIADIC ARRAY[1, 2]) = shardkit.partition_hash(1, 2) AS array_is_list;
SELECT shardkit.partition_hash(VARIADIC NULL::int[]), shardkit.partition_slot(NULL, 1),
	shardkit.partition_slot(480, 'x'), shardkit.partition_slot(8, NULL);
-- never negative
SELECT min(shardkit.partition_slot(480, i)), max(shardkit.partition_slot(480, i))
	FROM generate_series(1, 100000) AS i;

CREATE TABLE orders (id bigint, "User" text, c point, day date) PARTITION BY HASH ("User", id);
CREATE TABLE orders_0 PARTITION OF orders FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT shardkit.partition_hash_for('orders', 'a', 7) = shardkit.partition_hash('a', 7::bigint) AS same,
	shardkit.partition_of('orders', 'a', 7), shardkit.partition_of('orders', 'a', '7'),
	shardkit.partition_of('orders', NULL, NULL), shardkit.partition_of(NULL, 'a', 7);
CREATE TABLE by_float (k float8) PARTITION BY HASH (k);
CREATE TABLE by_numeric (k numeric(10,2)) PARTITION BY HASH (k);
SELECT shardkit.partition_hash_for('by_float', 42) = shardkit.partition_hash(42::float8) AS cast_to_float,
	shardkit.partition_hash_for('by_numeric', 42) = shardkit.partition_hash(42::numeric) AS cast_to_numeric,
	shardkit.partition_hash_for('by_numeric', '1.005') = shardkit.partition_hash(1.01) AS typmod_holds,
	shardkit.partition_of('by_numeric', 1) AS none;

-- one clear error each
\set VERBOSITY sqlstate
SELECT shardkit.partition_slot(0, 1);
SELECT shardkit.partition_hash('(1,2)'::point);
SELECT shardkit.partition_hash(VARIADIC ARRAY[]::int[]);
SELECT shardkit.partition_hash(VARIADIC (SELECT array_agg(i) FROM generate_series(1, 33) AS i));
SELECT shardkit.partition_hash_for('pg_class', 1);
SELECT shardkit.partition_hash_for(1::regclass, 1);
SELECT shardkit.partition_hash_for('orders', 'a');
SELECT shardkit.partition_hash_for('orders', 'a', 1.5);
SELECT shardkit.partition_hash_for('orders', 'a', 'b');
\set VERBOSITY default
SELECT shardkit.partition_hash_for('orders', 'a', 1.5);
SELECT shardkit.partition_hash('(1,2)'::point);

-- sub-partitions: as far down as the key decides
CREATE TABLE sub (tenant int, at date) PARTITION BY HASH (tenant);
CREATE TABLE sub_0 PARTITION OF sub FOR VALUES WITH (MODULUS 2, REMAINDER 0) PARTITION BY RANGE (tenant);
CREATE TABLE sub_0_low PARTITION OF sub_0 FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE sub_0_rest PARTITION OF sub_0 DEFAULT;
CREATE TABLE sub_1 PARTITION OF sub FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY RANGE (at);
SELECT partition, count(*) FROM (SELECT shardkit.partition_of('sub', t)::text AS partition FROM generate_series(1, 200) AS t) s GROUP BY 1 ORDER BY partition COLLATE "C";
CREATE TABLE colors (color text) PARTITION BY LIST (color);
CREATE TABLE warm PARTITION OF colors FOR VALUES IN ('red', NULL);
SELECT shardkit.partition_of('colors', 'red') AS red, shardkit.partition_of('colors', NULL) AS "null",
	shardkit.partition_of('colors', 'blue') AS blue;

-- partitioned below by an expression, which the key does not decide; NULL in a range goes to the default
CREATE TABLE deep (k int) PARTITION BY LIST (k);
CREATE TABLE deep_1 PARTITION OF deep FOR VALUES IN (1, NULL) PARTITION BY RANGE ((k + 1));
CREATE TABLE deep_1_low PARTITION OF deep_1 FOR VALUES FROM (0) TO (10);
CREATE TABLE deep_2 PARTITION OF deep DEFAULT PARTITION BY RANGE (k);
CREATE TABLE deep_2_low PARTITION OF deep_2 FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE spans (k int) PARTITION BY RANGE (k);
CREATE TABLE spans_low PARTITION OF spans FOR VALUES FROM (MINVALUE) TO (100);
SELECT shardkit.partition_of('deep', 1) AS one, shardkit.partition_of('deep', 2) AS two, shardkit.partition_of('deep', 200) AS none,
	shardkit.partition_of('spans', 1) AS low, shardkit.partition_of('spans', NULL::int) AS null_nowhere;
CREATE TABLE spans_rest PARTITION OF spans DEFAULT;
SELECT shardkit.partition_of('spans', NULL::int) AS "null", shardkit.partition_of('spans', 100) AS rest;
SELECT shardkit.partition_hash_for(NULL, 1) AS no_parent, shardkit.partition_hash_for('sub', VARIADIC NULL::int[]) AS no_key,
	shardkit.partition_of('sub', VARIADIC NULL::int[]) AS nowhere;
SELECT shardkit.partition_hash_for('spans', 1);

-- a type whose hash operator class has no extended function
CREATE TYPE narrow AS (a int);
CREATE FUNCTION narrow_same(narrow, narrow) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1.a = $2.a';
CREATE FUNCTION narrow_hash(narrow) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1.a';
CREATE OPERATOR === (LEFTARG = narrow, RIGHTARG = narrow, FUNCTION = narrow_same);
CREATE OPERATOR CLASS narrow_ops DEFAULT FOR TYPE narrow USING hash AS OPERATOR 1 ===, FUNCTION 1 narrow_hash(narrow);
SELECT shardkit.partition_hash(ROW(1)::narrow);

-- a partition attached within the statement's own transaction is seen
DO $$
DECLARE
	found regclass;
BEGIN
	FOR i IN 1 .. 2 LOOP
		found := shardkit.partition_of('colors', 'blue');
		RAISE NOTICE 'blue: %', found;
		IF i = 1 THEN CREATE TABLE cold PARTITION OF colors FOR VALUES IN ('blue'); END IF;
	END LOOP;
END $$;

-- the OID of nothing is an error like any other
SELECT shardkit.partition_of(0::oid::regclass, 1);
SELECT shardkit.partition_hash_for(0::oid::regclass, 1);
DROP TABLE orders, by_float, by_numeric, sub, colors, deep, spans;
DROP OPERATOR CLASS narrow_ops USING hash;
DROP OPERATOR FAMILY narrow_ops USING hash;
DROP OPERATOR === (narrow, narrow);
DROP FUNCTION narrow_same, narrow_hash;
DROP TYPE narrow;
DROP EXTENSION shardkit;
