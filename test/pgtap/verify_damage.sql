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

SELECT pg_temp.plant('UPDATE shardkit.map_table SET key_types = ''{text}'' WHERE map = ''damage'' AND relation = ''customer''', 'table', 'shardkit.map_table has (text) as the types of its key, but they are (bigint)');
SELECT pg_temp.plant('UPDATE shardkit.map_table SET key_types = ''{bigint,int}'' WHERE map = ''parts''', 'table', 'shardkit.map_table has (bigint, integer) as the types%', 1, 'parts') WHERE EXISTS (SELECT FROM shardkit.map_table WHERE map = 'parts');
SELECT is(shardkit_internal.key_column_types('damage1.purchase', 'number, "id"'), ARRAY[(SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'damage1.purchase'::regclass AND attname = 'number'), 'bigint'], 'key types in the order of the key');
SELECT is(shardkit_internal.key_column_types('damage1.purchase', 'nothing'), NULL, 'none of a column that is not there');
SELECT pg_temp.plant('INSERT INTO shardkit.move_log (map, slot, relation, from_node, to_node, state) VALUES (''damage'', 1, ''customer'', ''damage1'', ''damage2'', ''copied'')', 'move', 'it stopped as copied%');
SELECT is((SELECT count(*) FROM shardkit.move_log WHERE map = 'damage' AND finished_at IS NULL), 0::bigint, 'the line is closed');

-- Sequences that nodes share, set back
CREATE TABLE damage_shape.item (id bigint PRIMARY KEY, up bigint GENERATED ALWAYS AS IDENTITY, down int GENERATED BY DEFAULT AS IDENTITY (INCREMENT -3 START -1), free bigserial, twice text DEFAULT 'x');
CREATE SEQUENCE damage_shape.lane INCREMENT 10 START 1;
ALTER TABLE damage_shape.item ALTER free SET DEFAULT nextval('damage_shape.lane'), ALTER twice SET DEFAULT 'no ' || nextval('damage_shape.lane');
SELECT shardkit.create_map('items', 4, ARRAY['items1', 'items2']);
SELECT shardkit.add_table('items', 'item', 'id', template => 'damage_shape.item');
SELECT is(pg_temp.cure('items', 0), '', 'no rows, no numbers');
DO $$ BEGIN
	FOR i IN 1 .. 40 LOOP
		EXECUTE format('INSERT INTO %I.item (id) VALUES (%s)', shardkit.node_of('items', i), i);
	END LOOP;
END $$;
SELECT is(pg_temp.cure('items', 0), '', 'sequences stand where their numbers end');
SELECT setval('damage_shape.item_up_seq', 7);
SELECT is((SELECT object || ': ' || problem || ' -> ' || fix FROM shardkit.verify_map('items')), 'damage_shape.item_up_seq: it stands at 7, and column up of item holds 40: it will give numbers again'
	' -> SELECT pg_catalog.setval(''damage_shape.item_up_seq'', greatest((SELECT last_value FROM damage_shape.item_up_seq), 40))', 'an ascending one that was set back');
SELECT is(pg_temp.cure('items', 1), '', 'is cured');
SELECT is(nextval('damage_shape.item_up_seq'), 41::bigint, 'and goes on behind');
SELECT setval('damage_shape.item_up_seq', 40, false);
SELECT is(pg_temp.cure('items', 1), '', 'one that would give its last number again');
SELECT setval('damage_shape.item_down_seq', -1);
SELECT is((SELECT problem FROM shardkit.verify_map('items')), 'it stands at -1, and column down of item holds -118: it will give numbers again', 'a descending one');
SELECT is(pg_temp.cure('items', 1), '', 'is cured');
SELECT is(nextval('damage_shape.item_down_seq'), -121::bigint, 'and goes on below');
UPDATE items1.item SET down = -1000 WHERE down = (SELECT min(down) FROM items1.item);
SELECT is(pg_temp.cure('items', 1), '', 'numbers that were written by hand count if it would come to them');
UPDATE items1.item SET down = -2000 WHERE down = (SELECT min(down) FROM items1.item);
SELECT is((SELECT problem FROM shardkit.verify_map('items')), NULL, 'and not if it passes them by');
SELECT setval('damage_shape.lane', 5);
SELECT is(pg_temp.cure('items', 0), '', 'nor do those of another lane');
SELECT setval('damage_shape.lane', 11);
SELECT is(pg_temp.cure('items', 1), '', 'one that steps by ten');
SELECT shardkit.create_map('itemized', 4, ARRAY['itemized1', 'itemized2']);
SELECT shardkit.add_table('itemized', 'damage_shape.itemized', 'id', 'per_slot', 'damage_shape.item');
INSERT INTO damage_shape.itemized (id) SELECT g FROM generate_series(1, 20) AS g;
SELECT is(pg_temp.cure('itemized', 0), '', 'a partitioned table');
SELECT setval('damage_shape.item_up_seq', 1);
SELECT is((SELECT string_agg(kind, ',') FROM shardkit.verify_map('itemized')), 'sequence', 'whose sequence was set back');
SELECT is(pg_temp.cure('itemized', 1), '', 'is cured');

-- Two tables of one name
CREATE SCHEMA damage_twin;
SELECT throws_ok($$SELECT shardkit.add_table('itemized', 'damage_twin.itemized', 'id', 'per_slot', 'damage_shape.item')$$, '42P07',
	'the partition for slot 0 of table damage_twin.itemized would be called itemized1.itemized_0, as a partition of table damage_shape.itemized is');
SELECT is(to_regclass('damage_twin.itemized'), NULL, 'nothing of it is left');
ALTER TABLE damage_shape.itemized RENAME TO itemized_before;
SELECT is(pg_temp.cure('itemized', 1), '', 'the renamed one is named back');

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
