-- ------------------------------------------------------------------------------------------
-- Audit: what the tables hold
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION shardkit_internal.verify_keys(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	aside text;
	many bigint;
BEGIN
	FOR part IN
		SELECT t.relation, t.key, n.schema, to_regclass(format('%I.%s', n.schema, t.relation)) AS found
		FROM shardkit.map_table AS t JOIN shardkit.node AS n ON n.map = t.map
		WHERE t.map = verify_keys.map AND t.kind = 'per_node' AND n.server IS NULL
	LOOP
		CONTINUE WHEN part.found IS NULL;
		BEGIN
			EXECUTE format('SELECT count(*) FROM %s WHERE num_nonnulls(%s) = 0', part.found, part.key) INTO many;
		EXCEPTION WHEN undefined_column THEN
			CONTINUE; -- the table's shape says so
		END;
		CONTINUE WHEN many = 0;
		kind := 'key';
		object := part.found::text;
		problem := format('%s rows have no key', many);
		SELECT format('%I.%I', part.schema, CASE WHEN octet_length(c.relname) < 52 THEN c.relname || '_without_key'
			ELSE 'without_key_' || c.oid END) INTO aside FROM pg_class AS c WHERE c.oid = part.found;
		fix := format('CREATE TABLE IF NOT EXISTS %s (LIKE %s); WITH removed AS (DELETE FROM %2$s WHERE num_nonnulls(%3$s) = 0 RETURNING *)'
			' INSERT INTO %1$s SELECT * FROM removed', aside, part.found, part.key);
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.verify_keys(text) IS 'part of verify_map: rows without a key';

-- DISABLE TRIGGER ALL takes the foreign keys along, and they are easily forgotten.
CREATE FUNCTION shardkit_internal.verify_triggers(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT 'rule', f.found::text, format('constraint %I is not looked after: trigger %I is %s', k.conname, t.tgname,
		CASE t.tgenabled WHEN 'D' THEN 'disabled' WHEN 'R' THEN 'for replicas only' ELSE 'enabled always' END),
	format('ALTER TABLE %s ENABLE TRIGGER %I', f.found, t.tgname)
FROM shardkit.map_table AS m JOIN shardkit.node AS n ON n.map = m.map,
	LATERAL (SELECT to_regclass(format('%I.%s', n.schema, m.relation)) AS found) AS f
	JOIN pg_trigger AS t ON t.tgrelid = f.found AND t.tgisinternal AND t.tgenabled <> 'O'
	JOIN pg_constraint AS k ON k.oid = t.tgconstraint
WHERE m.map = verify_triggers.map AND m.kind = 'per_node' AND n.server IS NULL
ORDER BY n.name COLLATE "C", k.conname, t.tgname
$$;
COMMENT ON FUNCTION shardkit_internal.verify_triggers(text) IS 'part of verify_map: constraints whose triggers are switched off';

-- Two tables that refer to each other take their rows along in one statement: foreign keys are looked at behind it.
CREATE FUNCTION shardkit_internal.bring_home(wrong regclass, proper regclass, condition text, place bigint) RETURNS text
	LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	columns text;
	there text;
BEGIN
	SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) INTO columns FROM pg_attribute AS c
	WHERE c.attrelid = wrong AND c.attnum > 0 AND NOT c.attisdropped AND c.attgenerated = '';
	SELECT format(' AND ((%s) IN (SELECT %1$s FROM %s))', string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum), proper) INTO there
	FROM pg_index AS i JOIN pg_attribute AS c ON c.attrelid = i.indrelid AND c.attnum = ANY (i.indkey)
	WHERE i.indrelid = proper AND i.indisprimary HAVING count(*) > 0;
	RETURN coalesce(format('twice_%s AS (DELETE FROM %s WHERE %s%s), ', place, wrong, condition, there), '')
		|| format('moved_%s AS (DELETE FROM %s WHERE %s%s RETURNING *), ', place, wrong, condition, coalesce(there || ' IS NOT TRUE', ''))
		|| format('stored_%s AS (INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %3$s FROM moved_%1$s)', place, proper, columns);
END
$$;
COMMENT ON FUNCTION shardkit_internal.bring_home(regclass, regclass, text, bigint) IS
'parts of a WITH that carry rows from one table to another; those that are there already stay as they are there';

