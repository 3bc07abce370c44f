-- tables come into a map: made like a template, or adopted
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SET client_min_messages = warning;
SELECT plan(66);
CREATE ROLE table_app;
CREATE ROLE table_reader;

-- A template with everything that a table can have.
CREATE TABLE table_users (user_id bigint PRIMARY KEY);
CREATE TABLE "Full" (
	id bigint GENERATED ALWAYS AS IDENTITY,
	number serial,
	user_id bigint NOT NULL REFERENCES table_users,
	"We ird" text COLLATE "C" DEFAULT 'a''b' CHECK ("We ird" <> ''),
	twice bigint GENERATED ALWAYS AS (user_id * 2) STORED,
	price numeric(10, 2) DEFAULT 3.5,
	PRIMARY KEY (user_id, id), UNIQUE (id)
) WITH (fillfactor = 70);
ALTER TABLE "Full" ADD CONSTRAINT self FOREIGN KEY (user_id, id) REFERENCES "Full" (user_id, id);
CREATE INDEX "odd idx" ON "Full" (lower("We ird")) WHERE price > 0;
CREATE INDEX ON "Full" USING hash (price);
COMMENT ON TABLE "Full" IS 'it''s full';
COMMENT ON COLUMN "Full".price IS 'price in euro';
ALTER TABLE "Full" ALTER price SET STATISTICS 500;
ALTER TABLE "Full" ALTER "We ird" SET STORAGE EXTERNAL;
ALTER TABLE "Full" ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON "Full" FOR SELECT TO table_app, table_reader USING (user_id = 5);
CREATE POLICY writable ON "Full" FOR INSERT WITH CHECK (price > 0);
GRANT SELECT, INSERT ON "Full" TO table_app;
GRANT UPDATE (price) ON "Full" TO table_reader WITH GRANT OPTION;

SELECT shardkit.create_map('tables', 12, ARRAY['table1', 'table2']);
SELECT shardkit.add_table('tables', 'table_users', 'user_id', template => 'table_users');
SELECT shardkit.add_table('tables', '"Full"', 'user_id', template => '"Full"');
SELECT is_empty($$SELECT * FROM shardkit_internal.column_differences('table1."Full"', '"Full"')$$, 'the same columns');
SELECT is_empty($$SELECT * FROM shardkit_internal.rule_differences('table2."Full"', 'table1."Full"')
	WHERE problem !~ 'foreign'$$, 'the same rules on every node');
SELECT col_default_is('table1', 'Full', 'We ird', 'a''b', 'default');
SELECT is(obj_description('table2."Full"'::regclass), 'it''s full', 'comment of the table');
SELECT is(col_description('table2."Full"'::regclass, 6), 'price in euro', 'comment of a column');
SELECT is(reloptions, ARRAY['fillfactor=70'], 'storage parameters') FROM pg_class WHERE oid = 'table2."Full"'::regclass;
SELECT is(attstorage, 'e', 'column storage') FROM pg_attribute WHERE attrelid = 'table2."Full"'::regclass AND attname = 'We ird';
SELECT is(attgenerated, 's', 'generated column') FROM pg_attribute WHERE attrelid = 'table2."Full"'::regclass AND attname = 'twice';
SELECT ok(has_table_privilege('table_app', 'table1."Full"', 'INSERT'), 'privileges');
SELECT ok(has_column_privilege('table_reader', 'table1."Full"', 'price', 'UPDATE WITH GRANT OPTION'), 'column privileges');
SELECT ok(NOT has_table_privilege('table_reader', 'table1."Full"', 'SELECT'), 'and no others');
SELECT is(relrowsecurity, true, 'row security') FROM pg_class WHERE oid = 'table2."Full"'::regclass;
SELECT policies_are('table1', 'Full', ARRAY['mine', 'writable']);
SELECT is((SELECT confrelid::regclass::text FROM pg_constraint WHERE conrelid = 'table2."Full"'::regclass
	AND conname = 'self'), 'table2."Full"', 'a foreign key points to the table beside it');
SELECT is((SELECT confrelid::regclass::text FROM pg_constraint WHERE conrelid = 'table2."Full"'::regclass
	AND conname = 'Full_user_id_fkey'), 'table2.table_users', 'also to another table of the map');

