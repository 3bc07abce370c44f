-- damage of two tables that refer to each other, of partitions and of the catalog: found, and cured in one round
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SET client_min_messages = error;
SELECT * FROM no_plan();

CREATE SCHEMA damage_shape;
CREATE TABLE damage_shape.customer (id bigint PRIMARY KEY, name text);
CREATE TABLE damage_shape.purchase (number bigint PRIMARY KEY, id bigint NOT NULL REFERENCES damage_shape.customer,
	amount int CHECK (amount > 0), UNIQUE (id, number));
SELECT shardkit.create_map('damage', 6, ARRAY['damage1', 'damage2', 'damage3']);
SELECT shardkit.add_table('damage', 'customer', 'id', template => 'damage_shape.customer');
SELECT shardkit.add_table('damage', 'purchase', 'id', template => 'damage_shape.purchase');
CREATE TABLE damage_shape.event (id bigint, v text);
SELECT shardkit.create_map('parts', 4, ARRAY['parts1', 'parts2']);
SELECT shardkit.add_table('parts', 'damage_shape.events', 'id', 'per_slot', 'damage_shape.event');
INSERT INTO damage_shape.events SELECT g FROM generate_series(1, 100) g;
DO $$
DECLARE
	node text;
BEGIN
	FOREACH node IN ARRAY ARRAY['damage1', 'damage2', 'damage3'] LOOP
		EXECUTE format('INSERT INTO %I.customer SELECT g FROM generate_series(1, 200) g WHERE shardkit.node_of(''damage'', g) = %1$L', node);
		EXECUTE format('INSERT INTO %I.purchase SELECT id, id, 1 FROM %1$I.customer', node);
	END LOOP;
END
$$;
CREATE FUNCTION pg_temp.total() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM (SELECT id FROM damage1.customer UNION SELECT id FROM damage2.customer UNION SELECT id FROM damage3.customer) c)
		|| ' ' || (SELECT count(*) FROM (SELECT number FROM damage1.purchase UNION SELECT number FROM damage2.purchase UNION SELECT number FROM damage3.purchase) p);
