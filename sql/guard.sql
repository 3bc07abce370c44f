-- a row goes to the node that owns its slot, or nowhere
CREATE EXTENSION shardkit;
CREATE TABLE guard_shape (id bigint PRIMARY KEY, note text);
SELECT shardkit.create_map('g', 16, ARRAY['a', 'b']);
SELECT shardkit.add_table('g', 'orders', 'id', template => 'guard_shape');

-- keys of both nodes
CREATE TABLE keys AS SELECT i AS id, shardkit.node_of('g', i) AS node FROM generate_series(1::bigint, 1000) AS i;
SELECT min(id) FILTER (WHERE node = 'a') AS mine, min(id) FILTER (WHERE node = 'b') AS theirs,
	max(id) FILTER (WHERE node = 'a') AS last FROM keys \gset

INSERT INTO a.orders SELECT id FROM keys WHERE node = 'a';
INSERT INTO b.orders SELECT id FROM keys WHERE node = 'b';
SELECT (SELECT count(*) FROM a.orders) + (SELECT count(*) FROM b.orders);

-- INSERT, ON CONFLICT, UPDATE of the key, COPY, MERGE, a trigger that changes the key
INSERT INTO a.orders VALUES (:theirs);
INSERT INTO a.orders VALUES (:mine) ON CONFLICT (id) DO UPDATE SET id = :theirs;
INSERT INTO a.orders VALUES (:theirs) ON CONFLICT DO NOTHING;
UPDATE a.orders SET id = :theirs WHERE id = :mine;
UPDATE a.orders SET id = id, note = 'key unchanged' WHERE id = :mine;
MERGE INTO a.orders USING (VALUES (:theirs::bigint)) AS new(id) ON orders.id = new.id
	WHEN NOT MATCHED THEN INSERT VALUES (new.id);
COPY a.orders (id) FROM stdin;
2000000
2000001
2000002
2000003
2000004
2000005
2000006
2000007
\.
CREATE FUNCTION redirect() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN NEW.id := (SELECT min(id) FROM keys WHERE node = ''b''); RETURN NEW; END';
CREATE TRIGGER redirect BEFORE INSERT OR UPDATE ON a.orders FOR EACH ROW EXECUTE FUNCTION redirect();
INSERT INTO a.orders VALUES (-:mine);
UPDATE a.orders SET note = 'key changed by a trigger' WHERE id = :mine;
DROP TRIGGER redirect ON a.orders;

-- SQLSTATE and detail are what a router reads
DO $$
DECLARE
	state text;
	detail text;
BEGIN
	INSERT INTO a.orders SELECT min(id) FROM keys WHERE node = 'b';
EXCEPTION WHEN SQLSTATE 'SK001' THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL;
	RAISE NOTICE '% %', state, detail;
END;
$$;

-- ENABLE ALWAYS: neither the replica role nor disabled user triggers let a row slip in
SET session_replication_role = replica;
INSERT INTO a.orders VALUES (:theirs);
RESET session_replication_role;

-- within one transaction: a slot's first owner is seen at once, taken back at once
SELECT shardkit.create_map('late', 2);
SELECT shardkit.add_node('late', 'c');
SELECT shardkit.add_table('late', 'orders', 'id', template => 'guard_shape');
INSERT INTO c.orders VALUES (1);
BEGIN;
SAVEPOINT s;
SELECT shardkit.deal_slots('late');
INSERT INTO c.orders VALUES (1);
ROLLBACK TO s;
INSERT INTO c.orders VALUES (1);
ROLLBACK;
SELECT count(*) FROM c.orders;

-- two key columns, NULL in one; partition keys as PostgreSQL hashes them
CREATE TABLE wide (tenant int, "User" text, note text);
SELECT shardkit.create_map('w', 4, ARRAY['w0', 'w1']);
SELECT shardkit.add_table('w', 'wide', 'tenant, "User"', template => 'wide');
INSERT INTO w0.wide SELECT i, 'u' || i FROM generate_series(1, 100) AS i
WHERE shardkit.node_of('w', i, 'u' || i) = 'w0';
INSERT INTO w1.wide SELECT i, 'u' || i FROM generate_series(1, 100) AS i
WHERE shardkit.node_of('w', i, 'u' || i) = 'w1';
SELECT (SELECT count(*) FROM w0.wide) + (SELECT count(*) FROM w1.wide);
SELECT shardkit.node_of('w', NULL::int, NULL::text) AS of_null \gset
INSERT INTO :of_null.wide VALUES (NULL, NULL);

