-- every kind of table: moved whole, or refused with the object and its cure; never a row lost
CREATE EXTENSION shardkit;
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE FUNCTION slots_of(place text) RETURNS int[] LANGUAGE sql AS $$ SELECT pg_catalog.array_agg(slot) FROM shardkit.slot_map WHERE map = 'h' AND node = place $$;

-- Count and fingerprint over both nodes, whatever the order of the columns.
CREATE FUNCTION whole(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE columns text; answer text;
BEGIN
	SELECT pg_catalog.string_agg(pg_catalog.quote_ident(attname), ', ' ORDER BY attname) INTO columns FROM pg_catalog.pg_attribute
		WHERE attrelid = pg_catalog.format('a.%s', tab)::regclass AND attnum > 0 AND NOT attisdropped
		AND attname IN (SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = pg_catalog.format('b.%s', tab)::regclass);
	EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) || '' '' || shardkit.fingerprint(w) FROM (SELECT %1$s FROM ONLY a.%2$s UNION ALL SELECT %1$s FROM ONLY b.%2$s) w', columns, tab) INTO answer;
	RETURN answer;
END $$;

-- Moves all slots of node a to node b, and says what became of it.
CREATE FUNCTION attempt(tables text[] DEFAULT '{t}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	tab text; before text := ''; after text := ''; moved bigint; fix text;
BEGIN
	FOREACH tab IN ARRAY tables LOOP before := before || whole(tab); END LOOP;
	RETURN QUERY SELECT pg_catalog.format('preflight: %s: %s: %s => %s', p.severity, p.object, p.problem, p.fix) FROM shardkit.preflight('h', slots_of('a'), 'b') p WHERE severity <> 'bill' ORDER BY 1;
	BEGIN
		CALL shardkit.move_rows('h', slots_of('a'), 'b', rows_moved => moved);
		RETURN NEXT pg_catalog.format('moved %s', moved);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS fix = PG_EXCEPTION_HINT;
		RETURN NEXT pg_catalog.format('%s: %s => %s', SQLSTATE, SQLERRM, fix);
	END;
	FOREACH tab IN ARRAY tables LOOP after := after || whole(tab); END LOOP;
	IF before <> after THEN RETURN NEXT pg_catalog.format('ROWS DIFFER: %s / %s', before, after); END IF;
	FOREACH tab IN ARRAY tables LOOP
		SELECT key INTO fix FROM shardkit.map_table WHERE map = 'h' AND relation = tab;
		RETURN QUERY EXECUTE pg_catalog.format('SELECT ''MISPLACED: '' || w FROM (SELECT * FROM (SELECT ''a'' AS node, %1$s AS key FROM a.%2$s UNION ALL SELECT ''b'', %1$s FROM b.%2$s) r WHERE shardkit.node_of(''h'', key) <> node) w', fix, tab);
	END LOOP;
END $$;

-- Both nodes' tables by a statement in which %1$I is the schema, then rows, then the attempt.
CREATE FUNCTION carry(shape text, fill text DEFAULT NULL, extra text DEFAULT NULL, key text DEFAULT 'id', tab text DEFAULT 't') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE place text;
BEGIN
	CREATE SCHEMA a; CREATE SCHEMA b;
	FOREACH place IN ARRAY ARRAY['a', 'b'] LOOP EXECUTE pg_catalog.format(shape, place); END LOOP;
	PERFORM shardkit.create_map('h', 8, ARRAY['a', 'b']);
	PERFORM shardkit.add_table('h', tab, key);
	FOREACH place IN ARRAY ARRAY['a', 'b'] LOOP
		EXECUTE pg_catalog.format(coalesce(fill, 'INSERT INTO %1$I.t SELECT k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L'), place);
	END LOOP;
	IF extra IS NOT NULL THEN EXECUTE extra; END IF;
	RETURN QUERY SELECT attempt(ARRAY[tab]);
	PERFORM shardkit.drop_map('h');
	DROP SCHEMA a, b CASCADE;
END $$;
CREATE VIEW keys AS SELECT k FROM pg_catalog.generate_series(1, 100) k;
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen VALUES (TG_NAME, TG_OP, TG_TABLE_SCHEMA); RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END $$;
CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v := 'changed'; RETURN NEW; END $$;
CREATE FUNCTION dropped() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE FUNCTION rekeyed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := NEW.id + 1; RETURN NEW; END $$;
CREATE TABLE seen (name text, op text, place text);

\echo == plain, with and without an index, with an index on the slot, empty, one row, one slot
SELECT carry('CREATE TABLE %1$I.t (id int)');
SELECT carry('CREATE TABLE %1$I.t (id int PRIMARY KEY, UNIQUE (id))');
SELECT carry('CREATE TABLE %1$I.t (id int); CREATE INDEX ON %1$I.t (shardkit.partition_slot(8, id)); CREATE INDEX ON %1$I.t ((id + 1)) WHERE id > 5');
SELECT carry('CREATE TABLE %1$I.t (id int)', 'SELECT %1$L');
SELECT carry('CREATE TABLE %1$I.t (id int)', 'INSERT INTO %1$I.t SELECT k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L AND %1$L = ''a'' LIMIT 1');
SELECT carry('CREATE TABLE %1$I.t (id int)', 'INSERT INTO %1$I.t SELECT 1 FROM pg_catalog.generate_series(1, 3000) WHERE shardkit.node_of(''h'', 1) = %1$L');

\echo == identity, serial, generated, defaults
SELECT carry('CREATE TABLE %1$I.t (id int, n int GENERATED ALWAYS AS IDENTITY, v text DEFAULT ''x'')', 'INSERT INTO %1$I.t SELECT k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L', 'CREATE TABLE public.heads AS SELECT last_value AS a FROM a.t_n_seq');
DROP TABLE heads;
CREATE SEQUENCE counter;
SELECT carry('CREATE TABLE %1$I.t (id int, n int GENERATED BY DEFAULT AS IDENTITY, s serial, d timestamptz DEFAULT pg_catalog.clock_timestamp(), q int DEFAULT pg_catalog.nextval(''public.counter''))', NULL, 'CREATE TABLE public.heads AS SELECT last_value FROM public.counter');
SELECT c.last_value = h.last_value FROM counter c, heads h;
DROP TABLE heads;
SELECT carry('CREATE TABLE %1$I.t (id int, twice int GENERATED ALWAYS AS (id * 2) STORED)', 'INSERT INTO %1$I.t SELECT k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L');
SELECT carry('CREATE TABLE %1$I.t (id int, twice int GENERATED ALWAYS AS (id * 2) STORED)', NULL, 'ALTER TABLE b.t DROP COLUMN twice; ALTER TABLE b.t ADD COLUMN twice int GENERATED ALWAYS AS (id * 3) STORED');
SELECT carry('CREATE TABLE %1$I.t (id int, twice int GENERATED ALWAYS AS (id * 2) STORED)', NULL, 'ALTER TABLE b.t ALTER COLUMN twice DROP EXPRESSION');

\echo == columns: dropped, in another order, missing, of another type
SELECT carry('CREATE TABLE %1$I.t (gone int, id int, v text, "Odd Name" int)', 'INSERT INTO %1$I.t (id, v, "Odd Name") SELECT k, k, k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L', 'ALTER TABLE a.t DROP COLUMN gone; ALTER TABLE b.t DROP COLUMN gone; ALTER TABLE b.t RENAME v TO old; ALTER TABLE b.t ADD COLUMN v text; UPDATE b.t SET v = old; ALTER TABLE b.t DROP COLUMN old');
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', 'INSERT INTO %1$I.t SELECT k, k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L', 'ALTER TABLE a.t ADD COLUMN later int DEFAULT 7; ALTER TABLE b.t ADD COLUMN later int DEFAULT 8');
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'ALTER TABLE b.t DROP COLUMN v');
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'ALTER TABLE b.t ADD COLUMN w int');
SELECT carry('CREATE TABLE %1$I.t (id int, v varchar(10))', NULL, 'ALTER TABLE b.t ALTER v TYPE varchar(5)');
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'ALTER TABLE b.t ALTER v TYPE text COLLATE "C"');
SELECT carry('CREATE TABLE %1$I.t (id int, v int)', NULL, 'ALTER TABLE b.t ADD CHECK (id < 0) NOT VALID');

