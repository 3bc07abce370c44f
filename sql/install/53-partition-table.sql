-- ------------------------------------------------------------------------------------------
-- Tables of the kind per_slot: one hash-partitioned table, one partition a slot
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION shardkit_internal.partition_name(parent regclass, slot int) RETURNS name
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
-- Names end at 63 bytes; the number must survive.
SELECT (CASE WHEN octet_length(c.relname) <= 57 THEN c.relname::text
	ELSE left(c.relname, 11) || '_' || substr(md5(c.relname), 1, 8) END || '_' || slot)::name
FROM pg_class AS c WHERE c.oid = parent
$$;
COMMENT ON FUNCTION shardkit_internal.partition_name(regclass, int) IS 'name of a new partition for a slot';

-- The parent has keys of its own only where no partition is a foreign table.
CREATE FUNCTION shardkit_internal.create_partitioned_table(relation text, key text, model regclass, with_keys boolean)
	RETURNS regclass
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	part record;
	parent regclass;
BEGIN
	EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING IDENTITY EXCLUDING INDEXES EXCLUDING STATISTICS)'
		' PARTITION BY HASH (%s)', relation, model, key);
	parent := relation::regclass;
	PERFORM shardkit_internal.share_sequences(parent, model);
	IF with_keys THEN
		FOR part IN
			SELECT pg_get_constraintdef(c.oid) AS definition
			FROM pg_constraint AS c, pg_partitioned_table AS p
			WHERE c.conrelid = model AND c.contype IN ('p', 'u') AND p.partrelid = parent
				AND (SELECT bool_and(a.attname IN (SELECT m.attname FROM pg_attribute AS m
						WHERE m.attrelid = model AND m.attnum = ANY (c.conkey)))
					FROM pg_attribute AS a WHERE a.attrelid = parent AND a.attnum = ANY (p.partattrs))
		LOOP
			EXECUTE format('ALTER TABLE %s ADD %s', parent, part.definition);
		END LOOP;
	END IF;
	FOR part IN
		SELECT d.fix FROM shardkit_internal.rule_differences(parent, model) AS d
		WHERE d.fix ~ '^(GRANT|CREATE POLICY)' OR d.fix ~ ' ROW LEVEL SECURITY$'
	LOOP
		EXECUTE part.fix;
	END LOOP;
	RETURN parent;
END
$$;
COMMENT ON FUNCTION shardkit_internal.create_partitioned_table(text, text, regclass, boolean) IS
'creates a hash-partitioned table like a model, with its rules; with its keys only if asked';

-- Key columns of a partitioned table, with types when they are to be declared.
CREATE FUNCTION shardkit_internal.partition_key_columns(parent regclass, with_types boolean) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT string_agg(quote_ident(a.attname)
	|| CASE WHEN with_types THEN ' ' || (shardkit_internal.column_definition(parent, a.attnum)).data_type ELSE '' END,
	', ' ORDER BY k.number)
FROM pg_partitioned_table AS p, unnest(p.partattrs::int2[]) WITH ORDINALITY AS k (attnum, number),
	pg_attribute AS a
WHERE p.partrelid = parent AND a.attrelid = parent AND a.attnum = k.attnum
$$;
COMMENT ON FUNCTION shardkit_internal.partition_key_columns(regclass, boolean) IS
'key columns of a partitioned table as SQL text';

-- What keeps rows of other slots out of a table on a server: a check that needs nothing but PostgreSQL,
-- and beside the table an empty one of the same key. Running it again changes nothing.
CREATE FUNCTION shardkit_internal.remote_check_statements(parent regclass, schema text, name text, slots int, slot int)
	RETURNS text
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT shardkit_internal.create_once(format('CREATE TABLE IF NOT EXISTS %s (%s) PARTITION BY HASH (%s)', h.helper,
		shardkit_internal.partition_key_columns(parent, true), shardkit_internal.partition_key_columns(parent, false)))
	|| format('ALTER TABLE %I.%I DROP CONSTRAINT IF EXISTS shardkit_slot, ADD CONSTRAINT shardkit_slot'
		' CHECK (pg_catalog.satisfies_hash_partition(%L::pg_catalog.regclass, %s, %s, %s)); ',
		schema, name, h.helper, slots, slot, shardkit_internal.partition_key_columns(parent, false))
