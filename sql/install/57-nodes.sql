-- ------------------------------------------------------------------------------------------
-- Over all nodes of a map: a view, a statement
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION shardkit_internal.all_rows_query(map text, relation text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
	kept record;
	columns text;
	parts text;
BEGIN
	SELECT t.kind INTO kept FROM shardkit.map_table AS t
	WHERE t.map = all_rows_query.map AND t.relation = all_rows_query.relation;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_table',
			MESSAGE = format('map %s has no table %s', quote_nullable(map), quote_nullable(relation)),
			HINT = 'SELECT * FROM shardkit.map_table lists the tables.';
	ELSIF kept.kind <> 'per_node' THEN
		RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
			MESSAGE = format('table %s is of kind per_slot', relation),
			HINT = 'It shows all its rows by itself.';
	END IF;
	SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns
	FROM pg_attribute AS a
	WHERE a.attrelid = (SELECT to_regclass(format('%I.%s', n.schema, relation)) AS found
			FROM shardkit.node AS n WHERE n.map = all_rows_query.map
			ORDER BY to_regclass(format('%I.%s', n.schema, relation)) IS NULL, n.name COLLATE "C" LIMIT 1)
		AND a.attnum > 0 AND NOT a.attisdropped;
	SELECT string_agg(format('SELECT %s FROM %I.%s', columns, n.schema, relation), ' UNION ALL '
		ORDER BY n.name COLLATE "C") INTO parts
	FROM shardkit.node AS n WHERE n.map = all_rows_query.map;
	-- A view over a single table could be written to; with OFFSET it cannot.
	RETURN CASE WHEN parts ~ ' UNION ALL ' THEN parts ELSE parts || ' OFFSET 0' END;
END
$$;
COMMENT ON FUNCTION shardkit_internal.all_rows_query(text, text) IS
'query for the rows of a per_node table on all nodes of a map';

-- Without a search_path of its own: the view's name is the caller's.
CREATE FUNCTION create_view(map text, relation text, "view" text) RETURNS void
	LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	name text;
BEGIN
	IF "view" IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'view must not be null';
	END IF;
	SELECT pg_catalog.string_agg(pg_catalog.quote_ident(p.part), '.' ORDER BY p.place) INTO name
	FROM pg_catalog.unnest(pg_catalog.parse_ident("view")) WITH ORDINALITY AS p (part, place);
	EXECUTE pg_catalog.format('CREATE OR REPLACE VIEW %s WITH (security_invoker = true) AS %s', name,
		shardkit_internal.all_rows_query(map, relation));
	EXECUTE pg_catalog.format('COMMENT ON VIEW %s IS %L', name, pg_catalog.format(
		'all rows of table %s of map %s; create_view again when nodes come or go', relation, map));
END
$$;
COMMENT ON FUNCTION create_view(text, text, text) IS
'creates or renews a read-only view over a per_node table on all nodes of a map, with the reader''s own privileges';

CREATE FUNCTION run_on_nodes(map text, statement text, OUT node text, OUT ok boolean, OUT result text)
	RETURNS SETOF record
	LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
	part record;
	touched bigint;
	answer text[];
BEGIN
	IF statement IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'statement must not be null';
	ELSIF NOT EXISTS (SELECT FROM shardkit.node AS n WHERE n.map OPERATOR(pg_catalog.=) run_on_nodes.map) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = pg_catalog.format('there is no map %s with nodes', pg_catalog.quote_nullable(run_on_nodes.map)),
			HINT = 'SELECT name FROM shardkit.map lists the maps.';
	END IF;
	-- Local nodes first: all or nothing, in this transaction.
	FOR part IN
		SELECT n.name, pg_catalog.replace(statement, '%schema%', pg_catalog.quote_ident(n.schema)) AS statement
		FROM shardkit.node AS n
		WHERE n.map OPERATOR(pg_catalog.=) run_on_nodes.map AND n.server IS NULL ORDER BY n.name
	LOOP
		EXECUTE part.statement;
		GET DIAGNOSTICS touched = ROW_COUNT;
		node := part.name;
		ok := true;
		result := pg_catalog.format('%s rows', touched);
		RETURN NEXT;
	END LOOP;
	-- Servers commit one by one: what failed is said, and the same call can be made again.
	FOR part IN
		SELECT n.name, n.server, pg_catalog.replace(statement, '%schema%', pg_catalog.quote_ident(n.schema)) AS statement
		FROM shardkit.node AS n
		WHERE n.map OPERATOR(pg_catalog.=) run_on_nodes.map AND n.server IS NOT NULL ORDER BY n.name
	LOOP
		node := part.name;
		BEGIN
			result := NULL;
			SELECT pg_catalog.string_agg(pg_catalog.array_to_string(a, ' | ', ''), E'\n') INTO result
			FROM shardkit.ask_server(part.server, part.statement) AS a;
			ok := true;
		EXCEPTION WHEN OTHERS THEN
			ok := false;
			result := SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION run_on_nodes(text, text) IS
'runs a statement on every node of a map, %schema% replaced by the node''s schema: on local nodes all or nothing, on servers one by one, each with its outcome';