\echo == types: domains, enums, arrays, composites, ranges, jsonb, without a binary form
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
CREATE TYPE pair AS (x int, y text);
SELECT carry('CREATE TABLE %1$I.t (id small, m mood, l text[], p pair, ps pair[], r int4range, mr int4multirange, j jsonb, x xml, a aclitem, f float8, n numeric, u uuid, i inet, b bit(3), ts tsvector, pt point, "char" "char")',
	'INSERT INTO %1$I.t SELECT k, ''glad'', ARRAY[''a'' || k, NULL], ROW(k, ''y''::text)::pair, ARRAY[ROW(k, NULL::text)::pair], pg_catalog.int4range(k, k + 5), ''{[1,3)}'', pg_catalog.jsonb_build_object(''k'', k), ''<a/>'', ''=r/postgres'', 1.0 / k, k / 3.0, pg_catalog.md5(k::text)::uuid, ''10.0.0.1'', B''101'', ''a b'', ''(1,2)'', ''x'' FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L') AS types
	WHERE EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'postgres') UNION ALL SELECT 'moved 41' WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'postgres');
SELECT line ~ '^moved [012]$' FROM carry('CREATE TABLE %1$I.t (id mood)', 'INSERT INTO %1$I.t SELECT m::mood FROM pg_catalog.unnest(ARRAY[''sad'', ''glad'']) m WHERE shardkit.node_of(''h'', m::mood) = %1$L') line;

