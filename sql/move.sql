-- moving the rows of slots between local nodes: what was planned is what moves, to the row
CREATE EXTENSION shardkit;
\pset format unaligned
\pset tuples_only on

SELECT shardkit.create_map('orders', 72, ARRAY['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']);
CREATE TABLE orders_template (order_id bigint GENERATED ALWAYS AS IDENTITY, user_id bigint NOT NULL, note text, PRIMARY KEY (user_id, order_id));
CREATE TABLE items_template (user_id bigint NOT NULL, order_id bigint NOT NULL, item int NOT NULL, PRIMARY KEY (user_id, order_id, item));
SELECT shardkit.add_table('orders', 'orders', 'user_id', template => 'orders_template');
SELECT shardkit.add_table('orders', 'items', 'user_id', template => 'items_template');

-- one statement over all nodes: %1$I is the schema
CREATE FUNCTION on_nodes(statement text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE place name;
BEGIN
	FOR place IN SELECT schema FROM shardkit.node WHERE map = 'orders' ORDER BY 1 LOOP
		RETURN QUERY EXECUTE pg_catalog.format(statement, place);
	END LOOP;
END $$;
CREATE TABLE wanted (order_id bigint, user_id bigint, note text);
INSERT INTO wanted SELECT k, 1 + k % 2000, 'note ' || k FROM pg_catalog.generate_series(1, 20000) k;
SELECT pg_catalog.sum(n) FROM on_nodes($$WITH a AS (INSERT INTO %1$I.orders OVERRIDING SYSTEM VALUE SELECT * FROM wanted WHERE shardkit.node_of('orders', user_id) = '%1$s' RETURNING *),
	b AS (INSERT INTO %1$I.items SELECT user_id, order_id, i FROM a, pg_catalog.generate_series(1, 2) i RETURNING 1)
	SELECT (SELECT pg_catalog.count(*) FROM a) + (SELECT pg_catalog.count(*) FROM b)$$) s (n bigint);
DO $$ DECLARE place name; BEGIN
	FOR place IN SELECT schema FROM shardkit.node LOOP
		EXECUTE pg_catalog.format('ALTER TABLE %1$I.items ADD FOREIGN KEY (user_id, order_id) REFERENCES %1$I.orders', place);
	END LOOP;
END $$;
CREATE FUNCTION whole(OUT orders bigint, OUT orders_print text, OUT items bigint, OUT items_print text) LANGUAGE plpgsql AS $$
DECLARE every_order text; every_item text;
BEGIN
	SELECT pg_catalog.string_agg(pg_catalog.format('SELECT * FROM %I.orders', schema), ' UNION ALL '), pg_catalog.string_agg(pg_catalog.format('SELECT * FROM %I.items', schema), ' UNION ALL ')
		INTO every_order, every_item FROM shardkit.node;
	EXECUTE pg_catalog.format('SELECT pg_catalog.count(*), shardkit.fingerprint(o) FROM (%s) o', every_order) INTO orders, orders_print;
	EXECUTE pg_catalog.format('SELECT pg_catalog.count(*), shardkit.fingerprint(o) FROM (%s) o', every_item) INTO items, items_print;
END $$;
SELECT * FROM whole() \gset before_
SELECT :before_orders, :before_items, :'before_orders_print' = shardkit.fingerprint(w) FROM wanted w;

-- a new node, and some slots moved to it by name
SELECT shardkit.add_node('orders', 'p8') - shardkit.map_epoch('orders');
CALL shardkit.move_rows('orders', ARRAY[0, 9, 18], 'p8');
SELECT relation, slot, from_node, to_node, state, rows, fingerprint_from = fingerprint_to, bytes > 0, finished_at >= started_at, error IS NULL
	FROM shardkit.move_log ORDER BY id;
-- the certificate can be computed by anyone
SELECT l.rows = c.rows AND l.fingerprint_to = c.print FROM shardkit.move_log l, LATERAL (
	SELECT pg_catalog.count(*) AS rows, shardkit.fingerprint(o) AS print FROM p8.orders o WHERE shardkit.partition_slot(72, user_id) = l.slot) c
	WHERE relation = 'orders';
SELECT pg_catalog.count(*) FROM shardkit.slot_map WHERE map = 'orders' AND node = 'p8';
SELECT pg_catalog.max(epoch) = shardkit.map_epoch('orders') FROM shardkit.move_log;
-- again: nothing to do
CALL shardkit.move_rows('orders', ARRAY[0, 9, 18, 18], 'p8');
CALL shardkit.move_rows('orders', '{}', 'p8');
-- there and back: the same rows
CALL shardkit.move_rows('orders', ARRAY[9], 'p1', batch_slots => 1);
SELECT w.orders = :before_orders AND w.orders_print = :'before_orders_print' AND w.items = :before_items AND w.items_print = :'before_items_print' FROM whole() w;

-- the mover's settings end with it
SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('session_replication_role', 'row_security', 'lock_timeout') ORDER BY 1;
-- inside a transaction block: one batch, and it can be taken back
BEGIN;
CALL shardkit.move_rows('orders', ARRAY[1, 2], 'p8');
SELECT node FROM shardkit.slot_map WHERE slot IN (1, 2);
SELECT shardkit.node_of('orders', user_id), pg_catalog.count(*) > 0 FROM p8.orders WHERE shardkit.partition_slot(72, user_id) = 1 GROUP BY 1;
ROLLBACK;
SELECT node FROM shardkit.slot_map WHERE slot IN (1, 2);
BEGIN;
CALL shardkit.move_rows('orders', ARRAY[1, 20], 'p8');
ROLLBACK;

-- a cancel while statistics are gathered comes too late to undo the move, and says so
CREATE FUNCTION public.cancels_analyze(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog AS $$
BEGIN
	IF EXISTS (SELECT FROM pg_stat_progress_analyze WHERE pid = pg_backend_pid()) THEN
		RAISE query_canceled;
	END IF;
	RETURN n;
END $$;
CREATE TABLE public.late_template (n int);
CREATE INDEX ON public.late_template (public.cancels_analyze(n));
SELECT shardkit.create_map('late', 2, ARRAY['late0', 'late1']);
SELECT shardkit.add_table('late', 'late', 'n', template => 'public.late_template');
INSERT INTO late0.late SELECT n FROM pg_catalog.generate_series(1, 50) AS n WHERE shardkit.node_of('late', n) OPERATOR(pg_catalog.=) 'late0';
\set SHOW_CONTEXT never
\set ON_ERROR_STOP 0
CALL shardkit.move_rows('late', ARRAY[0], 'late1');
SELECT (SELECT pg_catalog.count(*) FROM late0.late) AS left_there, pg_catalog.count(*) AS moved, shardkit.slot_node('late', 0) FROM late1.late;
SELECT shardkit.drop_map('late');
DROP TABLE late0.late, late1.late, public.late_template;
DROP FUNCTION public.cancels_analyze;
DROP SCHEMA late0, late1;

-- wrong calls
CREATE PROCEDURE fails(statement text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RAISE NOTICE 'no error';
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE '% %', SQLSTATE, SQLERRM;
END $$;
\set VERBOSITY terse
CALL fails($$CALL shardkit.move_rows('nowhere', ARRAY[1], 'p8')$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[72], 'p8')$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[-1], 'p8')$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1], 'p9')$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1, NULL], 'p8')$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[[1], [2]], 'p8')$$);
CALL fails($$CALL shardkit.move_rows(NULL, ARRAY[1], 'p8')$$);
CALL fails($$CALL shardkit.move_rows('orders', NULL, 'p8')$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1], NULL)$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1], 'p8', batch_slots => 0)$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1], 'p8', batch_slots => 513)$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1], 'p8', max_wait => NULL)$$);
CALL fails($$CALL shardkit.move_rows('orders', ARRAY[1], 'p8', max_wait => '-1 s')$$);
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL shardkit.move_rows('orders', ARRAY[1], 'p8');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
CALL shardkit.rebalance('orders');
ROLLBACK;
BEGIN READ ONLY;
CALL shardkit.move_rows('orders', ARRAY[1], 'p8');
ROLLBACK;
SET default_transaction_isolation = 'repeatable read';
CALL shardkit.move_rows('orders', ARRAY[1], 'p8');
RESET default_transaction_isolation;
CREATE ROLE shardkit_stranger;
SET ROLE shardkit_stranger;
CALL shardkit.move_rows('orders', ARRAY[1], 'p8');
RESET ROLE;

