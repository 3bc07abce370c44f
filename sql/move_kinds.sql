-- moves by every hash a map can have, of tables of every kind, and what is refused on the way
CREATE EXTENSION shardkit;
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- What lies on each node, and how much of it on the wrong one.
CREATE FUNCTION spread(map text, tab text, nodes text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE place text; line text; whole text := '';
BEGIN
	FOREACH place IN ARRAY nodes LOOP
		EXECUTE pg_catalog.format('SELECT pg_catalog.format(''%%s %%s/%%s '', %1$L, pg_catalog.count(*) FILTER (WHERE shardkit.node_of(%2$L, id) <> %1$L), pg_catalog.count(*)) FROM %1$I.%3$I', place, map, tab) INTO line;
		whole := whole || line;
	END LOOP;
	RETURN whole || (SELECT pg_catalog.count(*) FROM shardkit.verify_map(map));
END $$;

\echo == a router's own function, and an algorithm of hash64
CREATE SCHEMA app;
CREATE FUNCTION app.route(key text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT RETURN ('x' || pg_catalog.md5(key))::bit(48)::bigint;
CREATE TABLE shape (id bigint PRIMARY KEY, v text);
SELECT shardkit.create_map('own', 6, ARRAY['own0', 'own1'], hash => 'app.route(text)');
SELECT shardkit.create_map('sha', 6, ARRAY['sha0', 'sha1'], hash => 'sha256');
SELECT shardkit.add_table(map, 't', 'id', template => 'shape') FROM (VALUES ('own'), ('sha')) m (map);
INSERT INTO own0.t SELECT k, 'v' FROM pg_catalog.generate_series(1, 300) k WHERE shardkit.node_of('own', k) = 'own0';
INSERT INTO own1.t SELECT k, 'v' FROM pg_catalog.generate_series(1, 300) k WHERE shardkit.node_of('own', k) = 'own1';
INSERT INTO sha0.t SELECT k, 'v' FROM pg_catalog.generate_series(1, 300) k WHERE shardkit.node_of('sha', k) = 'sha0';
INSERT INTO sha1.t SELECT k, 'v' FROM pg_catalog.generate_series(1, 300) k WHERE shardkit.node_of('sha', k) = 'sha1';
SELECT spread('own', 't', ARRAY['own0', 'own1']), spread('sha', 't', ARRAY['sha0', 'sha1']);
SELECT pg_catalog.array_agg(slot) FILTER (WHERE node = 'own0') AS own0, pg_catalog.array_agg(slot) FILTER (WHERE node = 'sha0') AS sha0 FROM shardkit.slot_map \gset
CALL shardkit.move_rows('own', :'own0', 'own1');
CALL shardkit.move_rows('sha', :'sha0', 'sha1');
SELECT spread('own', 't', ARRAY['own0', 'own1']), spread('sha', 't', ARRAY['sha0', 'sha1']);
SELECT map, pg_catalog.count(*), pg_catalog.sum(rows), pg_catalog.bool_and(fingerprint_from = fingerprint_to) FROM shardkit.move_log GROUP BY 1 ORDER BY 1;

\echo == node tables that refer to a partitioned table, and one that is a partition itself
SELECT shardkit.create_map('h', 4, ARRAY['a', 'b']);
CREATE TABLE years (year int PRIMARY KEY) PARTITION BY RANGE (year);
CREATE TABLE years_old PARTITION OF years FOR VALUES FROM (MINVALUE) TO (2000);
CREATE TABLE years_new PARTITION OF years FOR VALUES FROM (2000) TO (MAXVALUE);
INSERT INTO years SELECT y FROM pg_catalog.generate_series(1990, 2010) y;
CREATE TABLE all_b (id int, year int, kind int) PARTITION BY RANGE (year);
DO $$ DECLARE place text; BEGIN
	FOREACH place IN ARRAY ARRAY['a', 'b'] LOOP
		EXECUTE pg_catalog.format('CREATE TABLE %1$I.parts (id int, year int REFERENCES public.years);
			CREATE TABLE %1$I.kinds (kind int PRIMARY KEY); CREATE TABLE %1$I.leaf (id int, year int, kind int REFERENCES %1$I.kinds)', place);
	END LOOP;
END $$;
SELECT shardkit.add_table('h', 'parts', 'id'), shardkit.add_table('h', 'leaf', 'id');
ALTER TABLE all_b ATTACH PARTITION b.leaf FOR VALUES FROM (2000) TO (MAXVALUE);
INSERT INTO a.parts SELECT k, 1990 + k % 21 FROM pg_catalog.generate_series(1, 200) k WHERE shardkit.node_of('h', k) = 'a';
INSERT INTO b.parts SELECT k, 1990 + k % 21 FROM pg_catalog.generate_series(1, 200) k WHERE shardkit.node_of('h', k) = 'b';
INSERT INTO a.leaf SELECT k, 2001 FROM pg_catalog.generate_series(1, 200) k WHERE shardkit.node_of('h', k) = 'a';
SELECT pg_catalog.array_agg(slot) AS a FROM shardkit.slot_map WHERE map = 'h' AND node = 'a' \gset
SELECT pg_catalog.count(*) AS parts, shardkit.fingerprint(p) AS parts_print FROM (TABLE a.parts UNION ALL TABLE b.parts) p \gset
-- a row that the target may not hold, as a partition
UPDATE a.leaf SET year = 1999 WHERE id = (SELECT pg_catalog.min(id) FROM a.leaf);
\set VERBOSITY sqlstate
CALL shardkit.move_rows('h', :'a', 'b');
\set VERBOSITY default
SELECT spread('h', 'parts', ARRAY['a', 'b']), spread('h', 'leaf', ARRAY['a', 'b']);
UPDATE a.leaf SET year = 2001;
CALL shardkit.move_rows('h', :'a', 'b');
SELECT spread('h', 'parts', ARRAY['a', 'b']), spread('h', 'leaf', ARRAY['a', 'b']);
SELECT pg_catalog.count(*) = :parts AND shardkit.fingerprint(p) = :'parts_print' FROM b.parts p;

\echo == refused: a slot that nobody owns, a table that is gone, rows that would refer to nothing
SELECT shardkit.create_map('none', 2);
SELECT shardkit.add_node('none', 'n0');
CALL shardkit.move_rows('none', ARRAY[1], 'n0');
ALTER TABLE a.leaf RENAME TO elsewhere;
CALL shardkit.move_rows('h', :'a', 'a');
ALTER TABLE a.elsewhere RENAME TO leaf;
SELECT node, pg_catalog.count(*) FROM shardkit.slot_map WHERE map = 'h' GROUP BY 1;
INSERT INTO b.kinds VALUES (1);
UPDATE b.leaf SET kind = 1;
CALL shardkit.move_rows('h', :'a', 'a');
SELECT spread('h', 'parts', ARRAY['a', 'b']), spread('h', 'leaf', ARRAY['a', 'b']);
INSERT INTO a.kinds VALUES (1);
CALL shardkit.move_rows('h', :'a', 'a');
SELECT spread('h', 'parts', ARRAY['a', 'b']), spread('h', 'leaf', ARRAY['a', 'b']);

\echo == statistics are no reason to fail; many rows are worth a word about the space they leave
CREATE FUNCTION app.fails(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'no statistics'; END $$;
CREATE STATISTICS b.useless ON (app.fails(id)) FROM b.leaf;
CALL shardkit.move_rows('h', :'a', 'b');
SELECT spread('h', 'leaf', ARRAY['a', 'b']), pg_catalog.count(*) FROM pg_catalog.pg_statistic_ext_data d JOIN pg_catalog.pg_statistic_ext s ON s.oid = d.stxoid WHERE s.stxname = 'useless';
DROP STATISTICS b.useless;
SELECT shardkit.create_map('many', 2, ARRAY['m0', 'm1']);
CREATE TABLE m0.t (id int); CREATE TABLE m1.t (id int); CREATE TABLE m0.u (id int); CREATE TABLE m1.u (id int);
SELECT shardkit.add_table('many', 't', 'id'), shardkit.add_table('many', 'u', 'id');
SELECT k AS key FROM pg_catalog.generate_series(1, 100) k WHERE shardkit.node_of('many', k) = 'm0' LIMIT 1 \gset
INSERT INTO m0.t SELECT :key FROM pg_catalog.generate_series(1, 99999);
INSERT INTO m0.u SELECT :key;
SET client_min_messages = notice;
CALL shardkit.move_rows('many', ARRAY[shardkit.slot_of('many', :key)], 'm1');
SET client_min_messages = warning;

\echo == partitions of slots: moved from where the map says, by their owner
SELECT shardkit.create_map('p', 4, ARRAY['p0', 'p1']);
SELECT shardkit.add_table('p', 'public.split', 'id', 'per_slot', 'shape');
INSERT INTO split SELECT k, 'v' FROM pg_catalog.generate_series(1, 100) k;
SELECT slot FROM shardkit.slot_map WHERE map = 'p' AND node = 'p0' ORDER BY slot LIMIT 1 \gset
CREATE ROLE regress_shardkit_keeper;
GRANT USAGE ON SCHEMA shardkit, p0, p1 TO regress_shardkit_keeper; GRANT CREATE ON SCHEMA p0, p1 TO regress_shardkit_keeper;
ALTER TABLE split OWNER TO regress_shardkit_keeper;
UPDATE shardkit.map SET owner = 'regress_shardkit_keeper' WHERE name = 'p';
SET ROLE regress_shardkit_keeper;
CALL shardkit.move_rows('p', ARRAY[:slot], 'p1');
RESET ROLE;
SELECT pg_catalog.format('ALTER TABLE p0.split_%s SET SCHEMA app', :slot) \gexec
CALL shardkit.move_rows('p', ARRAY[:slot], 'p1');
SELECT pg_catalog.format('ALTER TABLE app.split_%s SET SCHEMA p0; ALTER TABLE p0.split_%s OWNER TO regress_shardkit_keeper', :slot, :slot) \gexec
SET ROLE regress_shardkit_keeper;
CALL shardkit.move_rows('p', ARRAY[:slot], 'p1');
RESET ROLE;
SELECT shardkit.slot_node('p', :slot), pg_catalog.count(*) FROM split;

-- the mover between servers, called directly
CALL shardkit.move_server_slot('own', 0, 'own0');
SELECT node, pg_catalog.count(*) FROM shardkit.slot_map WHERE map = 'own' GROUP BY 1;

\echo == what only triggers call
SELECT shardkit.fence();
SELECT shardkit.moved_away();
CREATE TABLE kept (id int);
CREATE TRIGGER t BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION shardkit.fence();
INSERT INTO kept VALUES (1);
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION shardkit.fence('1', '-1');
INSERT INTO kept VALUES (1);
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION shardkit.fence('1', 'x');
INSERT INTO kept VALUES (1);
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION shardkit.fence('1', '0');
INSERT INTO kept VALUES (1);
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON kept FOR EACH STATEMENT EXECUTE FUNCTION shardkit.fence('1', '0');
INSERT INTO kept VALUES (1);
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON kept FOR EACH STATEMENT EXECUTE FUNCTION shardkit.moved_away();
INSERT INTO kept VALUES (1);

\echo == a type whose send function fails leaves the client its encoding
CREATE TYPE moody;
CREATE FUNCTION moody_in(cstring) RETURNS moody LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION moody_out(moody) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE FUNCTION moody_send(moody) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'int4send';
CREATE TYPE moody (INPUT = moody_in, OUTPUT = moody_out, SEND = moody_send, LIKE = int4);
SELECT pg_catalog.count(DISTINCT f) FROM (SELECT shardkit.fingerprint(r) FROM (SELECT '1'::moody AS m) r) s (f);
CREATE OR REPLACE FUNCTION moody_send(moody) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RAISE 'not now'; END $$;
SET client_encoding = 'LATIN1';
SELECT shardkit.fingerprint(r) FROM (SELECT '1'::moody AS m) r;
SHOW client_encoding;
RESET client_encoding;

\echo == a server of another kind
CREATE FOREIGN DATA WRAPPER other_kind;
CREATE SERVER odd FOREIGN DATA WRAPPER other_kind;
SELECT shardkit.ask_server('odd', 'SELECT 1');
CALL shardkit.resume_moves(NULL);

DROP FOREIGN DATA WRAPPER other_kind CASCADE;
DROP TYPE moody CASCADE;
DROP TABLE kept, split, years, all_b CASCADE;
SET client_min_messages = error;
DROP EXTENSION shardkit CASCADE;
DROP SCHEMA app, own0, own1, sha0, sha1, a, b, n0, m0, m1, p0, p1 CASCADE;
DROP TABLE shape;
DROP FUNCTION spread;
DROP OWNED BY regress_shardkit_keeper; DROP ROLE regress_shardkit_keeper;
