-- every row of real partitioned tables is where partition_slot and partition_of say
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT plan(50);

-- Rows of a table partitioned by modulus partitions that are not where the functions say.
CREATE FUNCTION pg_temp.strays(columns text, key text, modulus int, rows text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('CREATE TABLE parted (%s) PARTITION BY HASH (%s)', columns, key);
	FOR remainder IN 0 .. modulus - 1 LOOP
		EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted
			FOR VALUES WITH (MODULUS %s, REMAINDER %1$s)', remainder, modulus);
	END LOOP;
	EXECUTE 'INSERT INTO parted ' || rows;
	EXECUTE format($q$
		SELECT format('%%s rows, %%s strays', count(*), count(*) FILTER (WHERE
			tableoid <> ('parted_' || shardkit.partition_slot(%s, %s))::regclass
			OR tableoid <> shardkit.partition_of('parted', %2$s)
			OR shardkit.partition_hash(%2$s) <> shardkit.partition_hash_for('parted', %2$s)))
		FROM parted $q$, modulus, key) INTO answer;
	DROP TABLE parted;
	RETURN answer;
END $$;

SELECT is(pg_temp.strays(columns, key, modulus, rows), '5001 rows, 0 strays',
	columns || ' by ' || modulus)
FROM (VALUES (7), (16)) AS m(modulus), (VALUES
	('k int2', 'k', 'SELECT i FROM generate_series(-2500, 2500) AS i'),
	('k int4', 'k', 'SELECT i * 429000 FROM generate_series(-2500, 2500) AS i'),
	('k int8', 'k', 'SELECT i * 36000000000000001 FROM generate_series(-250, 4750) AS i WHERE i < 250
		UNION ALL SELECT i FROM generate_series(1, 4501) AS i'),
	('k text', 'k', 'SELECT repeat(i::text, 1 + i % 50) FROM generate_series(0, 5000) AS i'),
	('k varchar(40)', 'k', 'SELECT md5(i::text) FROM generate_series(0, 5000) AS i'),
	('k char(10)', 'k', 'SELECT i::text FROM generate_series(0, 5000) AS i'),
	('k uuid', 'k', 'SELECT md5(i::text)::uuid FROM generate_series(0, 5000) AS i'),
	('k numeric', 'k', 'SELECT i::numeric / 7 FROM generate_series(-2500, 2500) AS i'),
	('k timestamptz', 'k', 'SELECT ''2000-01-01''::timestamptz + i * ''7 min 3 s''::interval FROM generate_series(-2500, 2500) AS i'),
	('k date', 'k', 'SELECT ''2000-01-01''::date + i FROM generate_series(-2500, 2500) AS i'),
	('k bytea', 'k', 'SELECT decode(md5(i::text), ''hex'') FROM generate_series(0, 5000) AS i'),
	('k float8', 'k', 'SELECT i / 3.0 FROM generate_series(-2500, 2500) AS i'),
	('k int[]', 'k', 'SELECT ARRAY[i, i * 2] FROM generate_series(0, 5000) AS i'),
	('k text, l int', 'k, l', 'SELECT ''t'' || i % 70, i FROM generate_series(0, 5000) AS i'),
	('k text, l int8', 'l, k', 'SELECT nullif(''t'' || i % 3, ''t0''), nullif(i % 5, 0) FROM generate_series(0, 5000) AS i'),
	('k int4', 'k', 'SELECT NULL::int FROM generate_series(0, 5000) AS i')
	) AS t(columns, key, rows);

-- the server's own judgement, without any partition
CREATE TABLE empty_parent (k bigint) PARTITION BY HASH (k);
SELECT is(count(*), 20000::bigint, 'satisfies_hash_partition agrees')
FROM generate_series(1, 20000) AS i
WHERE satisfies_hash_partition('empty_parent'::regclass, 480, shardkit.partition_slot(480, i), i::bigint);

-- mixed moduli: what the bounds say, not one modulus
CREATE TABLE mixed (k int) PARTITION BY HASH (k);
CREATE TABLE mixed_a PARTITION OF mixed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE mixed_b PARTITION OF mixed FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE mixed_c PARTITION OF mixed FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE mixed_d PARTITION OF mixed FOR VALUES WITH (MODULUS 8, REMAINDER 7);
INSERT INTO mixed SELECT generate_series(1, 5000);
SELECT is(count(*), 0::bigint, 'mixed moduli')
FROM mixed WHERE tableoid <> shardkit.partition_of('mixed', k);

-- values of other types and lengths, as an INSERT fits them to the column
CREATE TYPE pair AS (a int, b int);
CREATE FUNCTION first_of(p pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT p.a';
CREATE FUNCTION numeric_of(p pair, typmod int) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT p.a / 1000.0 + typmod';
CREATE FUNCTION text_of(p pair, typmod int, is_explicit boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT p.a || ':' || is_explicit$$;
CREATE CAST (pair AS int) WITH FUNCTION first_of(pair) AS IMPLICIT;
CREATE CAST (pair AS numeric) WITH FUNCTION numeric_of(pair, int) AS IMPLICIT;
CREATE CAST (pair AS text) WITH FUNCTION text_of(pair, int, boolean) AS IMPLICIT;
CREATE DOMAIN cents AS numeric(10,2);
CREATE FUNCTION pg_temp.misplaced(key_type text, value text, list text DEFAULT '%s') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	answer bigint;
BEGIN
	EXECUTE format('CREATE TABLE parted (i int, k %s) PARTITION BY HASH (k)', key_type);
	FOR remainder IN 0 .. 6 LOOP
		EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES WITH (MODULUS 7, REMAINDER %1$s)', remainder);
	END LOOP;
	EXECUTE format('CREATE TABLE given AS SELECT i, %s AS v FROM generate_series(1, 500) AS i', value);
	INSERT INTO parted SELECT i, v FROM given;
	EXECUTE format('SELECT count(*) FROM parted JOIN given USING (i) WHERE parted.tableoid <> shardkit.partition_of(''parted'', %s)
		OR shardkit.partition_hash(k) <> shardkit.partition_hash_for(''parted'', %1$s)', format(list, 'v')) INTO answer;
	DROP TABLE parted, given;
	RETURN answer;
END $$;
SELECT is(pg_temp.misplaced(key_type, value), 0::bigint, format('%s as %s', value, key_type)) FROM (VALUES
	('int', '(i, 1)::pair'), ('numeric', '(i, 1)::pair'), ('numeric(10,2)', '(i, 1)::pair'), ('text', '(i, 1)::pair'),
	('numeric(10,2)', 'i / 7.0'), ('numeric(10,2)', '(i / 7.0)::numeric(10,2)'), ('numeric(10,2)', '(i / 7.0)::numeric(10,1)'), ('numeric(10,2)', 'i'),
	('cents', 'i / 7.0'), ('varchar(3)', 'i::text'), ('char(5)', 'i::text'), ('timestamp(0)', '''2000-01-01''::timestamp + i * ''700 ms''::interval'),
	('numeric(10,1)[]', 'ARRAY[i / 7.0, NULL]')) AS t(key_type, value);
SELECT is(pg_temp.misplaced('numeric(10,2)', 'i / 7.0', 'VARIADIC ARRAY[%s]'), 0::bigint, 'an array of values');
CREATE TABLE short (k varchar(3)) PARTITION BY HASH (k);
SELECT throws_ok($$SELECT shardkit.partition_of('short', 'four'::text)$$, '22001', 'value too long for type character varying(3)', 'what no row can hold has no partition');
SELECT throws_ok($$SELECT shardkit.partition_of('short', 'four')$$, '22001', 'value too long for type character varying(3)', 'neither as a literal');

SELECT * FROM finish();
ROLLBACK;