-- Rows on the wrong node, or on two.
CREATE FUNCTION shardkit_internal.verify_rows(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	columns text;
	keys text;
	many bigint;
BEGIN
	FOR part IN
		-- Rows of a slot without an owner first come together where most of them are.
		SELECT r.*, t.key, t.template, r.node = first_value(r.node) OVER slot AS is_home, first_value(a.schema) OVER slot AS home,
			shardkit.slot_expression(t.map, t.key) AS expression,
			CASE WHEN t.kind = 'per_node' THEN to_regclass(format('%I.%s', a.schema, t.relation)) END AS wrong,
			CASE WHEN t.kind = 'per_node' THEN to_regclass(quote_ident(b.schema) || '.' || t.relation) END AS proper, t.kind AS table_kind,
			a.schema AS wrong_schema, b.schema AS proper_schema, array_agg(r.relation) OVER (PARTITION BY r.node, r.slot) AS together
		FROM shardkit.misplaced_rows(verify_rows.map) AS r
			JOIN shardkit.map_table AS t ON t.map = verify_rows.map AND t.relation = r.relation
			JOIN shardkit.node AS a ON a.map = t.map AND a.name = r.node
			LEFT JOIN shardkit.node AS b ON b.map = t.map AND b.name = r.owner
		WINDOW slot AS (PARTITION BY r.slot ORDER BY r.rows DESC, r.node COLLATE "C", r.relation)
		ORDER BY r.owner IS NULL AND r.node = first_value(r.node) OVER slot, r.relation, r.node, r.slot
	LOOP
		kind := 'rows';
		object := coalesce(part.wrong::text, part.relation);
		problem := format('%s rows of slot %s belong to node %s', part.rows, part.slot, coalesce(part.owner, '(none yet)'));
		IF part.table_kind = 'per_slot' THEN
			-- Through the parent they find their partition.
			SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) INTO columns FROM pg_attribute AS c
			WHERE c.attrelid = part.relation::regclass AND c.attnum > 0 AND NOT c.attisdropped AND c.attgenerated = '';
			SELECT format('WITH moved AS (DELETE FROM %s WHERE %s = %s AND tableoid <> %L::pg_catalog.regclass RETURNING *)'
				' INSERT INTO %1$s (%5$s) SELECT %5$s FROM moved',
				part.relation, part.expression, part.slot, p.partition_table, columns) INTO fix
			FROM shardkit_internal.slot_partitions(part.relation::regclass) AS p WHERE p.slot = part.slot;
			RETURN NEXT;
			CONTINUE;
		ELSIF part.owner IS NULL AND part.is_home OR part.slot IS NULL THEN
			CONTINUE WHEN part.relation <> part.together[1]; -- the slot gets its owner once
			fix := format('SELECT shardkit.assign_slots(%L, ARRAY[%s], %L)', verify_rows.map, part.slot, part.node);
			RETURN NEXT;
			CONTINUE;
		END IF;
		IF part.owner IS NULL THEN
			part.proper := to_regclass(quote_ident(part.home) || '.' || part.relation);
		END IF;
		CONTINUE WHEN part.proper IS NULL; -- the owner's table is missing, which is said already
		SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) INTO columns FROM pg_attribute AS c
		WHERE c.attrelid = part.wrong AND c.attnum > 0 AND NOT c.attisdropped AND c.attgenerated = '';
		SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) INTO keys
		FROM pg_index AS i JOIN pg_attribute AS c ON c.attrelid = i.indrelid AND c.attnum = ANY (i.indkey)
		WHERE i.indrelid = part.proper AND i.indisprimary;
		many := 0;
		IF keys IS NOT NULL THEN
			EXECUTE format('SELECT count(*) FROM %s WHERE %s = %s AND (%s) IN (SELECT %4$s FROM %5$s)',
				part.wrong, part.expression, part.slot, keys, part.proper) INTO many;
		END IF;
		IF many > 0 THEN
			problem := problem || format('; %s of them are there too, and those stay as they are there', many);
			fix := format('DELETE FROM %s WHERE %s = %s AND (%s) IN (SELECT %4$s FROM %5$s); ',
				part.wrong, part.expression, part.slot, keys, part.proper);
		ELSE
			fix := '';
		END IF;
		fix := fix || format('WITH moved AS (DELETE FROM %s WHERE %s = %s RETURNING *)'
			' INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %5$s FROM moved',
			part.wrong, part.expression, part.slot, part.proper, columns);
		IF part.owner IS NOT NULL AND cardinality(part.together) > 1 THEN
			SELECT format('WITH %s SELECT count(*) FROM moved_1', string_agg(shardkit_internal.bring_home(
				format('%I.%s', part.wrong_schema, t.relation)::regclass, format('%I.%s', part.proper_schema, t.relation)::regclass,
				format('%s = %s', shardkit.slot_expression(t.map, t.key), part.slot), u.place), ', ' ORDER BY u.place)) INTO fix
			FROM unnest(part.together) WITH ORDINALITY AS u (relation, place)
				JOIN shardkit.map_table AS t ON t.map = verify_rows.map AND t.relation = u.relation;
		END IF;
		IF part.owner IS NULL THEN
			-- Guards let nobody's rows in nowhere: the table leaves the map for it.
			problem := problem || format(', and others of them lie in %s', part.proper);
			fix := format('SELECT shardkit.remove_table(%L, %L); %s; SELECT shardkit.add_table(%1$L, %2$L, %4$L, template => %5$L)',
				verify_rows.map, part.relation, fix, part.key, part.template);
		END IF;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.verify_rows(text) IS 'part of verify_map: rows that lie wrong, or twice';
