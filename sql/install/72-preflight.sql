-- ------------------------------------------------------------------------------------------
-- Move: what the rows show beforehand, and the bill
-- ------------------------------------------------------------------------------------------

-- Foreign keys to the rows that would leave, from tables that do not move with them.
CREATE FUNCTION shardkit_internal.move_foreign_key_hazards(map text, slots int[], to_node text)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	pair record;
	referring boolean;
BEGIN
	FOR pair IN
		SELECT p.source, k.conname, k.conrelid::regclass AS child, t.key,
			string_agg(format('p.%I OPERATOR(%I.%s) c.%I', pa.attname, n.nspname, o.oprname, ca.attname), ' AND ') AS joins
		FROM shardkit_internal.move_pairs($1, $2, $3) AS p
		JOIN shardkit.map_table AS t ON t.map = $1 AND t.relation = p.relation
		JOIN pg_constraint AS k ON k.confrelid = p.source AND k.contype = 'f',
		ROWS FROM (unnest(k.conkey), unnest(k.confkey), unnest(k.conpfeqop)) AS u (child, parent, op),
		pg_attribute AS ca, pg_attribute AS pa, pg_operator AS o, pg_namespace AS n
		WHERE ca.attrelid = k.conrelid AND ca.attnum = u.child AND pa.attrelid = k.confrelid AND pa.attnum = u.parent
			AND o.oid = u.op AND n.oid = o.oprnamespace
			AND NOT EXISTS (SELECT FROM shardkit_internal.move_pairs($1, $2, $3) AS other WHERE other.source = k.conrelid)
		GROUP BY p.source, k.oid, k.conname, k.conrelid, t.key
	LOOP
		EXECUTE format('SELECT EXISTS (SELECT FROM (SELECT * FROM %s WHERE %s = ANY ($1)) AS p JOIN %s AS c ON %s)',
			pair.source, shardkit.slot_expression(map, pair.key), pair.child, pair.joins) INTO referring USING slots;
		IF referring THEN
			RETURN QUERY SELECT 'error', format('%s on %s', pair.conname, pair.child),
				format('rows of %s refer to rows of %s that would leave', pair.child, pair.source),
				format('ALTER TABLE %s DROP CONSTRAINT %I', pair.child, pair.conname);
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION shardkit_internal.move_foreign_key_hazards(text, int[], text) IS 'part of preflight: rows outside of the map that refer to rows that would leave';

-- Rows of the target that are in the way of rows that would arrive.
CREATE FUNCTION shardkit_internal.move_unique_hazards(map text, slots int[], to_node text)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	pair record;
	conflicts bigint;
BEGIN
	FOR pair IN
		SELECT p.source, p.target, t.key, i.indexrelid::regclass AS index,
			string_agg(format('s.%1$I = t.%1$I', a.attname), ' AND ') AS joins
		FROM shardkit_internal.move_pairs($1, $2, $3) AS p
		JOIN shardkit.map_table AS t ON t.map = $1 AND t.relation = p.relation
		JOIN pg_index AS i ON i.indrelid = p.target AND i.indisunique AND i.indexprs IS NULL AND i.indpred IS NULL
		JOIN pg_attribute AS a ON a.attrelid = p.target
			AND a.attnum = ANY ((string_to_array(i.indkey::text, ' ')::smallint[])[1 : i.indnkeyatts])
		GROUP BY p.source, p.target, t.key, i.indexrelid
	LOOP
		EXECUTE format('SELECT count(*) FROM (SELECT * FROM %s WHERE %s = ANY ($1)) AS s JOIN %s AS t ON %s',
			pair.source, shardkit.slot_expression(map, pair.key), pair.target, pair.joins) INTO conflicts USING slots;
		IF conflicts > 0 THEN
			RETURN QUERY SELECT 'error', pair.index::text,
				format('%s rows of %s are in conflict with rows of %s', conflicts, pair.source, pair.target),
				format('SELECT t.* FROM %s AS s JOIN %s AS t ON %s', pair.source, pair.target, pair.joins);
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION shardkit_internal.move_unique_hazards(text, int[], text) IS 'part of preflight: unique conflicts on the target';

