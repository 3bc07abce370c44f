-- a session that quotes every name (quote_all_identifiers, as pg_dump sets it) sees the same map as any other
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SET client_min_messages = error;
SELECT plan(14);
CREATE TABLE quoting_user (id bigint PRIMARY KEY, "Name" text DEFAULT 'x' CHECK ("Name" <> ''), number serial);
CREATE TABLE quoting_order (id bigint NOT NULL REFERENCES quoting_user, n int, UNIQUE (id, n));
CREATE INDEX ON quoting_order (n) WHERE n > 0;
CREATE TABLE quoting_event ("select" int, v text);

SET quote_all_identifiers = on;
SELECT shardkit.create_map('quoting', 6, ARRAY['quoting_a', 'Quoting b']);
SELECT shardkit.add_table('quoting', 'quoting_user', 'id', template => 'quoting_user');
SELECT shardkit.add_table('quoting', 'quoting_order', 'id', template => 'quoting_order');
SELECT shardkit.create_map('quoting parts', 4, ARRAY['quoting_c', 'quoting_d']);
SELECT shardkit.add_table('quoting parts', 'public.quoting_events', '"select"', 'per_slot', 'quoting_event');
SELECT set_eq($$SELECT relation, key FROM shardkit.map_table WHERE map ~ '^quoting' ORDER BY relation COLLATE "C"$$,
	$$VALUES ('public.quoting_events', '"select"'), ('quoting_order', 'id'), ('quoting_user', 'id')$$,
	'kept as another session would, with the quotes that are needed');
SELECT is(shardkit.index_slots('quoting', 'quoting_order'), 2, 'an index on each node');
SELECT is(shardkit.index_slots('quoting', 'quoting_order'), 0, 'which is found again');
SELECT is_empty($$SELECT * FROM shardkit.verify_map('quoting')$$, 'nothing is wrong');
SELECT is_empty($$SELECT * FROM shardkit.verify_map('quoting parts')$$, 'nor with partitions');
SELECT shardkit.add_node('quoting', 'quoting_e');
SELECT is_empty($$SELECT * FROM shardkit.verify_map('quoting')$$, 'a new node is like the others');
SELECT is((SELECT count(*) FROM pg_constraint WHERE conrelid = 'quoting_e.quoting_order'::regclass AND contype = 'f'), 1::bigint,
	'and refers to its own table');

-- Damage: both sessions find the same.
RESET quote_all_identifiers;
SELECT is(shardkit.index_slots('quoting', 'quoting_order'), 0, 'the indexes are found without quotes too');
ALTER TABLE quoting_a.quoting_user ALTER "Name" SET DEFAULT 'y', DROP CONSTRAINT "quoting_user_Name_check";
ALTER TABLE "Quoting b".quoting_order ALTER n TYPE bigint;
ALTER TABLE quoting_e.quoting_order DISABLE TRIGGER shardkit_guard_insert;
ALTER TABLE public.quoting_events RENAME TO quoting_later;
CREATE TEMPORARY TABLE quoting_found AS
	SELECT * FROM shardkit.verify_map('quoting') UNION ALL SELECT * FROM shardkit.verify_map('quoting parts');
SELECT cmp_ok((SELECT count(*) FROM quoting_found), '>=', 5::bigint, 'damage is found');
SET quote_all_identifiers = on;
SELECT set_eq($$SELECT * FROM shardkit.verify_map('quoting') UNION ALL SELECT * FROM shardkit.verify_map('quoting parts')$$,
	'SELECT * FROM quoting_found', 'the same, with the same cures, where every name is quoted');
SELECT is_empty($$SELECT * FROM quoting_found WHERE fix ~ 'remove_table'$$, 'none of them gives a table up');
SELECT lives_ok($$SELECT shardkit.remove_table('quoting', 'quoting_order')$$, 'a name is found as it was kept');
CREATE TABLE quoting_sample (id regclass, v int);
SELECT throws_ok($$SELECT shardkit_internal.predict_weight('quoting_sample', 'id')$$, '42804', NULL, 'a reference to an object has no weight');

SELECT is_empty($$SELECT oid::regprocedure FROM pg_proc
	WHERE pronamespace IN ('shardkit'::regnamespace, 'shardkit_internal'::regnamespace)
		AND prosrc ~ '[^.]pg_get_(constraintdef|indexdef|expr|triggerdef|partkeydef|viewdef|ruledef)|format_type|quote_ident|::regtype|%I'
		AND NOT coalesce(proconfig @> '{quote_all_identifiers=off}', false)
		-- what these write is run, neither kept nor compared
		AND proname NOT IN ('create_view', 'run_on_nodes', 'predict_salt_queries')$$,
	'whatever writes definitions or names does so in one way');
SELECT * FROM finish();
ROLLBACK;