END
$$;
-- What is left, and what went wrong, when every fix has been run as often as there are rounds.
CREATE FUNCTION pg_temp.cure(map text, rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line record;
	errors text := '';
BEGIN
	FOR round IN 1 .. rounds LOOP
		errors := '';
		FOR line IN SELECT * FROM shardkit.verify_map(map) LOOP
			BEGIN
				EXECUTE line.fix;
			EXCEPTION WHEN OTHERS THEN
				errors := errors || line.fix || ': ' || SQLERRM || E'\n';
			END;
		END LOOP;
	END LOOP;
	RETURN errors || coalesce((SELECT string_agg(kind || ': ' || problem || ' -> ' || coalesce(fix, '?'), E'\n') FROM shardkit.verify_map(map)), '');
END
$$;
CREATE FUNCTION pg_temp.plant(statement text, kind_wanted text, like_wanted text, rounds int DEFAULT 1, map text DEFAULT 'damage') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN NEXT ok(EXISTS (SELECT FROM shardkit.verify_map(map) WHERE kind = kind_wanted AND problem LIKE like_wanted), statement || ': found');
	RETURN NEXT is(pg_temp.cure(map, rounds), '', statement || ': cured');
	RETURN NEXT is(pg_temp.total(), '200 200', statement || ': no row lost');
END
$$;
SELECT is(pg_temp.cure('damage', 0) || pg_temp.cure('parts', 0), '', 'nothing is wrong at first');

-- A constraint in the way of the one that is missing
SELECT pg_temp.plant('ALTER TABLE damage2.purchase DROP CONSTRAINT purchase_amount_check, ADD CONSTRAINT purchase_amount_check CHECK (amount > -5)', 'rule', 'constraint purchase_amount_check is missing%');
SELECT pg_temp.plant('ALTER TABLE damage2.purchase DROP CONSTRAINT purchase_pkey, ADD CONSTRAINT other PRIMARY KEY (number, id)', 'rule', 'constraint purchase_pkey is missing%');
SELECT pg_temp.plant('ALTER TABLE damage2.purchase DROP CONSTRAINT purchase_id_number_key, ADD CONSTRAINT purchase_id_number_key UNIQUE (amount, number)', 'rule', 'constraint purchase_id_number_key is missing%');
SELECT pg_temp.plant('ALTER TABLE damage2.purchase DROP CONSTRAINT purchase_id_fkey, ADD CONSTRAINT purchase_id_fkey FOREIGN KEY (id) REFERENCES damage2.customer ON DELETE CASCADE', 'rule', 'constraint purchase_id_fkey is missing%');
SELECT pg_temp.plant('ALTER TABLE damage1.customer DROP CONSTRAINT customer_pkey CASCADE; ALTER TABLE damage2.customer DROP CONSTRAINT customer_pkey CASCADE', 'rule', 'constraint customer_pkey is not on%');
ALTER TABLE damage1.customer ADD PRIMARY KEY (id);
ALTER TABLE damage2.customer ADD PRIMARY KEY (id);
ALTER TABLE damage3.customer ADD PRIMARY KEY (id);
ALTER TABLE damage1.purchase ADD CONSTRAINT purchase_id_fkey FOREIGN KEY (id) REFERENCES damage1.customer;
ALTER TABLE damage2.purchase ADD CONSTRAINT purchase_id_fkey FOREIGN KEY (id) REFERENCES damage2.customer;
ALTER TABLE damage3.purchase ADD CONSTRAINT purchase_id_fkey FOREIGN KEY (id) REFERENCES damage3.customer;
SELECT is(pg_temp.cure('damage', 0), '', 'keys are back');

-- Foreign keys switched off with all other triggers
SELECT pg_temp.plant('ALTER TABLE damage2.purchase DISABLE TRIGGER ALL', 'rule', 'constraint purchase_id_fkey is not looked after%');

-- A guard that is there, and guards nothing
CREATE FUNCTION pg_temp.false_guard(name text, clause text) RETURNS text LANGUAGE sql AS $$
SELECT format('CREATE OR REPLACE TRIGGER %I %s EXECUTE FUNCTION shardkit.guard(''damage'', ''damage2'', ''id''); ALTER TABLE damage2.customer ENABLE ALWAYS TRIGGER %1$I', name, clause)
$$;
SELECT pg_temp.plant(pg_temp.false_guard('shardkit_guard_insert', 'AFTER DELETE ON damage2.customer FOR EACH ROW'), 'guard', '%fires at other times');
SELECT pg_temp.plant(pg_temp.false_guard('shardkit_guard_update', 'AFTER UPDATE ON damage2.customer FOR EACH ROW WHEN (false)'), 'guard', '%fires at other times');
SELECT pg_temp.plant(pg_temp.false_guard('shardkit_guard_insert', 'AFTER INSERT ON damage2.customer FOR EACH ROW WHEN (NEW.id < 0)'), 'guard', '%fires at other times');
DROP TRIGGER shardkit_guard_insert ON damage2.customer;
SELECT pg_temp.plant(pg_temp.false_guard('shardkit_guard_insert', 'BEFORE INSERT ON damage2.customer FOR EACH STATEMENT'), 'guard', '%fires at other times');

-- Tables elsewhere, and other things in their place
SELECT pg_temp.plant('CREATE SCHEMA damage_elsewhere; ALTER TABLE damage2.customer SET SCHEMA damage_elsewhere', 'table', 'the table lies in schema damage_elsewhere now');
SELECT pg_temp.plant('ALTER TABLE damage2.customer RENAME TO hidden; CREATE VIEW damage2.customer AS SELECT * FROM damage2.hidden', 'table', 'something else bears the table''s name', 2);
SELECT pg_temp.plant('CREATE TABLE damage_shape.child () INHERITS (damage2.customer)', 'shape', 'it inherits from damage2.customer%');

-- Rows of both tables came in past the guards
SELECT pg_temp.plant('ALTER TABLE damage2.customer DISABLE TRIGGER USER; ALTER TABLE damage2.purchase DISABLE TRIGGER USER;'
	' INSERT INTO damage2.customer SELECT * FROM damage1.customer; INSERT INTO damage2.purchase SELECT * FROM damage1.purchase;'
	' DELETE FROM damage1.purchase; DELETE FROM damage1.customer WHERE id % 2 = 0', 'rows', '% belong to node damage1; %are there too%');
SELECT is((SELECT count(*) FROM shardkit.misplaced_rows('damage')), 0::bigint, 'all rows are home');

-- A table that is lost while another refers to it
DROP TABLE damage3.customer CASCADE;
SELECT shardkit.repair_table('damage', 'customer');
SELECT is((SELECT string_agg(problem, ', ') FROM shardkit.verify_map('damage')), 'constraint purchase_id_fkey is missing: FOREIGN KEY (id) REFERENCES damage3.customer(id)', 'the table is made again, its rows are missed');
INSERT INTO damage3.customer SELECT id FROM damage3.purchase;
SELECT is(pg_temp.cure('damage', 1), '', 'its rows are back, and the foreign key');

-- Rows without a key, in a table with the longest of names
SELECT shardkit.create_map('long', 2, ARRAY['damage_long']);
DO $$ BEGIN EXECUTE format('CREATE TABLE damage_shape.%1$I (id int, v text)', repeat('n', 63));
	PERFORM shardkit.add_table('long', repeat('n', 63), 'id', template => format('damage_shape.%I', repeat('n', 63))::regclass);
	EXECUTE format('INSERT INTO damage_long.%I VALUES (NULL, ''a''), (1, ''b'')', repeat('n', 63));
END $$;
SELECT is(pg_temp.cure('long', 1), '', 'rows without a key are put aside');
SELECT is((SELECT count(*) FROM pg_class WHERE relname ~ '^without_key_' AND relnamespace = 'damage_long'::regnamespace), 1::bigint, '.. into a table of their own');

-- Partitions
SELECT pg_temp.plant('DROP SCHEMA parts1 CASCADE', 'schema', 'the schema of node parts1 does not exist', 1, 'parts');
SELECT pg_temp.plant('DROP TABLE damage_shape.events', 'table', 'the table does not exist', 1, 'parts');
SELECT shardkit.add_table('parts', 'damage_shape.events', 'id', 'per_slot', 'damage_shape.event');
SELECT pg_temp.plant('DROP TABLE damage_shape.events; CREATE TABLE damage_shape.events (id bigint, v text)', 'table', 'the table is not one of 4 slots by hash of (id)', 1, 'parts');
DROP TABLE damage_shape.events;
SELECT shardkit.add_table('parts', 'damage_shape.events', 'id', 'per_slot', 'damage_shape.event');
SELECT pg_temp.plant('DROP TABLE damage_shape.events; CREATE TABLE damage_shape.events (id bigint, v text) PARTITION BY HASH (id); CREATE TABLE parts1.e PARTITION OF damage_shape.events FOR VALUES WITH (modulus 2, remainder 0)', 'table', 'the table is not one of 4 slots by hash of (id)', 1, 'parts');

-- The catalog itself
SELECT pg_temp.plant('DELETE FROM shardkit.slot_map WHERE map = ''damage'' AND slot IN (0, 3)', 'slot', 'they are missing%', 2);
SELECT pg_temp.plant('UPDATE shardkit.slot_map SET node = ''nobody'' WHERE map = ''damage'' AND slot IN (1, 4)', 'slot', 'they belong to nobody%', 2);
SELECT pg_temp.plant('UPDATE shardkit.slot_map SET moving_to = ''damage1'' WHERE map = ''damage'' AND slot = 5', 'slot', 'they are marked as moving%');
SELECT pg_temp.plant('INSERT INTO shardkit.map_table (map, relation, key, key_types, kind) VALUES (''damage'', ''a.b.c'', ''id'', ''{bigint}'', ''per_node'')', 'table', '%whose name this cannot be');
SELECT pg_temp.plant('INSERT INTO shardkit.map_table (map, relation, key, key_types, kind) VALUES (''damage'', ''a"b'', ''id'', ''{bigint}'', ''per_node'')', 'table', '%whose name this cannot be');

-- A server that may not be used
CREATE SERVER damage_server FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere');
CREATE ROLE damage_role;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO damage_role', current_database()); END $$;
SET ROLE damage_role;
SELECT shardkit.create_map('far', 2);
SELECT throws_ok($$SELECT shardkit.add_node('far', 'there', server => 'damage_server')$$, '42501', 'permission denied for foreign server damage_server');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER damage_server TO damage_role;
SET ROLE damage_role;
SELECT lives_ok($$SELECT shardkit.add_node('far', 'there', server => 'damage_server')$$, 'with USAGE it is a node');
RESET ROLE;
REVOKE USAGE ON FOREIGN SERVER damage_server FROM damage_role;
SET ROLE damage_role;
SELECT is((SELECT fix FROM shardkit.verify_map('far') WHERE kind = 'server'), 'GRANT USAGE ON FOREIGN SERVER damage_server TO damage_role', 'what lets the caller reach a server');
RESET ROLE;
SELECT * FROM finish();
ROLLBACK;
