-- ------------------------------------------------------------------------------------------
-- Audit: the sequences that number rows
-- ------------------------------------------------------------------------------------------

-- Where a column's numbers come from: its identity's sequence, and those that its default draws from.
CREATE FUNCTION shardkit_internal.column_sequences(tab regclass, column_number smallint, OUT sequence regclass, OUT is_plain boolean)
	RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT d.objid::regclass, true FROM pg_attribute AS a JOIN pg_depend AS d
	ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
	AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype = 'i'
WHERE a.attrelid = tab AND a.attnum = column_number AND a.attidentity <> ''
UNION
SELECT d.refobjid::regclass, pg_get_expr(f.adbin, f.adrelid) ~ '^nextval[(][^()]*[)]$' FROM pg_attrdef AS f JOIN pg_depend AS d
	ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
WHERE f.adrelid = tab AND f.adnum = column_number
$$;
COMMENT ON FUNCTION shardkit_internal.column_sequences(regclass, smallint) IS
'part of verify_map: relations that a column''s identity or default refers to, and whether it is just their next number';

-- Sequences of identity and serial columns that could give two nodes one number.
CREATE FUNCTION shardkit_internal.verify_sequences(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH drawing AS (
	SELECT t.relation, n.name AS node, r.found, a.attname, a.attidentity, s.seqrelid::regclass AS sequence,
		s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
		first_value(s.seqrelid::regclass) OVER w AS first_sequence
	FROM shardkit.map_table AS t JOIN shardkit.node AS n ON n.map = t.map,
		LATERAL (SELECT to_regclass(format('%I.%s', n.schema, t.relation)) AS found) AS r
		JOIN pg_attribute AS a ON a.attrelid = r.found AND a.attnum > 0 AND NOT a.attisdropped
		CROSS JOIN LATERAL shardkit_internal.column_sequences(a.attrelid, a.attnum) AS q
		JOIN pg_sequence AS s ON s.seqrelid = q.sequence
	WHERE t.map = verify_sequences.map AND t.kind = 'per_node' AND n.server IS NULL
	WINDOW w AS (PARTITION BY t.relation, a.attname ORDER BY n.name COLLATE "C"))
SELECT DISTINCT ON (d.found, d.attname) 'sequence', format('%s.%I', d.found, d.attname),
	format('%s and %s can give two nodes the same number', d.sequence, o.sequence),
	CASE WHEN d.attidentity <> '' THEN format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY; ', d.found, d.attname) ELSE '' END
	|| format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT pg_catalog.nextval(%L::pg_catalog.regclass); ',
		d.found, d.attname, d.first_sequence)
	|| format('SELECT pg_catalog.setval(%L, greatest((SELECT last_value FROM %s), (SELECT max(%I) FROM %s), (SELECT max(%3$I) FROM %5$s)))',
		d.first_sequence, d.first_sequence, d.attname, d.found, o.found)
FROM drawing AS d JOIN drawing AS o ON o.relation = d.relation AND o.attname = d.attname
	AND o.sequence <> d.sequence AND o.sequence = o.first_sequence
-- Equal steps from different starts never meet.
WHERE d.seqmin <= o.seqmax AND o.seqmin <= d.seqmax
	AND NOT (d.seqincrement = o.seqincrement AND (d.seqstart - o.seqstart) % d.seqincrement <> 0)
ORDER BY d.found, d.attname, o.node COLLATE "C"
$$;
COMMENT ON FUNCTION shardkit_internal.verify_sequences(text) IS 'part of verify_map: numbers that two nodes could both give';