\echo == large values, stored apart and compressed in every way
SELECT carry('CREATE TABLE %1$I.t (id int, plain text STORAGE EXTERNAL, squeezed text, raw bytea)' , 'INSERT INTO %1$I.t SELECT k, pg_catalog.repeat(''x'', 100000 + k), pg_catalog.repeat(''ab'' || k, 30000), pg_catalog.decode(pg_catalog.repeat(pg_catalog.md5(k::text), 500), ''hex'') FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L') WHERE pg_catalog.current_setting('server_version_num')::int >= 160000
UNION ALL SELECT carry('CREATE TABLE %1$I.t (id int, plain text, squeezed text, raw bytea); ALTER TABLE %1$I.t ALTER plain SET STORAGE EXTERNAL', 'INSERT INTO %1$I.t SELECT k, pg_catalog.repeat(''x'', 100000 + k), pg_catalog.repeat(''ab'' || k, 30000), pg_catalog.decode(pg_catalog.repeat(pg_catalog.md5(k::text), 500), ''hex'') FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L', 'ALTER TABLE b.t ALTER plain SET STORAGE EXTENDED, ALTER squeezed SET STORAGE EXTERNAL, ALTER squeezed SET COMPRESSION pglz, ALTER raw SET STORAGE MAIN') WHERE pg_catalog.current_setting('server_version_num')::int < 160000;
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', 'INSERT INTO %1$I.t SELECT 1, pg_catalog.repeat(pg_catalog.md5(''x''), 1600000) WHERE shardkit.node_of(''h'', 1) = %1$L UNION ALL SELECT k, k::text FROM keys k WHERE k > 1 AND shardkit.node_of(''h'', k) = %1$L');