-- Numbers are unique over the nodes, also for a role that had an identity column to draw from.
CREATE FUNCTION pg_temp.fill(first int, last int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	user_number bigint;
	schema text;
BEGIN
	FOR user_number IN SELECT generate_series(first, last) LOOP
		schema := shardkit.node_of('tables', user_number);
		EXECUTE format('INSERT INTO %I.table_users VALUES (%s)', schema, user_number);
		EXECUTE format('INSERT INTO %I."Full" (user_id) VALUES (%s)', schema, user_number);
	END LOOP;
END
$$;
ALTER TABLE table1."Full" DROP CONSTRAINT self;
ALTER TABLE table2."Full" DROP CONSTRAINT self;
SELECT pg_temp.fill(1, 200);
SELECT is(count(*), 200::bigint, 'rows went in') FROM (TABLE table1."Full" UNION ALL TABLE table2."Full") AS f;
SELECT is(count(DISTINCT id) + count(DISTINCT number), 400::bigint, 'identity and serial numbers are unique over nodes')
	FROM (TABLE table1."Full" UNION ALL TABLE table2."Full") AS f;
ALTER TABLE table1."Full" DISABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA table1 TO table_app;
SELECT shardkit.node_of('tables', 100000::bigint) AS far_node \gset
SELECT g AS far_user FROM generate_series(300, 400) AS g WHERE shardkit.node_of('tables', g::bigint) = 'table1' LIMIT 1 \gset
INSERT INTO table1.table_users VALUES (:far_user);
SET ROLE table_app;
SELECT lives_ok(format('INSERT INTO table1."Full" (user_id) VALUES (%s)', :far_user), 'who may insert may draw a number');
RESET ROLE;

-- A new node gets the tables as they are now.
ALTER TABLE table1."Full" ADD COLUMN late int DEFAULT 7;
ALTER TABLE table2."Full" ADD COLUMN late int DEFAULT 7;
SELECT shardkit.add_node('tables', 'table3');
SELECT has_column('table3'::name, 'Full'::name, 'late'::name, 'a new node''s table is like the others, not like the template');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgrelid = 'table3."Full"'::regclass AND tgenabled = 'A'), 2::bigint, 'and guarded');

-- The index on the slot, on request.
SELECT is(shardkit.index_slots('tables', '"Full"'), 3, 'the slot index is made on each node');
SELECT is(shardkit.index_slots('tables', '"Full"'), 0, 'once');
SELECT shardkit.add_node('tables', 'table4');
SELECT is(shardkit.index_slots('tables', '"Full"'), 0, 'a new node has it too');

-- The view and the statement over all nodes.
SELECT shardkit.create_view('tables', '"Full"', 'all_full');
SELECT is((SELECT count(*) FROM all_full), 201::bigint, 'the view shows all rows');
SELECT throws_ok('UPDATE all_full SET price = 1', '55000', NULL, 'and is read-only');
SELECT is(reloptions, ARRAY['security_invoker=true'], 'with the reader''s privileges') FROM pg_class WHERE oid = 'all_full'::regclass;
SELECT lives_ok($$SELECT shardkit.create_view('tables', '"Full"', 'all_full')$$, 'it can be renewed');
SELECT throws_ok($$SELECT shardkit.create_view('tables', 'nothing', 'v')$$, '42P01', NULL, 'no such table');
SELECT throws_ok($$SELECT shardkit.create_view('tables', '"Full"', '')$$, '22023', NULL, 'a view without a name');
SELECT throws_ok($$SELECT shardkit.create_view('tables', '"Full"', 'v AS SELECT 1; --')$$, '22023', NULL, 'a statement is no name');
SELECT shardkit.add_node('tables', 'table5');
SELECT lives_ok($$SELECT shardkit.create_view('tables', '"Full"', 'all_full')$$, 'and renewed when a node has come');
SELECT shardkit.remove_node('tables', 'table5');
SELECT lives_ok($$SELECT shardkit.create_view('tables', '"Full"', 'all_full')$$, 'or gone');
DROP SCHEMA table5 CASCADE;
SELECT is((SELECT count(*) FROM all_full), 201::bigint, 'which it does not read any more');
-- Another's view is not replaced, though its columns are the same.
CREATE TABLE table_shape_of_view (x int);
CREATE VIEW others AS SELECT * FROM all_full;
CREATE VIEW filtered WITH (security_invoker = true) AS SELECT * FROM table1."Full" WHERE price > 0;
SELECT throws_ok(format('SELECT shardkit.create_view(%L, %L, %L)', 'tables', '"Full"', v), '42P07',
	format('view %s exists, and is not the one that create_view made of table "Full" of map "tables"', v), v || ' stays')
