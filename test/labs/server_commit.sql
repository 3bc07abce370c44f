-- A9: a transaction over two servers of which one refuses at COMMIT, a move written as one such transaction, and the mover beside them
\set QUIET on
SELECT format('CREATE DATABASE %I', current_database() || suffix) FROM unnest(ARRAY['_a', '_b']) AS suffix \gexec
\set database_a :DBNAME '_a'
\set database_b :DBNAME '_b'
\set home :DBNAME

-- Both shards: a table, and a refusal at COMMIT that is switched on and off. A try's own table gets
-- the same refusal as it is made.
SELECT $shard$
CREATE TABLE shard (id bigint PRIMARY KEY, user_id bigint NOT NULL, note text);
CREATE TABLE refusal (x int);
CREATE TABLE refuses (refuses boolean);
INSERT INTO refuses VALUES (false);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN IF (SELECT refuses FROM public.refuses) THEN RAISE EXCEPTION ''refused at commit''; END IF; RETURN NULL; END';
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN INSERT INTO public.refusal VALUES (1); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON refusal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER touch AFTER INSERT ON shard FOR EACH STATEMENT EXECUTE FUNCTION touch();
CREATE FUNCTION touch_new_tables() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE made record;
BEGIN
	FOR made IN SELECT object_identity FROM pg_catalog.pg_event_trigger_ddl_commands()
		WHERE object_type = 'table' AND object_identity ~ '_m[0-9]+$' LOOP
		EXECUTE pg_catalog.format('CREATE TRIGGER touch AFTER INSERT ON %s FOR EACH STATEMENT EXECUTE FUNCTION public.touch()', made.object_identity);
	END LOOP;
END $$;
CREATE EVENT TRIGGER touch_new_tables ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION touch_new_tables();
$shard$ AS shard \gset
\c :database_a
SET search_path = public;
:shard
\c :database_b
SET search_path = public;
:shard
\c :home
SET client_min_messages = error;
SET search_path = public;
CREATE EXTENSION postgres_fdw;
CREATE SCHEMA a;
CREATE SCHEMA b;
SELECT format('CREATE SERVER %1$s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %2$L, port %3$L, dbname %4$L);
	CREATE USER MAPPING FOR CURRENT_USER SERVER %1$s;
	CREATE FOREIGN TABLE %1$s.shard (id bigint, user_id bigint, note text) SERVER %1$s OPTIONS (schema_name ''public'');
	CREATE FOREIGN TABLE %1$s.refuses (refuses boolean) SERVER %1$s OPTIONS (schema_name ''public'')',
	name, split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database() || '_' || name)
FROM unnest(ARRAY['a', 'b']) AS name \gexec