\echo == triggers: those of users stay silent, those that fire always fire, and may not change rows
SELECT carry('CREATE TABLE %1$I.t (id int, v text); CREATE TRIGGER quiet BEFORE INSERT OR DELETE ON %1$I.t FOR EACH ROW EXECUTE FUNCTION noted(); CREATE TRIGGER silent AFTER INSERT OR DELETE ON %1$I.t FOR EACH ROW EXECUTE FUNCTION noted()', NULL, 'TRUNCATE public.seen');
SELECT name, op, place, pg_catalog.count(*) FROM seen GROUP BY 1, 2, 3;
SELECT carry('CREATE TABLE %1$I.t (id int, v text); CREATE TRIGGER loud BEFORE INSERT OR DELETE ON %1$I.t FOR EACH ROW EXECUTE FUNCTION noted(); ALTER TABLE %1$I.t ENABLE ALWAYS TRIGGER loud', NULL, 'TRUNCATE public.seen');
SELECT name, op, place, pg_catalog.count(*) FROM seen GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT line FROM carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'CREATE TRIGGER t BEFORE INSERT ON b.t FOR EACH ROW EXECUTE FUNCTION changed(); ALTER TABLE b.t ENABLE ALWAYS TRIGGER t') line WHERE line !~ 'preflight: warning';
SELECT line FROM carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'CREATE TRIGGER t BEFORE INSERT ON b.t FOR EACH ROW EXECUTE FUNCTION dropped(); ALTER TABLE b.t ENABLE ALWAYS TRIGGER t') line WHERE line !~ 'preflight: warning';
SELECT line FROM carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'CREATE TRIGGER t BEFORE INSERT ON b.t FOR EACH ROW EXECUTE FUNCTION rekeyed(); ALTER TABLE b.t ENABLE ALWAYS TRIGGER t') line WHERE line !~ 'preflight: warning';
SELECT line FROM carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'CREATE TRIGGER t BEFORE DELETE ON a.t FOR EACH ROW EXECUTE FUNCTION dropped(); ALTER TABLE a.t ENABLE ALWAYS TRIGGER t') line WHERE line !~ 'preflight: warning';

\echo == triggers that fire always and write themselves: what they do to moved rows is seen, at once or at commit
CREATE FUNCTION wrote() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE TG_ARGV[0] USING NEW.id, OLD.id; RETURN NULL; END $$;
SELECT statement, line FROM (VALUES
	('', 'INSERT ON b.t', 'DELETE FROM b.t WHERE id = $1 AND id % 2 = 0'),
	('', 'INSERT ON b.t', 'UPDATE b.t SET v = ''changed'' WHERE id = $1'),
	('', 'INSERT ON b.t', 'INSERT INTO b.t SELECT $1, ''more'' WHERE $1 NOT IN (SELECT id FROM b.t WHERE v = ''more'')'),
	('', 'INSERT ON b.t', 'INSERT INTO b.t SELECT min(k) FROM public.keys WHERE shardkit.node_of(''h'', k) = ''c'''),
	('', 'DELETE ON a.t', 'INSERT INTO a.t SELECT $2'),
	('', 'DELETE ON a.t', 'UPDATE b.t SET v = ''changed'' WHERE id = $2'),
	('CONSTRAINT', 'INSERT ON b.t DEFERRABLE INITIALLY DEFERRED', 'DELETE FROM b.t WHERE id = $1'),
	('CONSTRAINT', 'DELETE ON a.t DEFERRABLE INITIALLY DEFERRED', 'INSERT INTO a.t SELECT $2'),
	('', 'INSERT ON b.t', 'SELECT $1')) AS w (kind, event, statement),
	carry('CREATE TABLE %1$I.t (id int, v text)', NULL, pg_catalog.format('DROP SCHEMA IF EXISTS c CASCADE; SELECT shardkit.add_node(''h'', ''c''); CALL shardkit.move_rows(''h'', (slots_of(''b''))[1:2], ''c'');'
		' CREATE %s TRIGGER t AFTER %s FOR EACH ROW EXECUTE FUNCTION wrote(%L); ALTER TABLE %s ENABLE ALWAYS TRIGGER t', kind, event, statement, pg_catalog.substring(event, '[ab]\.t'))) AS line
	WHERE line !~ 'preflight: warning';
DROP SCHEMA c CASCADE;
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'CREATE RULE r AS ON INSERT TO b.t DO INSTEAD NOTHING');
SELECT carry('CREATE TABLE %1$I.t (id int, v text)', NULL, 'CREATE RULE r AS ON INSERT TO b.t DO INSTEAD NOTHING; ALTER TABLE b.t ENABLE ALWAYS RULE r');