FROM (SELECT format('%I.%I', schema, ('shardkit_key_' || c.relname)::name) AS helper
	FROM pg_class AS c WHERE c.oid = parent) AS h
$$;
COMMENT ON FUNCTION shardkit_internal.remote_check_statements(regclass, text, text, int, int) IS
'statements by which a server''s table of one slot refuses rows of any other';

-- What makes a server ready to hold a slot; running it again changes nothing.
CREATE FUNCTION shardkit_internal.remote_table_statements(parent regclass, model regclass, schema text, name text,
	slots int, slot int) RETURNS text
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH columns AS (
	SELECT string_agg(format('%I %s%s', a.attname, d.data_type, d.attributes), ', ' ORDER BY a.attnum) AS list
	FROM pg_attribute AS a, shardkit_internal.column_definition(model, a.attnum) AS d
	WHERE a.attrelid = model AND a.attnum > 0 AND NOT a.attisdropped),
rules AS (
	-- Keys find names of their own: those of indexes are unique in a schema.
	SELECT coalesce(string_agg(CASE c.contype WHEN 'c' THEN format(', CONSTRAINT %I ', c.conname) ELSE ', ' END
		|| pg_get_constraintdef(c.oid), '' ORDER BY c.conname), '') AS list
	FROM pg_constraint AS c WHERE c.conrelid = model AND c.contype IN ('c', 'p', 'u', 'x')),
indexes AS (
	SELECT coalesce(string_agg(format('CREATE %sINDEX IF NOT EXISTS %I ON %I.%I %s; ',
		CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END,
		left(name, 50) || '_idx' || i.number, schema, name, i.definition), ''), '') AS list
	FROM (SELECT i.indisunique, row_number() OVER (ORDER BY i.indexrelid) AS number,
			substr(pg_get_indexdef(i.indexrelid),
				strpos(pg_get_indexdef(i.indexrelid), ' USING ') + 1) AS definition
		FROM pg_index AS i WHERE i.indrelid = model AND i.indisvalid AND NOT EXISTS (
			SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid)) AS i)
SELECT shardkit_internal.create_once(format('CREATE TABLE IF NOT EXISTS %I.%I (%s%s)', schema, name, c.list, r.list))
	|| i.list
	|| shardkit_internal.remote_check_statements(parent, schema, name, slots, slot)
FROM columns AS c, rules AS r, indexes AS i
$$;
COMMENT ON FUNCTION shardkit_internal.remote_table_statements(regclass, regclass, text, text, int, int) IS
'statements that make a server ready to hold a slot of a table: its table there and the check that keeps other slots'' rows out';

-- Columns of a table by name, equal for tables between which rows can travel.
CREATE FUNCTION shardkit_internal.remote_columns_query(schema text) RETURNS text
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT format($query$
SELECT c.relname, pg_catalog.string_agg(pg_catalog.format('%%I %%s%%s', a.attname,
		pg_catalog.format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END),
	', ' ORDER BY a.attname COLLATE "C")
FROM pg_catalog.pg_class AS c
	JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
	JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = %L AND c.relkind IN ('r', 'p', 'f') GROUP BY c.relname$query$, schema)
$$;
COMMENT ON FUNCTION shardkit_internal.remote_columns_query(text) IS
'query for the tables of a schema, each with its columns as one text';

-- Creates what a table of a map lacks: a partition for every slot that has an owner.
CREATE FUNCTION shardkit_internal.create_partitions(map text, relation text) RETURNS int
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	parent regclass := relation::regclass;
	model regclass;
	part record;
	remote record;
	found text;
	created int := 0;