-- Every statement is a session of its own, since a lost COMMIT leaves connections in many states.
CREATE EXTENSION dblink;
CREATE FUNCTION run(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM public.dblink_connect('lab', format('host=%s port=%s dbname=%s', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()));
	BEGIN
		PERFORM public.dblink_exec('lab', statement);
	EXCEPTION WHEN OTHERS THEN
		PERFORM public.dblink_disconnect('lab');
		RETURN SQLERRM;
	END;
	PERFORM public.dblink_disconnect('lab');
	RETURN 'committed';
END $$;
CREATE TABLE outcome (parallel boolean, refuser text, a bigint, b bigint, answer text, kind text);

-- usage: a case of one statement block: set the stage, run, count what is left on each shard.
CREATE PROCEDURE try_case(kind text, is_parallel boolean, refuser text, stage text, statement text) LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	PERFORM public.run(format('ALTER SERVER a OPTIONS (%1$s parallel_commit %2$L); ALTER SERVER b OPTIONS (%1$s parallel_commit %2$L)',
		CASE WHEN EXISTS (SELECT FROM pg_foreign_server WHERE srvoptions::text ~ 'parallel_commit') THEN 'SET' ELSE 'ADD' END, CASE WHEN is_parallel THEN 'true' ELSE 'false' END));
	PERFORM public.run('UPDATE a.refuses SET refuses = false');
	PERFORM public.run('UPDATE b.refuses SET refuses = false');
	PERFORM public.run('DELETE FROM a.shard');
	PERFORM public.run('DELETE FROM b.shard');
	IF stage IS NOT NULL THEN
		PERFORM public.run(stage);
	END IF;
	PERFORM public.run(format('UPDATE %I.refuses SET refuses = true', refuser));
	answer := public.run(statement);
	COMMIT;
	INSERT INTO public.outcome SELECT is_parallel, refuser, (SELECT count(*) FROM a.shard), (SELECT count(*) FROM b.shard), answer, kind;
	COMMIT;
END $$;

CALL try_case('insert', false, 'a', NULL, 'BEGIN; INSERT INTO a.shard VALUES (1, 1); INSERT INTO b.shard VALUES (1, 1); COMMIT');
CALL try_case('insert', false, 'b', NULL, 'BEGIN; INSERT INTO a.shard VALUES (1, 1); INSERT INTO b.shard VALUES (1, 1); COMMIT');
CALL try_case('insert', true, 'a', NULL, 'BEGIN; INSERT INTO a.shard VALUES (1, 1); INSERT INTO b.shard VALUES (1, 1); COMMIT');
CALL try_case('insert', true, 'b', NULL, 'BEGIN; INSERT INTO a.shard VALUES (1, 1); INSERT INTO b.shard VALUES (1, 1); COMMIT');
SELECT lab.real('A9', 'cases of 4 in which half of a refused transaction stays', '3 of 4', count(*) FILTER (WHERE a + b > 0) || ' of ' || count(*),
	count(*) FILTER (WHERE a + b > 0) = 3 AND bool_and(answer ~ 'refused')) FROM outcome WHERE kind = 'insert';

-- 100 rows, moved by DELETE .. RETURNING into an INSERT on the other server, which refuses.
CALL try_case('move', true, 'b', 'INSERT INTO a.shard SELECT g, g FROM generate_series(1, 100) AS g',
	'WITH moved AS (DELETE FROM a.shard RETURNING *) INSERT INTO b.shard SELECT * FROM moved');
SELECT lab.real('A9', 'rows of 100 left after a move in one transaction whose target refuses', 'lost', (a + b)::text, a + b = 0 AND answer ~ 'refused')
FROM outcome WHERE kind = 'move';

-- The same 100 rows as the partition of a slot; the target refuses, and then it does not.
CREATE TABLE orders (id bigint NOT NULL, user_id bigint NOT NULL, note text) PARTITION BY HASH (user_id);
SELECT shardkit.create_map('orders', 1);
SELECT shardkit.add_node('orders', 'na', 'na', 'a'), shardkit.add_node('orders', 'nb', 'nb', 'b');
SELECT run('DELETE FROM a.shard'), run('DELETE FROM b.shard'), run('UPDATE a.refuses SET refuses = false'), run('UPDATE b.refuses SET refuses = false');
SELECT shardkit.ask_server('a', 'DROP TRIGGER touch ON public.shard');
CREATE FOREIGN TABLE na.orders_0 PARTITION OF orders FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER a OPTIONS (schema_name 'public', table_name 'shard');
SELECT shardkit.assign_slots('orders', '{0}', 'na');
INSERT INTO shardkit.map_table (map, relation, key, key_types, kind) VALUES ('orders', 'public.orders', 'user_id', ARRAY['bigint'::regtype], 'per_slot');
INSERT INTO orders SELECT g, g FROM generate_series(1, 100) AS g;
SELECT run('UPDATE b.refuses SET refuses = true');
SELECT run($$CALL shardkit.move_rows('orders', '{0}', 'nb')$$) AS answer \gset
SELECT lab.real('A9', 'rows of 100 left after the mover, whose target refuses', 'none lost', count(*)::text,
	count(*) = 100 AND :'answer' ~ 'refused' AND shardkit.slot_node('orders', 0) = 'na') FROM orders;
SELECT run('UPDATE b.refuses SET refuses = false');
CALL shardkit.move_rows('orders', '{0}', 'nb');
SELECT lab.real('A9', 'and once it does not refuse', 'all moved', count(*)::text,
	count(*) = 100 AND shardkit.slot_node('orders', 0) = 'nb') FROM orders;