-- behind the map's back: nothing crashes
BEGIN;
DELETE FROM shardkit.node WHERE map = 'g' AND name = 'a';
INSERT INTO a.orders VALUES (5000);
ROLLBACK;
BEGIN;
ALTER TABLE a.orders RENAME id TO number;
INSERT INTO a.orders VALUES (5000);
ROLLBACK;
ALTER SCHEMA a RENAME TO away;
INSERT INTO away.orders VALUES (:theirs);
DELETE FROM away.orders WHERE id = :last;
INSERT INTO away.orders VALUES (:last);
ALTER SCHEMA away RENAME TO a;
DROP SCHEMA b CASCADE;
SELECT shardkit.add_node('g', 'd');
SELECT shardkit.node_of('g', :theirs);
CREATE TABLE stray (id bigint);
CREATE TRIGGER guard BEFORE INSERT ON stray FOR EACH ROW EXECUTE FUNCTION shardkit.guard('g', 'a', 'id');
INSERT INTO stray VALUES (1);
DROP TRIGGER guard ON stray;
CREATE TRIGGER guard AFTER INSERT ON stray FOR EACH ROW EXECUTE FUNCTION shardkit.guard('g');
INSERT INTO stray VALUES (1);
DROP TRIGGER guard ON stray;
CREATE TRIGGER guard AFTER INSERT ON stray FOR EACH ROW EXECUTE FUNCTION shardkit.guard('gone', 'a', 'id');
INSERT INTO stray VALUES (1);
SELECT shardkit.guard();
SELECT shardkit_internal.map_changed();

-- a key whose equality is the user's own: every update is looked at, since WHEN could not tell a changed key
SET client_min_messages = warning;
CREATE TYPE loose;
CREATE FUNCTION loose_in(cstring) RETURNS loose LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION loose_out(loose) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE loose (INPUT = loose_in, OUTPUT = loose_out, LIKE = text);
CREATE CAST (loose AS text) WITHOUT FUNCTION;
CREATE FUNCTION loose_same(loose, loose) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lower($1::text) = lower($2::text)';
CREATE FUNCTION loose_hash(loose) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT hashtext(lower($1::text))';
CREATE FUNCTION loose_hash(loose, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT hashtextextended(lower($1::text), $2)';
CREATE OPERATOR = (LEFTARG = loose, RIGHTARG = loose, FUNCTION = loose_same);
CREATE OPERATOR CLASS loose_ops DEFAULT FOR TYPE loose USING hash AS OPERATOR 1 =, FUNCTION 1 loose_hash(loose), FUNCTION 2 loose_hash(loose, bigint);
RESET client_min_messages;
CREATE TABLE loose_shape (k loose, note text);
SELECT shardkit.create_map('loose', 16, ARRAY['l0', 'l1']);
SELECT shardkit.add_table('loose', 'rows', 'k', template => 'loose_shape');
SELECT tgname, tgqual IS NULL AS for_every_row FROM pg_trigger WHERE tgrelid = 'l0.rows'::regclass ORDER BY tgname;
SELECT min(a) FILTER (WHERE node = 'l0') AS mine, min(upper(a)) FILTER (WHERE node = 'l0') AS mine_upper, min(a) FILTER (WHERE node = 'l1') AS theirs
	FROM (SELECT chr(97 + i) AS a, shardkit.node_of('loose', chr(97 + i)) AS node FROM generate_series(0, 9) AS i) AS keys \gset l_
INSERT INTO l0.rows VALUES (:'l_mine');
UPDATE l0.rows SET k = :'l_mine_upper';
SELECT shardkit.slot_of('loose', k::text) = shardkit.slot_of('loose', :'l_mine') AS same_slot FROM l0.rows;
\set VERBOSITY terse
UPDATE l0.rows SET k = :'l_theirs';
\set VERBOSITY default
SELECT shardkit.drop_map('loose');

-- dropping the map takes the guards off, wherever the tables are by now
ALTER SCHEMA a RENAME TO away;
SELECT shardkit.drop_map('g');
INSERT INTO away.orders VALUES (:theirs);

DROP TABLE stray, guard_shape, wide, keys, loose_shape;
DROP FUNCTION redirect;
SET client_min_messages = warning;
DROP SCHEMA away, c, d, w0, w1, l0, l1 CASCADE;
DROP TYPE loose CASCADE;
DROP EXTENSION shardkit CASCADE;
