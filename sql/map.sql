-- the life of a map of one table
CREATE EXTENSION shardkit;
CREATE TABLE map_shape (user_id bigint PRIMARY KEY, note text);

SELECT shardkit.create_map('orders', 72, ARRAY['p0', 'p1', 'p2']);
SELECT shardkit.add_table('orders', 'orders', 'user_id', template => 'map_shape');
SELECT node, count(*), min(slot), max(slot) FROM shardkit.slot_map GROUP BY node ORDER BY node;

-- every way to write a key is the same key
SELECT shardkit.slot_of('orders', 42), shardkit.slot_of('orders', '42'),
	shardkit.slot_of('orders', 42::bigint), shardkit.slot_of('orders', 42::smallint),
	shardkit.slot_of('orders', '42'::text), shardkit.slot_of('orders', VARIADIC ARRAY[42]);
SELECT shardkit.node_of('orders', 42), shardkit.node_of('orders', '42'),
	shardkit.slot_node('orders', shardkit.slot_of('orders', 42));
PREPARE untyped AS SELECT shardkit.node_of('orders', $1);
EXECUTE untyped('42');
SELECT count(*) FROM generate_series(1, 10000) AS i
WHERE shardkit.slot_of('orders', i) <> shardkit.partition_slot(72, i::bigint);
SELECT shardkit.slot_of('orders', NULL::bigint), shardkit.slot_of(NULL, 1) IS NULL;

-- a node more: it owns nothing and has the map's tables
SELECT shardkit.add_node('orders', 'p3', weight => 2);
SELECT to_regclass('p3.orders') IS NOT NULL, count(*) FILTER (WHERE node = 'p3') AS owned
FROM shardkit.slot_map;
SELECT shardkit.set_weight('orders', 'p3', 3), shardkit.drain_node('orders', 'p3');
SELECT name, weight, state FROM shardkit.node ORDER BY name;
SELECT shardkit.drain_node('orders', 'p3', false), shardkit.remove_node('orders', 'p3');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'p3.orders'::regclass;
SELECT epoch, change FROM shardkit.map_log ORDER BY epoch;

-- first owners by hand, then the rest by weight
SELECT shardkit.create_map('Mein "Plan"', 12);
SELECT shardkit.add_node('Mein "Plan"', 'erster Knoten', schema => 'Knoten 1');
SELECT shardkit.add_node('Mein "Plan"', 'zweiter', weight => 3);
SELECT shardkit.slot_node('Mein "Plan"', 0) IS NULL AS nobody;
SELECT shardkit.assign_slots('Mein "Plan"', '{11,0,1,2}', 'erster Knoten');
SELECT shardkit.deal_slots('Mein "Plan"');
SELECT node, array_agg(slot ORDER BY slot) FROM shardkit.slot_map
WHERE map = 'Mein "Plan"' GROUP BY node ORDER BY node;

-- dropped: tables and rows stay, guards and history go
SELECT shardkit.drop_map('Mein "Plan"'), shardkit.drop_map('orders');
SELECT count(*) FROM pg_trigger WHERE tgname ~ 'guard';
SELECT to_regclass('p0.orders') IS NOT NULL,
	(SELECT count(*) FROM shardkit.slot_map) + (SELECT count(*) FROM shardkit.map_log) AS left_over;

-- outside: the document of a map makes it again, elsewhere
SELECT shardkit.create_map('out', 12, ARRAY['o0', 'o1']);
SELECT shardkit.add_table('out', 'orders', 'user_id', template => 'map_shape');
SELECT shardkit.add_node('out', 'o2', weight => 2), shardkit.drain_node('out', 'o1');
SELECT shardkit.export_map('out') AS document \gset
SELECT jsonb_pretty((:'document'::jsonb) - 'samples');
SELECT sample FROM jsonb_array_elements(:'document'::jsonb -> 'samples') AS sample;
SELECT shardkit.map_epoch('out') = (:'document'::jsonb ->> 'epoch')::bigint;
CREATE TEMP TABLE before AS SELECT slot, node FROM shardkit.slot_map WHERE map = 'out';
SELECT shardkit.drop_map('out');
SELECT shardkit.import_map(:'document');
SELECT count(*) FROM before NATURAL JOIN shardkit.slot_map WHERE map = 'out';
SELECT name, weight, state FROM shardkit.node ORDER BY name;
SELECT shardkit.add_table('out', 'orders', 'user_id');

-- history: who had what, at every epoch
SELECT shardkit.create_map('h', 4), shardkit.add_node('h', 'h0'), shardkit.add_node('h', 'h1'),
	shardkit.assign_slots('h', '{1,2}', 'h0'), shardkit.deal_slots('h');
SELECT epoch, array_agg(shardkit.node_at('h', epoch, slot) ORDER BY slot)
FROM generate_series(1, 5) AS epoch, generate_series(0, 3) AS slot GROUP BY epoch ORDER BY epoch;
SELECT epoch, changed_by = current_user AS mine, change ->> 'command' AS command
FROM shardkit.map_changes('h', 3);
SELECT count(*) FROM shardkit.map_changes('h');

-- a copy elsewhere is not at home until it is adopted
SELECT shardkit.adopt_map('h');
SELECT system_identifier = (SELECT system_identifier FROM pg_control_system())
	AND database_oid = (SELECT oid FROM pg_database WHERE datname = current_database())
FROM shardkit.map WHERE name = 'h';

DROP TABLE map_shape;
SET client_min_messages = warning;
DROP SCHEMA p0, p1, p2, p3, "Knoten 1", zweiter, o0, o1, o2, h0, h1 CASCADE;
DROP EXTENSION shardkit;
