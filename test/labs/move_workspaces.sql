-- 480 logical shards over schemas, really moved: 4 to 6 and 8 to 12 machines
SET client_min_messages = warning;
SELECT setseed(0.5);
CREATE TABLE public.workspace_rows AS
SELECT row_number() OVER () AS id, w AS workspace, md5(w::text || n) AS payload
FROM (SELECT w, least(20, 1 + floor(21 * random() ^ 3)::int) AS n_rows FROM generate_series(1, 200000) AS w) AS s, generate_series(1, n_rows) AS n;
CREATE TABLE public.shape (LIKE public.workspace_rows);

-- The rows dealt over the machines, moved to more of them, and compared: one figure set for each step.
CREATE PROCEDURE public.grow(map text, first_nodes int, last_nodes int) LANGUAGE plpgsql AS $$
DECLARE
	names text[] := ARRAY(SELECT format('%s_%s', map, n) FROM generate_series(1, first_nodes) n);
	place text;
	every_row text;
	before_rows bigint; before_print text; after_rows bigint; after_print text;
	planned_slots bigint; planned_rows bigint; moved bigint; logged bigint; uneven bigint;
BEGIN
	PERFORM create_map(map, 480, names, hash => 'blake2b');
	PERFORM add_table(map, 'rows', 'workspace', template => 'public.shape');
	FOREACH place IN ARRAY names LOOP
		EXECUTE format('INSERT INTO %I.rows SELECT r.* FROM public.workspace_rows r JOIN slot_map s ON s.map = %L AND s.node = %L AND s.slot = modulo(hash64(r.workspace::text, ''blake2b''), 480)', place, map, place);
	END LOOP;
	FOR n IN first_nodes + 1 .. last_nodes LOOP PERFORM add_node(map, format('%s_%s', map, n)); END LOOP;
	SELECT string_agg(format('SELECT * FROM %I.rows', schema), ' UNION ALL ') INTO every_row FROM node WHERE node.map = grow.map;
	EXECUTE format('SELECT count(*), fingerprint(w) FROM (%s) w', every_row) INTO before_rows, before_print;
	SELECT count(*), sum(rows) INTO planned_slots, planned_rows FROM plan_rebalance(map);
	COMMIT;
	CALL rebalance(map, rows_moved => moved);
	EXECUTE format('SELECT count(*), fingerprint(w) FROM (%s) w', every_row) INTO after_rows, after_print;
	SELECT sum(rows) INTO logged FROM move_log WHERE move_log.map = grow.map;
	SELECT max(c) - min(c) INTO uneven FROM (SELECT count(*) AS c FROM slot_map WHERE slot_map.map = grow.map GROUP BY node) s;
	PERFORM lab.exact('D2', format('%s -> %s: logical shards that move', first_nodes, last_nodes), 160::bigint, planned_slots);
	PERFORM lab.close('D2', format('%s -> %s: %% of rows that move', first_nodes, last_nodes), CASE first_nodes WHEN 4 THEN 33.4 ELSE 33.6 END, round(100.0 * moved / before_rows, 1), 1.0);
	PERFORM lab.real('D2', format('%s -> %s: rows moved = rows predicted = rows logged', first_nodes, last_nodes), 'not shown', format('%s, %s, %s', moved, planned_rows, logged), moved = planned_rows AND moved = logged);
	PERFORM lab.real('D2', format('%s -> %s: all rows before and after', first_nodes, last_nodes), 'the same count and sum of ids', format('%s rows, %s', after_rows, after_print), before_rows = after_rows AND before_print = after_print);
	PERFORM lab.exact('D2', format('%s -> %s: spread of slots afterwards', first_nodes, last_nodes), 0::bigint, uneven);
END $$;
CALL public.grow('four', 4, 6);
CALL public.grow('eight', 8, 12);
