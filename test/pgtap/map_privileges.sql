-- who may do what with a map, and that no search_path leads a command astray
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT plan(50);

CREATE ROLE sk_team;
CREATE ROLE sk_alice IN ROLE sk_team;
CREATE ROLE sk_router;
CREATE ROLE sk_mallory;
SELECT format('GRANT CREATE ON DATABASE %I TO sk_team', current_database()) \gexec
CREATE TABLE privilege_shape (id bigint PRIMARY KEY, note text);
GRANT SELECT ON privilege_shape TO sk_team;

-- the statement's SQLSTATE, run by a role under a search_path
CREATE FUNCTION state_as(who name, statement text, path text DEFAULT 'pg_catalog') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	state text := '00000';
BEGIN
	PERFORM pg_catalog.set_config('role', who, true), pg_catalog.set_config('search_path', path, true);
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		state := SQLSTATE;
	END;
	PERFORM pg_catalog.set_config('role', 'none', true),
		pg_catalog.set_config('search_path', 'public', true);
	RETURN state;
END;
$$;

-- the owner's role
SELECT is(state_as('sk_mallory', $$SELECT shardkit.create_map('m', 8, ARRAY['sk_a'])$$), '42501',
	'who may not create schemas makes no nodes of them');
SELECT is(state_as('sk_team', $$SELECT shardkit.create_map('m', 8, ARRAY['sk_a', 'sk_b'])$$), '00000',
	'who may create schemas may create a map');
SELECT is((SELECT owner FROM shardkit.map WHERE name = 'm'), 'sk_team', 'and owns it');
SELECT is(state_as('sk_alice', $$SELECT shardkit.set_weight('m', 'sk_a', 2)$$), '00000',
	'a member changes it');
SELECT is((SELECT changed_by FROM shardkit.map_log WHERE map = 'm' ORDER BY epoch DESC LIMIT 1),
	'sk_alice', 'and the history names the member');
SELECT is(state_as('sk_alice',
	$$SELECT shardkit.add_table('m', 'orders', 'id', template => 'public.privilege_shape')$$),
	'00000', 'and gives it tables');
SELECT is((SELECT count(*) FROM pg_tables WHERE tablename = 'orders' AND tableowner = 'sk_alice'), 2::bigint,
	'which are created as the caller, not as the extension''s owner');

-- everybody else
SELECT is(state_as('sk_mallory', command), '42501', 'refused to a stranger: ' || command)
FROM (VALUES
	($$SELECT shardkit.create_map('x', 8)$$),
	($$SELECT shardkit.drop_map('m')$$),
	($$SELECT shardkit.add_node('m', 'sk_c')$$),
	($$SELECT shardkit.set_weight('m', 'sk_a', 5)$$),
	($$SELECT shardkit.drain_node('m', 'sk_a')$$),
	($$SELECT shardkit.remove_node('m', 'sk_a')$$),
	($$SELECT shardkit.assign_slots('m', '{0}', 'sk_a')$$),
	($$SELECT shardkit.deal_slots('m')$$),
	($$SELECT shardkit.add_table('m', 't', 'id')$$),
	($$SELECT shardkit.adopt_map('m')$$),
	($$SELECT shardkit.import_map('{"map": "x", "slots": 8}')$$)) AS c(command);
SELECT is(state_as(who, format(statement, relation)), '42501',
	format('%s may not write: ' || statement, who, relation))
FROM unnest(ARRAY['map', 'node', 'slot_map', 'map_table', 'map_log', 'move_log']) AS relation,
	(VALUES ('INSERT INTO shardkit.%I DEFAULT VALUES'), ('TRUNCATE shardkit.%I CASCADE')) AS s(statement),
	(VALUES ('sk_team')) AS w(who);
SELECT is(state_as('sk_team', $$UPDATE shardkit.slot_map SET node = 'sk_a'$$), '42501',
	'the map''s owner may not update by hand');
SELECT is(state_as('sk_team', $$SELECT nextval('shardkit.map_id_seq')$$), '42501',
	'nor draw from the sequence');

