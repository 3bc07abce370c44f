-- ------------------------------------------------------------------------------------------
-- Move: what would stop it or spoil it, found in the catalogs beforehand
-- ------------------------------------------------------------------------------------------

-- The tables between which these slots would move; NULL where a node has no such table.
CREATE FUNCTION shardkit_internal.move_pairs(map text, slots int[], to_node text)
RETURNS TABLE (relation text, from_node text, source regclass, target regclass)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT DISTINCT t.relation, s.node, to_regclass(format('%I.%s', f.schema, t.relation)),
		to_regclass(format('%I.%s', n.schema, t.relation))
	FROM shardkit.slot_map AS s
	JOIN shardkit.node AS f ON f.map = s.map AND f.name = s.node
	JOIN shardkit.node AS n ON n.map = s.map AND n.name = move_pairs.to_node
	JOIN shardkit.map_table AS t ON t.map = s.map AND t.kind = 'per_node'
	WHERE s.map = move_pairs.map AND s.slot = ANY (move_pairs.slots) AND s.node <> move_pairs.to_node
$$;
COMMENT ON FUNCTION shardkit_internal.move_pairs(text, int[], text) IS 'part of preflight: the tables between which these slots would move';

-- Columns that are not the same on both sides.
CREATE FUNCTION shardkit_internal.move_column_hazards(source regclass, target regclass)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	WITH columns AS (
		SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attcollation,
			a.attgenerated, CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END AS expression
		FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid IN (source, target) AND a.attnum > 0 AND NOT a.attisdropped)
	SELECT 'error', format('%s.%I', target, s.attname),
		CASE WHEN t.attname IS NULL THEN format('column %I of %s is missing in %s', s.attname, source, target)
			WHEN s.type <> t.type THEN format('the type is %s, but %s in %s', t.type, s.type, source)
			WHEN s.attcollation <> t.attcollation THEN format('the collation differs from that in %s', source)
			ELSE format('it is not generated in the same way as in %s', source) END,
		CASE WHEN t.attname IS NULL THEN format('ALTER TABLE %s ADD COLUMN %I %s', target, s.attname, s.type)
			WHEN s.type <> t.type THEN format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', target, s.attname, s.type)
			WHEN s.attcollation <> t.attcollation THEN format('ALTER TABLE %s ALTER COLUMN %I TYPE %s COLLATE %s',
				target, s.attname, s.type, s.attcollation::regcollation)
			WHEN s.expression IS NULL THEN format('ALTER TABLE %s ALTER COLUMN %I DROP EXPRESSION', target, s.attname)
			ELSE format('ALTER TABLE %s DROP COLUMN %I, ADD COLUMN %I %s GENERATED ALWAYS AS (%s) STORED',
				target, t.attname, s.attname, s.type, s.expression) END
	FROM columns AS s LEFT JOIN columns AS t ON t.attrelid = target AND t.attname = s.attname
	WHERE s.attrelid = source AND (t.attname IS NULL OR s.type <> t.type OR s.attcollation <> t.attcollation
		OR s.attgenerated <> t.attgenerated OR s.expression IS DISTINCT FROM t.expression)
	UNION ALL
	SELECT 'error', format('%s.%I', target, t.attname), format('%s has no such column', source),
		format('ALTER TABLE %s ADD COLUMN %I %s', source, t.attname, t.type)
	FROM columns AS t
	WHERE t.attrelid = target AND NOT EXISTS (
		SELECT FROM columns AS s WHERE s.attrelid = source AND s.attname = t.attname)
$$;
COMMENT ON FUNCTION shardkit_internal.move_column_hazards(regclass, regclass) IS 'part of preflight: columns that differ';

