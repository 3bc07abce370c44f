-- look-ups: every session, worker and way to write a key gives the same slot and owner
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT plan(23);

CREATE TABLE lookup_keys AS SELECT i AS id FROM generate_series(1::bigint, 100000) AS i;
ANALYZE lookup_keys;
CREATE TABLE lookup_shape (id bigint PRIMARY KEY);
SELECT FROM shardkit.create_map('l', 100, ARRAY['l0', 'l1', 'l2']);
SELECT FROM shardkit.add_table('l', 'lookup', 'id', template => 'lookup_shape');

CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		lines := lines || line || E'\n';
	END LOOP;
	RETURN lines;
END;
$$;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
PREPARE by_node AS SELECT shardkit.node_of('l', id) AS node, count(*), sum(shardkit.slot_of('l', id))
	FROM lookup_keys GROUP BY 1 ORDER BY 1;

-- the map is this transaction's own, uncommitted: workers must see it as the leader does
SELECT matches(plan_of('EXECUTE by_node'), 'Gather.*Parallel Seq Scan', 'node_of takes part in a parallel plan');
CREATE TABLE in_parallel AS EXECUTE by_node;
SET LOCAL max_parallel_workers_per_gather = 0;
CREATE TABLE alone AS EXECUTE by_node;
SELECT set_eq('TABLE in_parallel', 'TABLE alone', 'workers and leader agree');
SELECT is((SELECT sum(count) FROM alone), 100000::numeric, 'on all keys');
SELECT set_eq('SELECT shardkit.slot_of(''l'', id) FROM lookup_keys', 'SELECT generate_series(0, 99)', 'all slots are used');

-- a slot is the remainder of a hash-partitioned table
SELECT is((SELECT count(*) FROM lookup_keys WHERE shardkit.slot_of('l', id) <> shardkit.partition_slot(100, id)),
	0::bigint, 'slot_of is partition_slot');
SELECT is((SELECT count(*) FROM lookup_keys WHERE shardkit.slot_of('l', id) <> shardkit.slot_of('l', id::text)),
	0::bigint, 'a key as text has the same slot');
SELECT is((SELECT count(*) FROM lookup_keys WHERE shardkit.node_of('l', id)
	<> shardkit.slot_node('l', shardkit.slot_of('l', VARIADIC ARRAY[id]))), 0::bigint, 'and as an array');

-- key types: the literal is read as the key's type
SELECT is(shardkit.slot_of(name, VARIADIC ARRAY[literal]) IS NULL, false, name) FROM (VALUES ('l', 1)) AS v(name, literal);
CREATE FUNCTION slot_as_text(type text, literal text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	equal boolean;
BEGIN
	EXECUTE format('CREATE TABLE lookup_typed (key %s)', type);
	PERFORM shardkit.create_map('typed', 97, ARRAY['typed_node']);
	PERFORM shardkit.add_table('typed', 'typed', 'key', template => 'lookup_typed');
	EXECUTE format('SELECT shardkit.slot_of(''typed'', %1$L) = shardkit.partition_slot(97, %1$L::%2$s)
		AND shardkit.slot_of(''typed'', %1$L::%2$s) = shardkit.partition_slot(97, %1$L::%2$s)', literal, type)
	INTO equal;
	PERFORM shardkit.drop_map('typed');
	DROP SCHEMA typed_node CASCADE;
	DROP TABLE lookup_typed;
	RETURN equal;
END;
$$;
SET LOCAL client_min_messages = warning;
SELECT is(slot_as_text(type, literal), 'true', 'a literal for ' || type) FROM (VALUES
	('smallint', '-7'), ('text', 'Zürich'), ('varchar(20)', 'a b'), ('char(8)', 'ab'), ('uuid', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'),
	('numeric(12,2)', '1.5'), ('date', '2024-02-29'), ('timestamptz', '2024-02-29 12:00+02'), ('bytea', '\x00ff')) AS t(type, literal);

-- key columns that hash otherwise elsewhere, or from one version of a library to the next
SELECT CASE WHEN NOT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i') THEN skip('a server without ICU', 1) ELSE throws_ok($$
	CREATE COLLATION lookup_loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE lookup_collated (k text COLLATE lookup_loose);
	SELECT shardkit.add_table('l', 'collated', 'k', template => 'lookup_collated')$$, '0A000',
	'a key column of a map cannot have a nondeterministic collation', 'a nondeterministic collation') END;

-- rows of the catalog that no function of ours writes: looked past, or named
INSERT INTO shardkit.slot_map VALUES ('l', 100, 'l0', 1), ('l', -1, 'l0', 1);
UPDATE shardkit.slot_map SET node = 'nobody' WHERE map = 'l' AND slot = 7;
SELECT is((SELECT count(*) FROM lookup_keys WHERE shardkit.slot_of('l', id) <> shardkit.partition_slot(100, id)), 0::bigint, 'slots beyond the map change nothing');
SELECT is(shardkit.slot_node('l', 7), NULL, 'a slot of a node that is not there has no owner');
SELECT throws_ok($$SELECT shardkit.slot_node('l', 100)$$, '22003', NULL, 'nor is there such a slot');
UPDATE shardkit.map_table SET key_types = '{{bigint},{bigint}}' WHERE map = 'l';
SELECT throws_ok($$SELECT shardkit.slot_of('l', '42')$$, '42P18', NULL, 'types that are no list do not tell the key''s');
SELECT is(shardkit.slot_of('l', 42), shardkit.partition_slot(100, 42), 'a typed key needs them not');

SELECT * FROM finish();
ROLLBACK;
