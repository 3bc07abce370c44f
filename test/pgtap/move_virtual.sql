-- a virtual generated column has no value of its own to move: it is computed on the target
\set ECHO none
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
RESET client_min_messages;
SELECT current_setting('server_version_num')::int >= 180000 AS has_virtual \gset
BEGIN;
SELECT plan(5);
\if :has_virtual
CREATE TABLE shape (id int PRIMARY KEY, n int NOT NULL, twice int GENERATED ALWAYS AS (n * 2) VIRTUAL);
SELECT shardkit.create_map('virtual', 8, ARRAY['va', 'vb']) > 0 AS made \gset
SELECT shardkit.add_table('virtual', 't', 'id', template => 'shape') > 0 AS added \gset
INSERT INTO va.t (id, n) SELECT g, g * 3 FROM generate_series(1, 1000) AS g
	WHERE shardkit.node_of('virtual', g) = 'va';
SELECT count(*) AS rows, sum(twice) AS twice, shardkit.fingerprint(t) AS print FROM va.t \gset
SELECT array_agg(slot) AS slots FROM shardkit.slot_map WHERE map = 'virtual' AND node = 'va' \gset
CALL shardkit.move_rows('virtual', :'slots', 'vb') \gset
SELECT is(:rows_moved::bigint, :rows::bigint, 'all rows move');
SELECT is((SELECT count(*) FROM va.t), 0::bigint, 'none is left');
SELECT is((SELECT sum(twice) FROM vb.t), :twice::bigint, 'the column says the same over there');
SELECT is((SELECT shardkit.fingerprint(t) FROM vb.t), :'print', 'and so does the fingerprint');
SELECT is((SELECT count(*) FROM shardkit.move_log WHERE map = 'virtual' AND fingerprint_from = fingerprint_to
	AND state = 'done'), 4::bigint, 'each slot has its certificate');
\else
SELECT skip('virtual generated columns come with PostgreSQL 18', 5);
\endif
SELECT * FROM finish();
ROLLBACK;