-- Whole-number columns that are filled with a sequence's next number, in which tables of a map.
CREATE FUNCTION shardkit_internal.numbered_columns(map text, OUT sequence regclass, OUT relation text, OUT attname name, OUT found regclass[])
	RETURNS SETOF record
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT q.sequence, t.relation, a.attname, array_agg(r.holder ORDER BY r.holder)
FROM shardkit.map_table AS t CROSS JOIN LATERAL (
		SELECT to_regclass(format('%I.%s', n.schema, t.relation)) AS drawer, to_regclass(format('%I.%s', n.schema, t.relation)) AS holder
		FROM shardkit.node AS n WHERE n.map = t.map AND n.server IS NULL AND t.kind = 'per_node'
		UNION ALL
		SELECT to_regclass(t.relation), p.partition_table FROM shardkit_internal.slot_partitions(to_regclass(t.relation)) AS p
		WHERE t.kind = 'per_slot') AS r
	JOIN pg_attribute AS a ON a.attrelid = r.drawer AND a.attnum > 0 AND NOT a.attisdropped
		AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
	JOIN LATERAL shardkit_internal.column_sequences(a.attrelid, a.attnum) AS q ON q.is_plain
	JOIN pg_sequence AS s ON s.seqrelid = q.sequence AND NOT s.seqcycle
WHERE t.map = numbered_columns.map AND r.holder IS NOT NULL
GROUP BY q.sequence, t.relation, a.attname
$$;
COMMENT ON FUNCTION shardkit_internal.numbered_columns(text) IS
'part of verify_map: columns that are filled with the numbers of a sequence, and the tables whose rows have them';

-- A sequence that would give a number again. It is read after the rows, which it then cannot be behind by chance.
CREATE FUNCTION shardkit_internal.verify_numbers(map text, OUT kind text, OUT object text, OUT problem text, OUT fix text)
	RETURNS SETOF record
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	one regclass;
	state record;
	condition text;
	ends text;
	utmost bigint;
	farthest bigint;
BEGIN
	FOR part IN
		SELECT n.*, s.seqincrement AS step, s.seqmin, s.seqmax FROM shardkit_internal.numbered_columns(verify_numbers.map) AS n
			JOIN pg_sequence AS s ON s.seqrelid = n.sequence ORDER BY n.relation, n.attname, n.sequence
	LOOP
		EXECUTE format('SELECT last_value FROM %s', part.sequence) INTO state;
		-- Numbers that it never gives do not count.
		condition := format('%I BETWEEN %s AND %s', part.attname, part.seqmin, part.seqmax)
			|| CASE WHEN abs(part.step) = 1 THEN '' ELSE format(' AND (%I::pg_catalog.numeric - %s) %% %s = 0',
				part.attname, state.last_value, abs(part.step)) END;
		ends := CASE WHEN part.step > 0 THEN 'max' ELSE 'min' END;
		farthest := NULL;
		FOREACH one IN ARRAY part.found LOOP
			BEGIN
				EXECUTE format('SELECT pg_catalog.%s(%I) FROM %s WHERE %s', ends, part.attname, one, condition) INTO utmost;
			EXCEPTION WHEN SQLSTATE '08001' OR SQLSTATE '08006' THEN
				CONTINUE; -- a server that does not answer is a row of its own
			END;
			farthest := CASE WHEN part.step > 0 THEN greatest(farthest, utmost) ELSE least(farthest, utmost) END;
		END LOOP;
		CONTINUE WHEN farthest IS NULL;
		EXECUTE format('SELECT last_value, is_called FROM %s', part.sequence) INTO state;
		CONTINUE WHEN farthest = state.last_value AND state.is_called OR (farthest < state.last_value) = (part.step > 0) AND farthest <> state.last_value;
		kind := 'sequence';
		object := part.sequence::text;
		problem := format('it stands at %s, and column %I of %s holds %s: it will give numbers again',
			state.last_value, part.attname, part.relation, farthest);
		fix := format('SELECT pg_catalog.setval(%L, %s((SELECT last_value FROM %s), %s))', part.sequence,
			CASE WHEN part.step > 0 THEN 'greatest' ELSE 'least' END, part.sequence, farthest);
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.verify_numbers(text) IS 'part of verify_map: sequences that would give a number that a row has';
