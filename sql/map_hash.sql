-- maps whose slots are made by the hash of a router outside
CREATE EXTENSION shardkit;
CREATE SCHEMA app;
CREATE FUNCTION app.route(key text) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS
	'SELECT length(key)::bigint - 10';
CREATE FUNCTION app.unstable(key text) RETURNS bigint STABLE LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION app.narrow(key text) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE TABLE hash_shape (id bigint, name text, price numeric, note text);

-- an algorithm of hash64, over the key's text
SELECT shardkit.create_map('sha', 12, ARRAY['sha0', 'sha1'], hash => 'sha1');
SELECT shardkit.slot_of('sha', '42') = shardkit.modulo(shardkit.hash64('42', 'sha1'), 12) AS before_any_table;
SELECT shardkit.add_table('sha', 'users', 'id', template => 'hash_shape');
SELECT bool_and(shardkit.slot_of('sha', id) = shardkit.modulo(shardkit.hash64(id::text, 'sha1'), 12)),
	bool_and(shardkit.slot_of('sha', id) = shardkit.slot_of('sha', id::text)),
	count(DISTINCT shardkit.slot_of('sha', id)) FROM generate_series(-500::bigint, 500) AS id;
INSERT INTO sha0.users SELECT id FROM generate_series(1, 500) AS id WHERE shardkit.node_of('sha', id) = 'sha0';
INSERT INTO sha1.users SELECT id FROM generate_series(1, 500) AS id WHERE shardkit.node_of('sha', id) = 'sha1';
INSERT INTO sha0.users SELECT min(id) FROM generate_series(1, 500) AS id WHERE shardkit.node_of('sha', id) = 'sha1';
INSERT INTO sha0.users (name) VALUES ('no key');
SELECT shardkit.export_map('sha') -> 'samples' -> 0;

-- what is predicted by slot is what moves
SELECT count(*) AS to_move FROM sha0.users WHERE shardkit.slot_of('sha', id) IN (0, 3) \gset
CALL shardkit.move_rows('sha', ARRAY[0, 3], 'sha1');
SELECT sum(rows) = :to_move AS as_counted FROM shardkit.move_log WHERE map = 'sha';
SELECT (SELECT count(*) FROM sha0.users) + (SELECT count(*) FROM sha1.users) AS all_there;

-- a function of one's own
SELECT shardkit.create_map('own', 7, ARRAY['own0'], hash => 'app.route(text)');
SELECT hash FROM shardkit.map WHERE name = 'own';
SELECT shardkit.add_table('own', 'users', 'name', template => 'hash_shape');
SELECT shardkit.slot_of('own', 'abc') = shardkit.modulo(-7, 7) AS unsigned, shardkit.slot_of('own', 'abcdefghijklm');
INSERT INTO own0.users (name) VALUES ('abc');

-- refused
SELECT shardkit.create_map('x', 7, hash => 'crc32');
SELECT shardkit.create_map('x', 7, hash => 'app.missing(text)');
SELECT shardkit.create_map('x', 7, hash => 'app.unstable(text)');
SELECT shardkit.create_map('x', 7, hash => 'app.narrow(text)');
SELECT shardkit.create_map('x', 7, hash => 'app.route(');
SELECT shardkit.create_map('xxh', 7, ARRAY['own1'], hash => 'xxh3');
SELECT shardkit.add_table('xxh', 'prices', 'price', template => 'hash_shape');
SELECT shardkit.add_table('xxh', 'pairs', 'id, name', template => 'hash_shape');

-- the function gone, or no longer what it was
ALTER FUNCTION app.route(text) VOLATILE;
INSERT INTO own0.users (name) VALUES ('defg');
DROP FUNCTION app.route(text);
INSERT INTO own0.users (name) VALUES ('hi');
SELECT shardkit.slot_of('own', 'abc');

SET client_min_messages = warning;
SELECT shardkit.drop_map('sha'), shardkit.drop_map('own'), shardkit.drop_map('xxh');
DROP SCHEMA app, sha0, sha1, own0, own1 CASCADE;
DROP TABLE hash_shape;
DROP EXTENSION shardkit;