\echo == foreign keys: a chain of three, to itself, to and from outside with every action
CREATE SCHEMA a; CREATE SCHEMA b;
CREATE TABLE outside (id int PRIMARY KEY);
INSERT INTO outside SELECT k FROM keys k;
DO $$ DECLARE place text; BEGIN
	PERFORM shardkit.create_map('h', 8, ARRAY['a', 'b']);
	FOREACH place IN ARRAY ARRAY['a', 'b'] LOOP
		EXECUTE pg_catalog.format('CREATE TABLE %1$I.z (id int PRIMARY KEY, o int REFERENCES public.outside ON DELETE CASCADE);
			CREATE TABLE %1$I.y (id int, n int, PRIMARY KEY (id, n), FOREIGN KEY (id) REFERENCES %1$I.z ON DELETE CASCADE);
			CREATE TABLE %1$I.x (id int, n int, m int, FOREIGN KEY (id, n) REFERENCES %1$I.y ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED)', place);
	END LOOP;
	PERFORM shardkit.add_table('h', t, 'id') FROM pg_catalog.unnest(ARRAY['x', 'y', 'z']) t;
	FOREACH place IN ARRAY ARRAY['a', 'b'] LOOP
		EXECUTE pg_catalog.format('INSERT INTO %1$I.z SELECT k, k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L;
			INSERT INTO %1$I.y SELECT id, n FROM %1$I.z, pg_catalog.generate_series(1, 3) n; INSERT INTO %1$I.x SELECT id, n, m FROM %1$I.y, pg_catalog.generate_series(1, 2) m', place);
	END LOOP;
END $$;
BEGIN; SELECT attempt(ARRAY['x', 'y', 'z']); SELECT DISTINCT relation, epoch = pg_catalog.max(epoch) OVER () FROM shardkit.move_log ORDER BY 1; ROLLBACK;
\echo -- a child of another slot
BEGIN; ALTER TABLE a.z ADD z int REFERENCES a.z; ALTER TABLE b.z ADD z int REFERENCES b.z;
UPDATE a.z SET z = (SELECT pg_catalog.min(id) FROM a.z) WHERE shardkit.slot_of('h', id) = shardkit.slot_of('h', (SELECT pg_catalog.min(id) FROM a.z));
SELECT attempt(ARRAY['x', 'y', 'z']); ROLLBACK;
BEGIN; ALTER TABLE a.z ADD z int REFERENCES a.z; ALTER TABLE b.z ADD z int REFERENCES b.z;
UPDATE a.z SET z = (SELECT pg_catalog.min(id) FROM a.z);
DO $$ DECLARE n bigint; BEGIN CALL shardkit.move_rows('h', (slots_of('a'))[1:1], 'b', rows_moved => n); EXCEPTION WHEN foreign_key_violation THEN RAISE WARNING '%', SQLERRM; END $$;
ROLLBACK;
\echo -- from outside: each action, referring or not
CREATE FUNCTION outside_refers(actions text, refers boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE TABLE public.child (z int REFERENCES a.z ' || actions || ')';
	INSERT INTO public.child SELECT pg_catalog.min(id) FROM a.z HAVING refers;
	RETURN QUERY SELECT attempt(ARRAY['x', 'y', 'z']);
	IF (SELECT pg_catalog.count(*) FROM public.child) <> refers::int THEN RETURN NEXT 'A CHILD IS LOST'; END IF;
END $$;
SELECT attempt(ARRAY['x', 'y', 'z']) AS there \gset
DO $$ DECLARE n bigint; BEGIN CALL shardkit.move_rows('h', slots_of('b'), 'a', rows_moved => n); END $$;
BEGIN; SELECT outside_refers('', true); ROLLBACK;
BEGIN; SELECT outside_refers('ON DELETE CASCADE', true); ROLLBACK;
BEGIN; SELECT outside_refers('ON DELETE SET NULL', true); ROLLBACK;
BEGIN; SELECT outside_refers('ON DELETE SET DEFAULT', true); ROLLBACK;
BEGIN; SELECT outside_refers('ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED', true); ROLLBACK;
BEGIN; SELECT outside_refers('ON DELETE CASCADE', false); ROLLBACK;
BEGIN;
CREATE TABLE child (z int REFERENCES a.z ON DELETE CASCADE);
INSERT INTO child SELECT min(id) FROM a.z;
DO $$ DECLARE name text; BEGIN
	FOR name IN SELECT tgname FROM pg_catalog.pg_trigger WHERE tgrelid = 'a.z'::regclass AND tgisinternal LOOP
		EXECUTE pg_catalog.format('ALTER TABLE a.z ENABLE ALWAYS TRIGGER %I', name);
	END LOOP;
END $$;
SELECT pg_catalog.regexp_replace(line, '_[ac]_\d+', '_N', 'g') FROM attempt(ARRAY['x', 'y', 'z']) line WHERE line ~ 'ERROR|MISPLACED|DIFFER|^55000' ORDER BY 1;
SELECT pg_catalog.count(*) FROM child;
ROLLBACK;
SELECT shardkit.drop_map('h');
DROP SCHEMA a, b CASCADE;
\echo == constraints: deferrable, exclusion, a conflict on the target
SELECT carry('CREATE TABLE %1$I.t (id int, v int, UNIQUE (v) DEFERRABLE INITIALLY DEFERRED)', 'INSERT INTO %1$I.t SELECT k, k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L');
SELECT carry('CREATE TABLE %1$I.t (id int, v int, UNIQUE (v) DEFERRABLE INITIALLY DEFERRED)', 'INSERT INTO %1$I.t SELECT k, row_number() OVER () FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L');
SELECT carry('CREATE TABLE %1$I.t (id int, v int, UNIQUE (v))', 'INSERT INTO %1$I.t SELECT k, row_number() OVER () FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L');
SELECT carry('CREATE TABLE %1$I.t (id int, r int4range, EXCLUDE USING gist (r WITH &&))', 'INSERT INTO %1$I.t SELECT k, pg_catalog.int4range(k * 10, k * 10 + 5) FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L');
SELECT carry('CREATE TABLE %1$I.t (id int, r int4range, EXCLUDE USING gist (r WITH &&))', 'INSERT INTO %1$I.t SELECT k, pg_catalog.int4range(rank * 10, rank * 10 + 5) FROM (SELECT k, row_number() OVER ()::int AS rank FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L) r');
SELECT carry('CREATE TABLE %1$I.t (id int, r int4range, EXCLUDE USING gist (r WITH &&) DEFERRABLE)', 'INSERT INTO %1$I.t SELECT k, pg_catalog.int4range(rank * 10, rank * 10 + 5) FROM (SELECT k, row_number() OVER ()::int AS rank FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L) r');
SELECT carry('CREATE TABLE %1$I.t (id int, r int4range, EXCLUDE USING gist (r WITH &&) WHERE (id > 3) DEFERRABLE)', 'SELECT %1$L');
\echo == row security, inheritance, publication, logging, names, privileges
SELECT carry('CREATE TABLE %1$I.t (id int); ALTER TABLE %1$I.t ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON %1$I.t USING (id %% 2 = 0)');
SELECT carry('CREATE TABLE %1$I.t (id int)', NULL, 'CREATE TABLE a.kid () INHERITS (a.t); INSERT INTO a.kid VALUES (1)');
SET client_min_messages = error;
SELECT carry('CREATE TABLE %1$I.t (id int)', NULL, 'CREATE PUBLICATION p FOR TABLE a.t');
SELECT carry('CREATE TABLE %1$I.t (id int PRIMARY KEY)', NULL, 'CREATE PUBLICATION p2 FOR TABLE a.t, b.t');
SELECT carry('CREATE TABLE %1$I.t (id int)', NULL, 'CREATE PUBLICATION p3 FOR TABLE a.t WITH (publish = ''insert'')');
DROP PUBLICATION p, p2, p3;
SET client_min_messages = warning;
SELECT carry('CREATE TABLE %1$I.t (id int)', NULL, 'ALTER TABLE b.t SET UNLOGGED');
SELECT carry('CREATE TABLE %1$I."Odd ""Name"" ÄÖ" ("Key" int PRIMARY KEY, "select" text, "a.b" int GENERATED ALWAYS AS ("Key" + 1) STORED)', 'INSERT INTO %1$I."Odd ""Name"" ÄÖ" SELECT k, k FROM keys k WHERE shardkit.node_of(''h'', k) = %1$L', NULL, '"Key"', '"Odd ""Name"" ÄÖ"');
SELECT carry(pg_catalog.replace('CREATE TABLE %1$I.t (id int, long int)', ' long ', ' ' || pg_catalog.repeat('n', 63) || ' '));
SELECT carry('CREATE TABLE %1$I.t (id int, at date) PARTITION BY RANGE (at); CREATE TABLE %1$I.t1 PARTITION OF %1$I.t DEFAULT');
\echo == whose tables: an owner who is no superuser, forced policies, the table of a stranger
CREATE ROLE shardkit_owner; CREATE ROLE shardkit_other;
DO $$ BEGIN EXECUTE pg_catalog.format('GRANT CREATE ON DATABASE %I TO shardkit_owner', pg_catalog.current_database()); END $$;
GRANT SELECT ON keys TO shardkit_owner;
SET ROLE shardkit_owner;
SELECT carry('CREATE TABLE %1$I.t (id int PRIMARY KEY, v text)');
SELECT carry('CREATE TABLE %1$I.t (id int); ALTER TABLE %1$I.t ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON %1$I.t USING (id %% 2 = 0)');
SELECT carry('CREATE TABLE %1$I.t (id int); ALTER TABLE %1$I.t ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON %1$I.t USING (true)', NULL, 'ALTER TABLE a.t FORCE ROW LEVEL SECURITY');
RESET ROLE;
BEGIN;
CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.t (id int); CREATE TABLE b.t (id int);
GRANT USAGE ON SCHEMA a, b TO shardkit_owner; ALTER TABLE a.t OWNER TO shardkit_owner;
SELECT shardkit.create_map('h', 8, ARRAY['a', 'b']), shardkit.add_table('h', 't', 'id');
UPDATE shardkit.map SET owner = 'shardkit_owner';
INSERT INTO a.t SELECT k FROM keys k WHERE shardkit.node_of('h', k) = 'a';
GRANT SELECT ON b.t TO shardkit_owner;
SET ROLE shardkit_owner;
SELECT attempt();
ROLLBACK;
DO $$ BEGIN EXECUTE pg_catalog.format('REVOKE CREATE ON DATABASE %I FROM shardkit_owner', pg_catalog.current_database()); END $$;
REVOKE ALL ON keys FROM shardkit_owner;
DROP ROLE shardkit_owner, shardkit_other;

\echo == the bill
CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.t (id int PRIMARY KEY); CREATE TABLE b.t (id int PRIMARY KEY);
SELECT shardkit.create_map('h', 8, ARRAY['a', 'b']);
SELECT shardkit.add_table('h', 't', 'id');
INSERT INTO a.t SELECT k FROM pg_catalog.generate_series(1, 10000) k WHERE shardkit.node_of('h', k) = 'a';
SELECT severity, object, pg_catalog.regexp_replace(problem, '; [0-9.]+ s at the [0-9]+ rows', '; N s at the N rows'), fix FROM shardkit.preflight('h', slots_of('a'), 'b');
SELECT pg_catalog.count(*) FROM a.t WHERE shardkit.partition_slot(8, id) = ANY (slots_of('a'));
DO $$ DECLARE n bigint; BEGIN CALL shardkit.move_rows('h', (slots_of('a'))[1:2], 'b', rows_moved => n); END $$;
SELECT severity, object, pg_catalog.regexp_replace(problem, '; [0-9.]+ s at the [0-9]+ rows', '; N s at the N rows'), fix FROM shardkit.preflight('h', slots_of('a'), 'b');
SELECT * FROM shardkit.move_progress;
SELECT * FROM shardkit.preflight('h', ARRAY[1], 'c');
SELECT * FROM shardkit.preflight('i', ARRAY[1], 'c');
SELECT * FROM shardkit.preflight('h', NULL, 'c');
SELECT * FROM shardkit.preflight('h', '{1,8}', 'b');
SELECT * FROM shardkit.preflight('h', '{-1}', 'b');
SELECT * FROM shardkit.preflight('h', '{1,NULL}', 'b');
SELECT shardkit.drop_map('h');
DROP SCHEMA a, b CASCADE;

DROP TABLE seen, outside;
DROP VIEW keys;
DROP SEQUENCE counter;
DROP TYPE mood, pair;
DROP DOMAIN small;
DROP FUNCTION slots_of, whole, attempt, carry, noted, changed, dropped, rekeyed, outside_refers;
DROP EXTENSION shardkit;