FROM unnest(ARRAY['others', 'filtered']) AS v;
SELECT throws_ok($$SELECT shardkit.create_view('tables', 'table_users', 'all_full')$$, '42P07', NULL, 'nor is the view of another table');
CREATE SCHEMA table_first;
SET LOCAL search_path = table_first, public;
SELECT lives_ok($$SELECT shardkit.create_view('tables', '"Full"', 'others')$$, 'a view of that name in another schema is in nobody''s way');
SELECT is(to_regclass('others')::oid, 'table_first.others'::regclass::oid, 'it is made where it would be made by hand');
RESET search_path;
CREATE OR REPLACE VIEW table_first.others WITH (security_invoker = true) AS
	SELECT f.* FROM table1."Full" AS f JOIN table_shape_of_view AS s ON true;
SELECT throws_ok($$SELECT shardkit.create_view('tables', '"Full"', 'table_first.others')$$, '42P07', NULL, 'what was made of ours since stays too');
DROP VIEW others, filtered;
SELECT shardkit.create_view('tables', '"Full"', 'public . "All Full"');
SELECT has_view('public', 'All Full', 'a quoted name');
SELECT results_eq($$SELECT node, ok, result FROM shardkit.run_on_nodes('tables', 'DELETE FROM %schema%."Full" WHERE user_id = 1')
	WHERE result <> '0 rows'$$, $$SELECT shardkit.node_of('tables', 1::bigint), true, '1 rows'$$, 'a statement on every node');
SELECT throws_ok($$SELECT shardkit.run_on_nodes('tables', 'ALTER TABLE %schema%.nothing ADD a int')$$, '42P01', NULL, 'all or nothing');
SELECT throws_ok($$SELECT shardkit.run_on_nodes('no map', 'SELECT 1')$$, '42704', NULL, 'no such map');

-- Out again.
SELECT shardkit.remove_table('tables', '"Full"');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgrelid = 'table1."Full"'::regclass AND tgname ~ 'shardkit'), 0::bigint, 'a removed table is unguarded');
SELECT is((SELECT count(*) FROM (TABLE table1."Full" UNION ALL TABLE table2."Full") AS f), 200::bigint, 'and keeps its rows');
SELECT throws_ok($$SELECT shardkit.remove_table('tables', '"Full"')$$, '42P01', NULL, 'it is gone from the map');

-- A team's table becomes the only table of a first node, without a row copied.
CREATE SCHEMA table_origin;
CREATE TABLE table_origin.orders (id int PRIMARY KEY, user_id bigint NOT NULL);
INSERT INTO table_origin.orders SELECT g, g % 50 FROM generate_series(1, 500) AS g;
SELECT pg_relation_filenode('table_origin.orders') AS before \gset
SELECT shardkit.create_map('adopted', 12);
SELECT shardkit.add_node('adopted', 'origin', schema => 'table_origin');
SELECT shardkit.assign_slots('adopted', ARRAY(SELECT generate_series(0, 11)), 'origin');
SELECT lives_ok($$SELECT shardkit.add_table('adopted', 'orders', 'user_id')$$, 'a table is adopted');
SELECT is(pg_relation_filenode('table_origin.orders'), :before::oid, 'where it lies');
SELECT shardkit.add_node('adopted', 'table5');
SELECT is((SELECT count(*) FROM shardkit.plan_rebalance('adopted')), 6::bigint, 'and can be spread');
SELECT is_empty($$SELECT * FROM shardkit.misplaced_rows('adopted')$$, 'nothing lies wrong');

-- What numbers its rows on every node can be handed on, and the first node's table dropped.
ALTER TABLE table_origin.orders ADD number bigint GENERATED ALWAYS AS IDENTITY;
ALTER TABLE table5.orders ADD number bigint NOT NULL DEFAULT nextval('table_origin.orders_number_seq');
INSERT INTO table_origin.orders VALUES (501, 1);
SELECT throws_ok('DROP TABLE table_origin.orders', '2BP01', NULL, 'all nodes draw from the first one''s sequence');
CREATE SEQUENCE table5.order_numbers;
ALTER TABLE table5.orders ALTER number SET DEFAULT nextval('table5.order_numbers');
SELECT setval('table5.order_numbers', (SELECT last_value FROM table_origin.orders_number_seq));
SELECT lives_ok('DROP TABLE table_origin.orders', 'unless they were given another');
SELECT is(nextval('table5.order_numbers'), 502::bigint, 'which goes on where it was');

