-- every wrong call gives one clear error
CREATE EXTENSION shardkit;

CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
	RETURN state || ' ' || left(message, 90);
END;
$$;

CREATE TABLE error_shape (id bigint PRIMARY KEY, other numeric, note text, j json);
SELECT shardkit.create_map('m', 8, ARRAY['m0', 'm1']);
SELECT shardkit.add_table('m', 'error_shape', 'id', template => 'error_shape');
SELECT shardkit.create_map('empty', 4);
CREATE FOREIGN DATA WRAPPER dummy;
CREATE SERVER dummy FOREIGN DATA WRAPPER dummy;

-- create_map
SELECT call, refused('SELECT shardkit.create_map(' || call || ')') FROM (VALUES
	($$'x', 0$$), ($$'x', -1$$), ($$'x', 65536$$), ($$'', 8$$), ($$repeat('x', 256), 8$$),
	($$NULL, 8$$), ($$'x', NULL$$), ($$'x', 8, NULL$$), ($$'x', 8, hash => NULL$$),
	($$'m', 8$$), ($$'x', 8, ARRAY['a', 'a']$$), ($$'x', 8, ARRAY['a', NULL]$$),
	($$'x', 8, ARRAY['a', '']$$), ($$'x', 8, ARRAY[['a'], ['b']]$$), ($$'x', 8, ARRAY['pg_catalog']$$),
	($$'x', 8, ARRAY['pg_new']$$), ($$'x', 8, ARRAY['shardkit']$$), ($$'x', 8, ARRAY['shardkit_internal']$$), ($$'x', 8, ARRAY['information_schema']$$),
	($$'x', 8, ARRAY[repeat('n', 64)]$$), ($$'x', 8, hash => 'sha512'$$)) AS c(call);

-- nodes
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES
	($$add_node('none', 'a')$$), ($$add_node('m', 'm0')$$), ($$add_node('m', 'other', schema => 'm0')$$),
	($$add_node('m', NULL)$$), ($$add_node(NULL, 'a')$$), ($$add_node('m', '')$$),
	($$add_node('m', 'a', weight => 0)$$), ($$add_node('m', 'a', weight => -1)$$),
	($$add_node('m', 'a', weight => 'NaN')$$), ($$add_node('m', 'a', weight => 'Infinity')$$),
	($$add_node('m', 'a', weight => 1e308)$$), ($$add_node('m', 'a', weight => 1e-308)$$), ($$set_weight('m', 'm0', 1.1e100)$$),
	($$add_node('m', 'a', weight => NULL)$$), ($$add_node('m', 'a', server => 'nowhere')$$),
	($$add_node('m', 'a', server => 'dummy')$$), ($$add_node('m', 'pg_toast')$$),
	($$set_weight('m', 'none', 1)$$), ($$set_weight('m', 'm0', 0)$$), ($$set_weight('m', 'm0', NULL)$$),
	($$drain_node('m', 'none')$$), ($$drain_node('m', 'm0', NULL)$$), ($$drain_node('none', 'm0')$$),
	($$remove_node('m', 'm0')$$), ($$remove_node('m', 'none')$$), ($$remove_node('m', NULL)$$)) AS c(call);

-- slots
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES
	($$assign_slots('empty', '{0}', 'none')$$), ($$assign_slots('m', '{8}', 'm0')$$),
	($$assign_slots('m', '{-1}', 'm0')$$), ($$assign_slots('m', '{}', 'm0')$$),
	($$assign_slots('m', '{NULL}', 'm0')$$), ($$assign_slots('m', NULL, 'm0')$$),
	($$assign_slots('m', '{0}', 'm1')$$), ($$deal_slots('empty')$$), ($$deal_slots('none')$$),
	($$deal_slots(NULL)$$), ($$drop_map('none')$$), ($$drop_map(NULL)$$), ($$adopt_map('none')$$)) AS c(call);

-- look-ups
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES
	($$slot_of('none', 1)$$), ($$slot_of('m', 1, 2)$$), ($$slot_of('m', 1.5)$$), ($$slot_of('m', 'x')$$),
	($$slot_of('m', VARIADIC NULL::int[])$$), ($$slot_of('m', VARIADIC '{}'::int[])$$),
	($$slot_of('m', '{}'::json)$$), ($$slot_of('empty', '1')$$), ($$slot_of('empty', '{}'::json)$$),
	($$slot_of('', 1)$$), ($$slot_of(repeat('m', 1000), 1)$$),
	($$slot_node('m', 8)$$), ($$slot_node('m', -1)$$), ($$slot_node('none', 0)$$), ($$map_epoch('none')$$),
	($$node_at('m', 0, 0)$$), ($$node_at('m', 99, 0)$$), ($$node_at('m', 1, 8)$$),
	($$map_changes('none', 0)$$), ($$export_map('none')$$)) AS c(call);