-- What one table has about it, as the side that rows leave or as the side where they arrive.
CREATE FUNCTION shardkit_internal.move_table_hazards(tab regclass, leaves boolean)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT 'error', tab::text, 'it is not an ordinary or partitioned table', 'remove it from the map'
	FROM pg_class AS c WHERE c.oid = tab AND c.relkind NOT IN ('r', 'p')
	UNION ALL
	SELECT 'error', tab::text, format('it belongs to %s', c.relowner::regrole),
		format('ALTER TABLE %s OWNER TO %I', tab, current_user)
	FROM pg_class AS c WHERE c.oid = tab AND NOT pg_has_role(c.relowner, 'USAGE')
	UNION ALL
	SELECT 'error', tab::text, 'it is not logged: a crash would empty it', format('ALTER TABLE %s SET LOGGED', tab)
	FROM pg_class AS c WHERE c.oid = tab AND c.relpersistence <> 'p' AND NOT leaves
	UNION ALL
	SELECT 'error', tab::text, 'row level security hides rows from you', format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', tab)
	WHERE row_security_active(tab)
	UNION ALL
	SELECT 'error', i.inhrelid::regclass::text, format('it inherits from %s, and its rows would stay behind', tab),
		format('ALTER TABLE %s NO INHERIT %s', i.inhrelid::regclass, tab)
	FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhparent
	WHERE i.inhparent = tab AND c.relkind = 'r'
	UNION ALL
	SELECT 'error', format('%s on %s', k.conname, tab), 'a deferrable constraint over expressions or with a predicate cannot be checked',
		format('ALTER TABLE %s DROP CONSTRAINT %I', tab, k.conname)
	FROM pg_constraint AS k JOIN pg_index AS i ON i.indexrelid = k.conindid
	WHERE k.conrelid = tab AND k.condeferrable AND NOT leaves AND k.contype IN ('p', 'u', 'x')
		AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL)
	UNION ALL
	SELECT 'error', format('%s on %s', r.rulename, tab), 'a rule that is always applied would change the move',
		format('ALTER TABLE %s DISABLE RULE %I', tab, r.rulename)
	FROM pg_rewrite AS r
	WHERE r.ev_class = tab AND r.ev_enabled IN ('A', 'R') AND r.ev_type = CASE WHEN leaves THEN '4' ELSE '3' END
	UNION ALL
	SELECT 'error', tab::text, 'it is published without a replica identity, so rows cannot be deleted',
		format('ALTER TABLE %s REPLICA IDENTITY FULL', tab)
	FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
	WHERE c.oid = tab AND leaves AND c.relreplident IN ('d', 'n')
		AND NOT (c.relreplident = 'd' AND EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = tab AND i.indisprimary))
		AND EXISTS (SELECT FROM pg_publication_tables AS t JOIN pg_publication AS p ON p.pubname = t.pubname
			WHERE t.schemaname = n.nspname AND t.tablename = c.relname AND p.pubdelete)
	UNION ALL
	-- It would cascade, or look for rows while they travel; the mover checks foreign keys itself.
	SELECT 'error', format('%s on %s', g.tgname, tab), 'a trigger of a constraint is set to fire always',
		format('ALTER TABLE %s ENABLE TRIGGER %I', tab, g.tgname)
	FROM pg_trigger AS g WHERE g.tgrelid = tab AND g.tgisinternal AND g.tgenabled IN ('A', 'R') AND g.tgconstraint <> 0
	UNION ALL
	SELECT 'warning', format('%s on %s', g.tgname, tab), 'this trigger fires for moved rows', format('ALTER TABLE %s ENABLE TRIGGER %I', tab, g.tgname)
	FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid
	WHERE g.tgrelid = tab AND NOT g.tgisinternal AND g.tgenabled IN ('A', 'R')
		AND p.pronamespace <> 'shardkit'::regnamespace
		AND (g.tgtype & CASE WHEN leaves THEN 8 ELSE 4 END) <> 0
$$;
COMMENT ON FUNCTION shardkit_internal.move_table_hazards(regclass, boolean) IS 'part of preflight: what a table has about it';

CREATE FUNCTION shardkit_internal.move_hazards(map text, slots int[], to_node text)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	WITH pairs AS MATERIALIZED (SELECT * FROM shardkit_internal.move_pairs($1, $2, $3))
	SELECT 'error', p.relation, CASE WHEN p.source IS NULL THEN format('node %s has no such table', p.from_node)
			ELSE format('node %s has no such table', to_node) END,
		format('SELECT shardkit.verify_map(%L)', map)
	FROM pairs AS p WHERE p.source IS NULL OR p.target IS NULL
	UNION ALL
	SELECT h.* FROM pairs AS p, shardkit_internal.move_column_hazards(p.source, p.target) AS h
	WHERE p.source IS NOT NULL AND p.target IS NOT NULL
	UNION ALL
	SELECT h.* FROM (SELECT DISTINCT source AS tab FROM pairs WHERE source IS NOT NULL) AS p, shardkit_internal.move_table_hazards(p.tab, true) AS h
	UNION ALL
	SELECT h.* FROM (SELECT DISTINCT target AS tab FROM pairs WHERE target IS NOT NULL) AS p, shardkit_internal.move_table_hazards(p.tab, false) AS h
$$;
COMMENT ON FUNCTION shardkit_internal.move_hazards(text, int[], text) IS 'part of preflight: what the catalogs show; looks at no rows';

-- A target's own sequence that is behind the source's would give moved ids a second time.
CREATE FUNCTION shardkit_internal.advance_sequences(source regclass, target regclass) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	pair record;
BEGIN
	FOR pair IN
		SELECT s.sequence AS from_sequence, t.sequence AS to_sequence
		FROM (SELECT attname, pg_get_serial_sequence(source::text, attname) AS sequence FROM pg_attribute
			WHERE attrelid = source AND attnum > 0 AND NOT attisdropped) AS s
		JOIN (SELECT attname, pg_get_serial_sequence(target::text, attname) AS sequence FROM pg_attribute
			WHERE attrelid = target AND attnum > 0 AND NOT attisdropped) AS t USING (attname)
		WHERE s.sequence <> t.sequence
	LOOP
		EXECUTE format('SELECT setval(%L, s.last_value) FROM %s AS s, %s AS t WHERE s.is_called'
			' AND (NOT t.is_called AND s.last_value >= t.last_value OR s.last_value > t.last_value)',
			pair.to_sequence, pair.from_sequence, pair.to_sequence);
	END LOOP;
END $$;
COMMENT ON FUNCTION shardkit_internal.advance_sequences(regclass, regclass) IS 'part of move_rows: the target''s own sequences catch up with the source''s';