-- What moves, and what it takes. The rate is that of the map's last moves.
CREATE FUNCTION shardkit_internal.move_bill(map text, slots int[], to_node text)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	pair record;
	per_second float8;
	row_count bigint;
	row_bytes bigint;
	wal bigint;
	all_rows bigint := 0;
	all_bytes bigint := 0;
	all_wal bigint := 0;
BEGIN
	SELECT nullif(sum(l.rows) / nullif(sum(l.seconds), 0), 0) INTO per_second
	FROM (SELECT sum(m.rows) AS rows, extract(epoch FROM max(m.finished_at) - min(m.started_at)) AS seconds
		FROM shardkit.move_log AS m WHERE m.map = $1 AND m.state = 'done' GROUP BY m.epoch ORDER BY m.epoch DESC LIMIT 100) AS l;
	FOR pair IN
		SELECT p.source, p.target, t.key, (SELECT count(*) FROM pg_index AS i WHERE i.indrelid = p.target) AS indexes,
			(SELECT c.relreplident = 'f' FROM pg_class AS c WHERE c.oid = p.source) AS full_identity
		FROM shardkit_internal.move_pairs($1, $2, $3) AS p
		JOIN shardkit.map_table AS t ON t.map = $1 AND t.relation = p.relation
		ORDER BY p.source
	LOOP
		EXECUTE format('SELECT count(*), coalesce(sum(%s), 0) FROM %s WHERE %s = ANY ($1)',
			shardkit_internal.row_bytes_expression(pair.source), pair.source, shardkit.slot_expression(map, pair.key))
			INTO row_count, row_bytes USING slots;
		-- a row's insertion, its deletion, and an entry in each index
		wal := row_bytes + row_count * (26 + 54 + 64 * pair.indexes) + CASE WHEN pair.full_identity THEN row_bytes ELSE 0 END;
		all_rows := all_rows + row_count;
		all_bytes := all_bytes + row_bytes;
		all_wal := all_wal + wal;
		RETURN QUERY SELECT 'bill', pair.source::text, format('%s rows, %s to %s; about %s of WAL', row_count,
			pg_size_pretty(row_bytes), pair.target, pg_size_pretty(wal)),
			format('VACUUM %s', pair.source);
	END LOOP;
	RETURN QUERY SELECT 'bill', 'all',
		format('%s rows, %s; about %s of WAL and %s of free space; %s', all_rows, pg_size_pretty(all_bytes), pg_size_pretty(all_wal),
			pg_size_pretty(all_bytes + all_wal),
			CASE WHEN per_second IS NULL THEN 'no rate measured yet'
				ELSE format('%s s at the %s rows a second of the last moves', round((all_rows / per_second)::numeric, 1), round(per_second)) END),
		format('CALL shardkit.move_rows(%L, %L, %L)', map, slots, to_node);
END $$;
COMMENT ON FUNCTION shardkit_internal.move_bill(text, int[], text) IS 'part of preflight: rows, bytes, WAL, free space and time';