SELECT shardkit.slot_of('empty', 42), shardkit.slot_of('empty', VARIADIC ARRAY['x']), shardkit.node_of('empty', 42);

-- require
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES
	($$require_slot('none', 1, 0)$$), ($$require_slot('m', 2, 8)$$), ($$require_slot('m', 0, 0)$$),
	($$require_slot('m', 99, 0)$$), ($$require_slot('empty', 1, 0)$$), ($$require_slot(NULL, 1, 0)$$),
	($$require_slot('m', NULL, 0)$$), ($$require_slot('m', 1, NULL)$$),
	($$require_key('m', 0, 42)$$), ($$require_key('m', 2, 'x')$$), ($$require_key('m', 2, 1, 2)$$)) AS c(call);
SELECT shardkit.require_slot('m', 1, 0), shardkit.require_key('m', 1, 42) = shardkit.node_of('m', 42);

-- documents
SELECT document, refused(format('SELECT shardkit.import_map(%L)', document)) FROM (VALUES
	('[]'), ('{}'), ('{"map": "x"}'), ('{"map": "x", "slots": 4, "format": 2}'),
	('{"map": "x", "slots": "many"}'), ('{"map": "x", "slots": 4, "epoch": -1}'),
	('{"map": "m", "slots": 4}'), ('{"map": "x", "slots": 4, "nodes": 3}'),
	('{"map": "x", "slots": 4, "nodes": [{"schema": "s"}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}, {"name": "a", "schema": "b"}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "b", "slots": [1]}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": [4]}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": [1, [0, 2]]}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": 7}]}'),
	('{"map": "x", "slots": 4, "samples": [{"key": ["42"], "types": ["bigint"], "slot": 0}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a", "state": "gone"}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a", "schema": ""}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": [[3, 1]]}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": [[0, 1, 2]]}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": [1.5]}]}'),
	('{"map": "x", "slots": 4, "nodes": [{"name": "a"}], "owners": [{"node": "a", "slots": ["b"]}]}')) AS c(document);
SELECT refused('SELECT shardkit.import_map(NULL)');

-- tables
CREATE TEMP TABLE error_temporary (id bigint);
SELECT call, refused('SELECT * FROM shardkit.' || call) FROM (VALUES
	($$add_table('m', 't', 'id', template => 999999::oid::regclass)$$), ($$add_table('m', 't', 'id', template => 'error_temporary')$$),
	($$add_node('m', 'a', schema => '')$$), ($$index_slots('none', 't')$$), ($$index_slots('m', 'none')$$),
	($$server_leftovers('none')$$)) AS c(call);

CREATE TABLE error_pairs (a int, b int, word text);
SELECT shardkit.create_map('pairs', 8, ARRAY['p0']);
SELECT shardkit.add_table('pairs', 'pairs', 'a, b', template => 'error_pairs');
SELECT shardkit.create_map('digest', 8, ARRAY['d0'], hash => 'md5');
SELECT shardkit.create_map('many', 1025, ARRAY['y0']);
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES
	($$add_table('pairs', 'singles', 'a', template => 'error_pairs')$$), ($$add_table('pairs', 'pairs', 'a, b', template => 'error_pairs')$$),
	($$add_table('pairs', 'other', 'a, word', template => 'error_pairs')$$), ($$add_table('pairs', 'parts', 'a, b', 'per_slot', 'error_pairs')$$),
	($$add_table('pairs', 'missing', 'a, b')$$), ($$add_table('pairs', 'a.b', 'a, b', template => 'error_pairs')$$),
	($$add_table('pairs', '', 'a, b', template => 'error_pairs')$$), ($$add_table('pairs', 't', 'a b', template => 'error_pairs')$$),
	($$add_table('pairs', 't', 'a, b', 'both', 'error_pairs')$$),
	($$add_table('digest', 'parts', 'a', 'per_slot', 'error_pairs')$$), ($$add_table('many', 'parts', 'a', 'per_slot', 'error_pairs')$$),
	($$add_table('empty', 'missing', 'a', 'per_slot')$$), ($$add_table('empty', 'a.b.c', 'a', 'per_slot', 'error_pairs')$$), ($$remove_table('pairs', 'a.b')$$)) AS c(call);