BEGIN
	SELECT coalesce((SELECT c.oid FROM pg_class AS c WHERE c.oid = t.template), parent) INTO model
	FROM shardkit.map_table AS t
	WHERE t.map = create_partitions.map AND t.relation = create_partitions.relation;
	CREATE TEMPORARY TABLE shardkit_missing ON COMMIT DROP AS
		SELECT s.slot, m.slots, n.schema, n.server, shardkit_internal.partition_name(parent, s.slot) AS name
		FROM shardkit.slot_map AS s
			JOIN shardkit.map AS m ON m.name = s.map
			JOIN shardkit.node AS n ON n.map = s.map AND n.name = s.node
		WHERE s.map = create_partitions.map
			AND s.slot NOT IN (SELECT p.slot FROM shardkit_internal.slot_partitions(parent) AS p);

	-- Partitions of two tables of one name would lie in one schema.
	SELECT m.slot, c.oid::regclass AS found, i.inhparent::regclass AS other INTO part
	FROM pg_temp.shardkit_missing AS m JOIN pg_class AS c ON c.relname = m.name AND c.relnamespace = to_regnamespace(quote_ident(m.schema))
		LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
	WHERE i.inhparent IS NOT NULL OR m.server IS NOT NULL ORDER BY m.slot LIMIT 1;
	IF part.slot IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'duplicate_table',
			MESSAGE = format('the partition for slot %s of table %s would be called %s, as %s is', part.slot, parent, part.found,
				coalesce('a partition of table ' || part.other, 'another table')),
			HINT = CASE WHEN part.other IS NULL THEN 'Rename that table.' ELSE 'Rename one of the two tables, or use nodes in other schemas.' END;
	END IF;

	FOR part IN SELECT * FROM pg_temp.shardkit_missing WHERE server IS NULL ORDER BY slot LOOP
		found := format('%I.%I', part.schema, part.name);
		IF to_regclass(found) IS NULL THEN
			PERFORM shardkit_internal.create_table_like(part.schema, part.name, model);
		END IF;
		EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
			parent, found, part.slots, part.slot);
		created := created + 1;
	END LOOP;

	FOR remote IN
		SELECT server, schema, string_agg(shardkit_internal.remote_table_statements(parent, model, schema::text,
				name::text, slots, slot), '' ORDER BY slot) AS statements
		FROM pg_temp.shardkit_missing WHERE server IS NOT NULL GROUP BY server, schema
	LOOP
		PERFORM shardkit.ask_server(remote.server, shardkit_internal.remote_schema_statements(remote.schema) || remote.statements);
		-- What was there before may look different.
		SELECT string_agg(a[1], ', ') INTO found
		FROM shardkit.ask_server(remote.server, shardkit_internal.remote_columns_query(remote.schema::text)) AS a
			JOIN pg_temp.shardkit_missing AS m ON m.server = remote.server AND m.name = a[1]
		WHERE a[2] <> (
			SELECT string_agg(format('%I %s%s', c.attname, format_type(c.atttypid, c.atttypmod),
				CASE WHEN c.attnotnull THEN ' NOT NULL' ELSE '' END), ', ' ORDER BY c.attname COLLATE "C")
			FROM pg_attribute AS c WHERE c.attrelid = parent AND c.attnum > 0 AND NOT c.attisdropped);
		IF found IS NOT NULL THEN
			RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
				MESSAGE = format('on server "%s" tables of schema "%s" have other columns than %s: %s',
					remote.server, remote.schema, parent, found),
				HINT = 'Rename or alter them there, then try again.';
		END IF;
	END LOOP;
	FOR part IN SELECT * FROM pg_temp.shardkit_missing WHERE server IS NOT NULL ORDER BY slot LOOP
		EXECUTE format('CREATE FOREIGN TABLE %I.%I PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)'
			' SERVER %I OPTIONS (schema_name %L, table_name %L)', part.schema, part.name, parent,
			part.slots, part.slot, part.server, part.schema, part.name);
		created := created + 1;
	END LOOP;
	DROP TABLE pg_temp.shardkit_missing;
	RETURN created;
END
$$;
COMMENT ON FUNCTION shardkit_internal.create_partitions(text, text) IS
'creates and attaches the partitions that a per_slot table lacks, local or on their owners'' servers; returns how many';

-- Foreign partitions that were there before get the check; rows that fail it are refused.
CREATE FUNCTION shardkit_internal.adopt_remote_tables(map text, relation text) RETURNS int
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	parent regclass := relation::regclass;
	remote record;
	adopted int := 0;