-- plan and do: what the plan says is what moves
CREATE TABLE plan AS SELECT * FROM shardkit.plan_rebalance('orders');
SELECT pg_catalog.count(*) FROM plan;
CALL shardkit.rebalance('orders');
SELECT pg_catalog.count(*), pg_catalog.min(n), pg_catalog.max(n) FROM (SELECT node, pg_catalog.count(*) n FROM shardkit.slot_map GROUP BY 1) s;
SELECT pg_catalog.count(*) FROM plan p FULL JOIN (SELECT slot, from_node, to_node, pg_catalog.sum(rows) AS rows FROM shardkit.move_log
	WHERE epoch > (SELECT pg_catalog.max(epoch) FROM shardkit.move_log WHERE slot = 9) GROUP BY 1, 2, 3) l
	ON (p.slot, p.from_node, p.to_node, p.rows) = (l.slot, l.from_node, l.to_node, l.rows) WHERE p.slot IS NULL OR l.slot IS NULL;
SELECT w.orders = :before_orders AND w.orders_print = :'before_orders_print' AND w.items = :before_items AND w.items_print = :'before_items_print' FROM whole() w;
SELECT pg_catalog.count(*) FROM on_nodes($$SELECT 1 FROM %1$I.orders WHERE shardkit.node_of('orders', user_id) <> '%1$s' UNION ALL SELECT 1 FROM %1$I.items WHERE shardkit.node_of('orders', user_id) <> '%1$s'$$) s (n int);
CALL shardkit.rebalance('orders');

\echo == the bill after moves that had nothing to carry
SELECT shardkit.create_map('idle', 4, ARRAY['idle1', 'idle2']);
SELECT shardkit.add_table('idle', 'orders', 'user_id', template => 'orders_template');
CALL shardkit.move_rows('idle', '{0,1}', 'idle2');
SELECT pg_catalog.split_part(problem, ';', 3) FROM shardkit.preflight('idle', '{2}', 'idle1') WHERE object = 'all';

SET client_min_messages = warning;
DROP ROLE shardkit_stranger;
DO $$ DECLARE place name; BEGIN
	FOR place IN SELECT schema FROM shardkit.node LOOP EXECUTE pg_catalog.format('DROP SCHEMA %I CASCADE', place); END LOOP;
END $$;
DROP EXTENSION shardkit CASCADE;
DROP TABLE orders_template, items_template, wanted, plan;
DROP FUNCTION on_nodes, whole;
DROP PROCEDURE fails;