-- Partitions that would change their schema, between local nodes.
CREATE FUNCTION shardkit_internal.move_partition_hazards(map text, slots int[], to_node text)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	WITH moving AS MATERIALIZED (
		SELECT p.partition_table AS tab, c.relname, c.relowner, c.relnamespace, f.schema AS old_schema, n.schema AS new_schema
		FROM shardkit.slot_map AS s
		JOIN shardkit.node AS f ON f.map = s.map AND f.name = s.node AND f.server IS NULL
		JOIN shardkit.node AS n ON n.map = s.map AND n.name = $3 AND n.server IS NULL
		JOIN shardkit.map_table AS t ON t.map = s.map AND t.kind = 'per_slot'
		JOIN LATERAL shardkit_internal.slot_partitions(to_regclass(t.relation)) AS p ON p.slot = s.slot
		JOIN pg_class AS c ON c.oid = p.partition_table
		WHERE s.map = $1 AND s.slot = ANY ($2) AND s.node <> $3)
	SELECT 'error', m.tab::text, format('it belongs to %s', m.relowner::regrole), format('ALTER TABLE %s OWNER TO %I', m.tab, current_user)
	FROM moving AS m WHERE NOT pg_has_role(m.relowner, 'USAGE')
	UNION ALL
	SELECT 'error', m.tab::text, format('it does not lie in schema %I of its owner', m.old_schema), format('ALTER TABLE %s SET SCHEMA %I', m.tab, m.old_schema)
	FROM moving AS m WHERE m.relnamespace <> to_regnamespace(quote_ident(m.old_schema))
	UNION ALL
	SELECT 'error', c.oid::regclass::text, format('it has the name that %s would get', m.tab), format('ALTER TABLE %s RENAME TO ...', c.oid::regclass)
	FROM moving AS m JOIN pg_class AS c ON c.relname = m.relname AND c.relnamespace = to_regnamespace(quote_ident(m.new_schema))
	UNION ALL
	SELECT DISTINCT 'error', m.new_schema::text, 'you may not create tables there', format('GRANT CREATE ON SCHEMA %I TO %I', m.new_schema, current_user)
	FROM moving AS m WHERE NOT has_schema_privilege(to_regnamespace(quote_ident(m.new_schema))::oid, 'CREATE')
	UNION ALL
	SELECT 'bill', m.tab::text, format('goes to schema %I as it is: no row is copied', m.new_schema), NULL FROM moving AS m
$$;
COMMENT ON FUNCTION shardkit_internal.move_partition_hazards(text, int[], text) IS 'part of preflight: partitions that would change their schema';

CREATE FUNCTION preflight(map text, slots int[], to_node text)
RETURNS TABLE (severity text, object text, problem text, fix text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	wrong record;
BEGIN
	IF $1 IS NULL OR $2 IS NULL OR $3 IS NULL THEN
		RAISE EXCEPTION 'arguments of preflight must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF NOT EXISTS (SELECT FROM shardkit.map AS m WHERE m.name = $1) THEN
		RAISE EXCEPTION 'map "%" does not exist', $1 USING ERRCODE = 'undefined_object', HINT = 'Table shardkit.map lists the maps.';
	END IF;
	IF EXISTS (SELECT FROM unnest($2) AS s (slot) WHERE s.slot IS NULL) THEN
		RAISE EXCEPTION '"slots" must not contain nulls' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	SELECT s.slot, m.slots - 1 AS last INTO wrong FROM shardkit.map AS m, unnest($2) AS s (slot)
	WHERE m.name = $1 AND (s.slot < 0 OR s.slot >= m.slots) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'map "%" has no slot %', $1, wrong.slot
			USING ERRCODE = 'numeric_value_out_of_range', DETAIL = format('Its slots are 0 to %s.', wrong.last);
	END IF;
	IF NOT EXISTS (SELECT FROM shardkit.node AS n WHERE n.map = $1 AND n.name = $3) THEN
		RAISE EXCEPTION 'map "%" has no node "%"', $1, $3 USING ERRCODE = 'undefined_object', HINT = 'Table shardkit.node lists the nodes.';
	END IF;
	IF EXISTS (SELECT FROM shardkit.map_table AS t WHERE t.map = $1 AND t.kind = 'per_slot') THEN
		RETURN QUERY SELECT * FROM shardkit_internal.move_partition_hazards($1, $2, $3);
		RETURN QUERY SELECT * FROM shardkit_internal.server_preflight($1, $2, $3);
		RETURN;
	END IF;
	RETURN QUERY SELECT * FROM shardkit_internal.move_hazards($1, $2, $3);
	-- Rows are looked at only where the tables allow it.
	IF NOT EXISTS (SELECT FROM shardkit_internal.move_hazards($1, $2, $3) AS h WHERE h.severity = 'error') THEN
		RETURN QUERY SELECT * FROM shardkit_internal.move_foreign_key_hazards($1, $2, $3);
		RETURN QUERY SELECT * FROM shardkit_internal.move_unique_hazards($1, $2, $3);
		RETURN QUERY SELECT * FROM shardkit_internal.move_bill($1, $2, $3);
	END IF;
END $$;
COMMENT ON FUNCTION preflight(text, int[], text) IS
'what would stop or spoil a move of these slots to that node (error, warning), each with its cure, and the bill: rows, bytes, WAL, free space, time';