BEGIN
	FOR remote IN
		SELECT p.server, count(*) AS tables, string_agg(shardkit_internal.remote_check_statements(parent,
			r.names[1], r.names[2], m.slots, p.slot), '' ORDER BY p.slot) AS statements
		FROM shardkit_internal.slot_partitions(parent) AS p
			JOIN shardkit.map AS m ON m.name = adopt_remote_tables.map
			CROSS JOIN LATERAL (SELECT parse_ident(shardkit_internal.remote_name(p.partition_table)) AS names) AS r
		WHERE p.server IS NOT NULL GROUP BY p.server
	LOOP
		PERFORM shardkit.ask_server(remote.server, 'SET client_min_messages = error; ' || remote.statements);
		adopted := adopted + remote.tables;
	END LOOP;
	RETURN adopted;
END
$$;
COMMENT ON FUNCTION shardkit_internal.adopt_remote_tables(text, text) IS
'gives the servers'' tables of a per_slot table the check that keeps other slots'' rows out; returns how many';

-- The limits of the kind, and of keys that other servers must hash alike.
CREATE FUNCTION shardkit_internal.check_partitioned_table(map text, relation regclass, key text) RETURNS void
	LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	kept shardkit.map;
	part record;
	strategy "char";
BEGIN
	SELECT * INTO kept FROM shardkit.map AS m WHERE m.name = check_partitioned_table.map;
	SELECT p.partstrat INTO strategy FROM pg_partitioned_table AS p WHERE p.partrelid = relation;
	IF strategy IS DISTINCT FROM 'h' THEN
		RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
			MESSAGE = format('table %s is not hash-partitioned', relation),
			HINT = 'A table of kind per_slot is PARTITION BY HASH (its key); name a template to have a new one made.';
	END IF;
	IF (SELECT 0 = ANY (p.partattrs::int2[]) FROM pg_partitioned_table AS p WHERE p.partrelid = relation)
		OR shardkit_internal.partition_key_columns(relation, false) <> key THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('table %s is partitioned by (%s), not by (%s)', relation,
				shardkit_internal.partition_key_columns(relation, false), key);
	END IF;
	IF EXISTS (SELECT FROM pg_partitioned_table AS p, unnest(p.partclass::oid[]) AS c
		WHERE p.partrelid = relation AND NOT (SELECT o.opcdefault FROM pg_opclass AS o WHERE o.oid = c)) THEN
		RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
			MESSAGE = format('table %s is partitioned by an operator class that is not the default', relation),
			HINT = 'Slots are made with the default hash operator class of the key''s type.';
	END IF;
	FOR part IN
		SELECT c.oid::regclass AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
		FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = relation
	LOOP
		IF substring(part.bound FROM 'modulus ([0-9]+)')::int IS DISTINCT FROM kept.slots THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
				MESSAGE = format('partition %s has another modulus than the %s slots of map "%s"', part.name, kept.slots, kept.name),
				DETAIL = part.bound,
				HINT = 'Create the map with as many slots as the table has partitions.';
		END IF;
	END LOOP;
	-- Where a partition lies must be where its slot's owner is.
	FOR part IN
		SELECT p.partition_table, p.slot, p.server, s.node, n.schema, n.server AS node_server, x.nspname
		FROM shardkit_internal.slot_partitions(relation) AS p
			JOIN pg_class AS c ON c.oid = p.partition_table
			JOIN pg_namespace AS x ON x.oid = c.relnamespace
			LEFT JOIN shardkit.slot_map AS s ON s.map = kept.name AND s.slot = p.slot
			LEFT JOIN shardkit.node AS n ON n.map = s.map AND n.name = s.node
		WHERE n.name IS NULL OR p.server IS DISTINCT FROM n.server
			OR n.server IS NULL AND x.nspname <> n.schema
		ORDER BY p.slot LIMIT 1
	LOOP
		RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = CASE WHEN part.node IS NULL
				THEN format('slot %s of map "%s" has no owner, but %s holds its rows', part.slot, kept.name, part.partition_table)
				ELSE format('partition %s lies %s, but its slot belongs to node "%s"', part.partition_table,
					coalesce('on server ' || quote_ident(part.server), 'in schema ' || quote_ident(part.nspname)), part.node) END,
			HINT = CASE WHEN part.node IS NULL OR part.server IS DISTINCT FROM part.node_server
				THEN 'Assign the slot to the node where its partition lies.'
				ELSE format('ALTER TABLE %s SET SCHEMA %I', part.partition_table, part.schema) END;
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.check_partitioned_table(text, regclass, text) IS
'an error unless a partitioned table fits a map: its key, its modulus, and where its partitions lie';