-- Templates that refer to each other: so do the tables made of them, under their own names.
CREATE TABLE customers_shape (user_id bigint PRIMARY KEY);
CREATE TABLE bills_shape (user_id bigint REFERENCES customers_shape, bill int, credit int, PRIMARY KEY (user_id, bill));
SELECT shardkit.create_map('shapes', 4, ARRAY['table8', 'table9']);
SELECT shardkit.add_table('shapes', '"Customers"', 'user_id', template => 'customers_shape');
SELECT shardkit.add_table('shapes', 'bills', 'user_id', template => 'bills_shape');
SELECT shardkit.add_node('shapes', 'table10');
SELECT is(string_agg(conrelid::regclass || ' ' || pg_get_constraintdef(oid), '; ' ORDER BY conrelid::regclass::text),
	'table10.bills FOREIGN KEY (user_id) REFERENCES table10."Customers"(user_id); '
	'table8.bills FOREIGN KEY (user_id) REFERENCES table8."Customers"(user_id); '
	'table9.bills FOREIGN KEY (user_id) REFERENCES table9."Customers"(user_id)', 'foreign keys between templates')
FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text ~ 'bills$';
SELECT is_empty($$SELECT * FROM shardkit.verify_map('shapes')$$, 'as verify_map would have them');

-- What cannot be adopted.
CREATE SCHEMA table_a;
CREATE SCHEMA table_b;
SELECT shardkit.create_map('refused', 2, ARRAY['table_a', 'table_b']);
CREATE TABLE table_a.t (k bigint, v int);
CREATE TABLE table_b.t (k bigint, v bigint);
SELECT throws_like($$SELECT shardkit.add_table('refused', 't', 'k')$$, '%column v is of type bigint, not integer', 'another type');
ALTER TABLE table_b.t ALTER v TYPE int, ADD extra text;
SELECT throws_like($$SELECT shardkit.add_table('refused', 't', 'k')$$, '%column extra is missing in table_a.t', 'another column');
ALTER TABLE table_b.t DROP extra, ALTER v SET NOT NULL;
SELECT throws_like($$SELECT shardkit.add_table('refused', 't', 'k')$$, '%column v does not accept null', 'a column that would refuse rows');
ALTER TABLE table_b.t ALTER v DROP NOT NULL;
INSERT INTO table_a.t SELECT g, g FROM generate_series(1, 20) AS g;
SELECT throws_ok($$SELECT shardkit.add_table('refused', 't', 'k')$$, '23000', NULL, 'rows of another node');
TRUNCATE table_a.t;
SELECT throws_ok($$SELECT shardkit.add_table('refused', 't', 'k', 'per_shard')$$, '22023', NULL, 'no such kind');
CREATE VIEW table_a.w AS SELECT 1::bigint AS k;
SELECT throws_ok($$SELECT shardkit.add_table('refused', 'w', 'k')$$, '42809', NULL, 'a view');
CREATE TABLE table_a.parent (k bigint);
CREATE TABLE table_a.child () INHERITS (table_a.parent);
SELECT throws_ok($$SELECT shardkit.add_table('refused', 'parent', 'k')$$, '42809', NULL, 'inheritance');
SELECT lives_ok($$SELECT shardkit.add_table('refused', 't', 'k')$$, 'the same columns and no wrong row');
CREATE TABLE table_text (k text);
SELECT throws_ok($$SELECT shardkit.add_table('refused', 'u', 'k', template => 'table_text')$$, '42804', NULL, 'a key type that differs');
SELECT throws_ok($$SELECT shardkit.add_table('refused', 'u', 'k', 'per_slot', 'table_text')$$, '55000', NULL, 'two kinds in one map');
CREATE SERVER table_far FOREIGN DATA WRAPPER postgres_fdw;
SELECT throws_ok($$SELECT shardkit.add_node('refused', 'far', server => 'table_far')$$, '0A000', NULL, 'a server for per_node tables');

SELECT * FROM finish();
ROLLBACK;