-- a router reads, with no privilege granted
SELECT is(state_as('sk_router', command), '00000', 'open to a router: ' || command)
FROM (VALUES
	($$SELECT shardkit.slot_of('m', 42), shardkit.node_of('m', '42'), shardkit.slot_node('m', 0)$$),
	($$SELECT shardkit.require_slot('m', shardkit.map_epoch('m'), 0)$$),
	($$SELECT shardkit.require_key('m', shardkit.map_epoch('m'), 42)$$),
	($$SELECT shardkit.export_map('m'), shardkit.node_at('m', 1, 0)$$),
	($$SELECT * FROM shardkit.map_changes('m', 0)$$),
	($$SELECT * FROM shardkit.map, shardkit.node, shardkit.move_log$$)) AS c(command);

-- statements run on a server for those whose map has it: USAGE and a user mapping are not enough
CREATE SERVER sk_server FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere');
CREATE SERVER sk_other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere');
GRANT USAGE ON FOREIGN SERVER sk_server, sk_other TO PUBLIC;
CREATE USER MAPPING FOR PUBLIC SERVER sk_server OPTIONS (user 'a', password 'b');
CREATE USER MAPPING FOR PUBLIC SERVER sk_other OPTIONS (user 'a', password 'b');
SELECT is(state_as('sk_team',
	$$SELECT shardkit.create_map('far', 2), shardkit.add_node('far', 'sk_far', server => 'sk_server')$$),
	'00000', 'a map with a server');
SELECT is(state_as(who, format('SELECT shardkit.ask_server(%L, %L)', server, 'SELECT 1')), state,
	format('%s asks %s', who, server))
FROM (VALUES ('sk_mallory', 'sk_server', '42501'), ('sk_alice', 'sk_server', '08001'),
	('sk_alice', 'sk_other', '42501')) AS a (who, server, state);
SET ROLE sk_mallory;
SELECT matches((SELECT result FROM shardkit.run_on_nodes('far', 'DROP SCHEMA %schema% CASCADE')),
	'permission denied', 'nor does run_on_nodes do it for a stranger');
RESET ROLE;

-- under a search_path full of traps
CREATE SCHEMA sk_trap;
GRANT USAGE ON SCHEMA sk_trap TO PUBLIC;
SELECT format('CREATE FUNCTION sk_trap.spring(a %s, b %1$s) RETURNS boolean LANGUAGE plpgsql AS
	$$BEGIN RAISE EXCEPTION ''trapped'' USING ERRCODE = ''SKTRP''; END;$$', type)
FROM unnest(ARRAY['text', 'int', 'bigint', 'name', 'oid']) AS type \gexec
CREATE FUNCTION sk_trap.partition_slot(a int, VARIADIC b bigint[]) RETURNS int LANGUAGE plpgsql AS
	$$BEGIN RAISE EXCEPTION 'trapped' USING ERRCODE = 'SKTRP'; END;$$;
CREATE FUNCTION sk_trap.generate_series(a int, b int) RETURNS SETOF int LANGUAGE plpgsql AS
	$$BEGIN RAISE EXCEPTION 'trapped' USING ERRCODE = 'SKTRP'; END;$$;
SELECT format('CREATE OPERATOR sk_trap.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = sk_trap.spring)',
	operator, type)
FROM unnest(ARRAY['=', '<>', '>', '<=', '>=']) AS operator,
	unnest(ARRAY['text', 'int', 'bigint', 'name', 'oid']) AS type \gexec
CREATE TABLE sk_trap.map (name text);
CREATE TABLE sk_trap.slot_map (slot int);
SELECT is(state_as('sk_team', command, 'sk_trap, pg_catalog'), '00000', 'untrapped: ' || command)
FROM (VALUES
	($$SELECT shardkit.create_map('t', 8, ARRAY['sk_c', 'sk_d'])$$),
	($$SELECT shardkit.add_node('t', 'sk_e'), shardkit.set_weight('t', 'sk_e', 2)$$),
	($$SELECT shardkit.add_table('t', 'orders', 'id', template => 'public.privilege_shape')$$),
	($$SELECT shardkit.drain_node('t', 'sk_e'), shardkit.remove_node('t', 'sk_e')$$),
	($$SELECT shardkit.node_at('t', 1, 0), shardkit.export_map('t'), shardkit.adopt_map('t')$$),
	($$INSERT INTO sk_c.orders SELECT min(id) FROM pg_catalog.generate_series(1, 100) AS id
		WHERE shardkit.node_of('t', id) OPERATOR(pg_catalog.=) 'sk_c'$$),
	($$SELECT shardkit.drop_map('t')$$)) AS c(command);

SELECT * FROM finish();
ROLLBACK;
