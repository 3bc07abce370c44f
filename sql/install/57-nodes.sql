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

CREATE FUNCTION shardkit_internal.view_comment(map text, relation text) RETURNS text
	LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
SELECT format('all rows of table %s of map %s; create_view again when nodes come or go', relation, map)
$$;
COMMENT ON FUNCTION shardkit_internal.view_comment(text, text) IS 'comment by which create_view knows its own view';

-- What somebody has put into our view since is his, and a node's table stays in it when the node has gone.
CREATE FUNCTION shardkit_internal.is_own_view(map text, relation text, "view" regclass) RETURNS boolean
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT coalesce(obj_description("view", 'pg_class') = shardkit_internal.view_comment(map, relation), false)
	AND NOT EXISTS (SELECT FROM pg_rewrite AS r
		JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
		JOIN pg_class AS c ON c.oid = d.refobjid
		WHERE r.ev_class = "view" AND c.oid <> "view" AND quote_ident(c.relname) <> relation)
$$;
COMMENT ON FUNCTION shardkit_internal.is_own_view(text, text, regclass) IS
'has create_view made this view of the table, and does it read nothing else?';

-- Without a search_path of its own: the view's name is the caller's.
CREATE FUNCTION create_view(map text, relation text, "view" text) RETURNS void
	LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	names text[] := pg_catalog.parse_ident("view");
	name text;
	query text;
	found regclass;
BEGIN
	IF "view" IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'view must not be null';
	END IF;
	SELECT pg_catalog.string_agg(pg_catalog.quote_ident(p.part), '.' ORDER BY p.place) INTO name
	FROM pg_catalog.unnest(names) WITH ORDINALITY AS p (part, place);
	query := shardkit_internal.all_rows_query(map, relation);
	-- Without a schema a view is made in the first one, whatever bears its name in the others.
	found := pg_catalog.to_regclass(CASE WHEN pg_catalog.cardinality(names) OPERATOR(pg_catalog.>) 1 THEN name
		WHEN pg_catalog.current_schema() IS NOT NULL THEN pg_catalog.format('%I.%s', pg_catalog.current_schema(), name) END);
	IF EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) found AND c.relkind OPERATOR(pg_catalog.=) 'v')
		AND NOT shardkit_internal.is_own_view(map, relation, found) THEN
		RAISE EXCEPTION USING ERRCODE = 'duplicate_table',
			MESSAGE = pg_catalog.format('view %s exists, and is not the one that create_view made of table %s of map "%s"', found, relation, map),
			HINT = pg_catalog.format('Give another name, or DROP VIEW %s first.', found);
	END IF;
	EXECUTE pg_catalog.format('CREATE OR REPLACE VIEW %s WITH (security_invoker = true) AS %s', name, query);
	EXECUTE pg_catalog.format('COMMENT ON VIEW %s IS %L', name, shardkit_internal.view_comment(map, relation));
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