-- a node's table can be made of another's, but not of none
DROP TABLE p0.pairs;
DROP TABLE error_pairs;
SELECT refused($$SELECT shardkit.add_node('pairs', 'p1')$$);
-- samples of a router's hash
SELECT document, refused(format('SELECT shardkit.import_map(%L)', document)) FROM (VALUES
	('{"map": "sampled", "slots": 8, "hash": "md5", "samples": [{"key": ["a"], "types": ["text"], "slot": 8}]}'),
	(format('{"map": "sampled", "slots": 8, "hash": "md5", "samples": [{"key": ["a"], "types": ["text"], "slot": %s}]}', shardkit.modulo(shardkit.hash64('a', 'md5'), 8)))) AS c(document);
SELECT shardkit.slot_of('sampled', VARIADIC ARRAY['a']) = shardkit.modulo(shardkit.hash64('a', 'md5'), 8) AS same, shardkit.node_of(NULL, 1);

-- what an unfinished move needs must stay: the map, both nodes, the table
SELECT shardkit.add_node('many', 'y1'), shardkit.add_node('many', 'y2');
CREATE TABLE y0.moving (id int);
SELECT shardkit.add_table('many', 'moving', 'id', template => 'y0.moving'), shardkit.add_table('many', 'still', 'id', template => 'y0.moving');
INSERT INTO shardkit.move_log (map, slot, relation, from_node, to_node, state) VALUES ('many', 7, 'moving', 'y0', 'y1', 'copying');
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES ($$drop_map('many')$$), ($$remove_node('many', 'y1')$$), ($$remove_table('many', 'moving')$$),
	($$remove_node('many', 'y2')$$), ($$remove_table('many', 'still')$$)) AS c(call);
UPDATE shardkit.move_log SET finished_at = now() WHERE map = 'many';
SELECT call, refused('SELECT shardkit.' || call) FROM (VALUES ($$remove_table('many', 'moving')$$), ($$remove_node('many', 'y1')$$), ($$drop_map('many')$$)) AS c(call);
SELECT shardkit.drop_map('pairs'), shardkit.drop_map('digest'), shardkit.drop_map('sampled');

-- without the catalog under its name
ALTER SCHEMA shardkit RENAME TO elsewhere;
SELECT refused($$SELECT elsewhere.map_epoch('m')$$), refused($$SELECT elsewhere.slot_of('m', 1)$$);
ALTER SCHEMA elsewhere RENAME TO shardkit;
ALTER TABLE shardkit.map RENAME TO elsewhere;
SELECT refused($$SELECT shardkit.slot_of('m', 1)$$);
ALTER TABLE shardkit.elsewhere RENAME TO map;
SELECT shardkit.slot_of('m', 1) IS NOT NULL AS back;

-- nothing of all that has happened
SELECT name, epoch FROM shardkit.map ORDER BY name;
SELECT nspname FROM pg_namespace WHERE nspname IN ('a', 'x', 'b', 'other', 'pg_new');

-- names of the longest, with quotes and capitals
SELECT shardkit.create_map(repeat('M"', 127) || 'x', 2);
SELECT shardkit.add_node(repeat('M"', 127) || 'x', repeat('N', 255), schema => repeat('"', 63));
SELECT shardkit.add_table(repeat('M"', 127) || 'x', '"Größe ""1"""', 'id', template => 'error_shape');
SELECT shardkit.deal_slots(repeat('M"', 127) || 'x');
SELECT format('INSERT INTO %I.%I VALUES (1)', repeat('"', 63), 'Größe "1"') \gexec
SELECT shardkit.node_of(repeat('M"', 127) || 'x', 1) = repeat('N', 255);
SELECT shardkit.drop_map(repeat('M"', 127) || 'x');

SET client_min_messages = warning;
DROP SCHEMA m0, m1, p0, d0, y0, y1, y2 CASCADE;
SELECT format('DROP SCHEMA %I CASCADE', repeat('"', 63)) \gexec
DROP TABLE error_shape;
DROP FUNCTION refused;
DROP FOREIGN DATA WRAPPER dummy CASCADE;
DROP EXTENSION shardkit CASCADE;
