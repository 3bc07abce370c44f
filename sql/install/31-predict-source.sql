-- ------------------------------------------------------------------------------------------
-- Predict: how a table is read
--
-- What runs the query has no search_path of its own, so that the user's views, policies
-- and hash functions find what they find elsewhere; everything in it is qualified.
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION shardkit_internal.predict_key(relation regclass, key text,
		OUT columns text[], OUT types regtype[], OUT is_plain boolean)
	AS 'MODULE_PATHNAME', 'shardkit_predict_key' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.predict_key(regclass, text) IS
'the key''s columns as SQL text (NULL: those by which the table is hash-partitioned), and whether partition_hash of them is their hash';

CREATE FUNCTION shardkit_internal.partition_layout(parent regclass, split regclass) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_partition_layout' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.partition_layout(regclass, regclass) IS
'text of the slots layout that a hash-partitioned table''s bounds are, with one partition split in two if it is named; node-k is the partition of remainder k';

CREATE FUNCTION shardkit_internal.predict_name(relation regclass) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
	SELECT format('%I.%I', n.nspname, c.relname)
	FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = relation
$$;
COMMENT ON FUNCTION shardkit_internal.predict_name(regclass) IS 'name of a relation with its schema, as SQL text';

CREATE FUNCTION shardkit_internal.predict_leaves(relation regclass)
	RETURNS TABLE (leaf regclass, relkind "char", is_remote boolean)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
	WITH RECURSIVE tree AS (
		SELECT relation::oid AS member
		UNION
		SELECT i.inhrelid FROM tree JOIN pg_inherits AS i ON i.inhparent = tree.member
	)
	SELECT c.oid::regclass, c.relkind, coalesce(w.fdwname = 'postgres_fdw' AND (
		SELECT bool_or('shardkit' = ANY (string_to_array(replace(option_value, ' ', ''), ',')))
		FROM pg_options_to_table(s.srvoptions) WHERE option_name = 'extensions'), false)
	FROM tree JOIN pg_class AS c ON c.oid = tree.member
	LEFT JOIN pg_foreign_table AS f ON f.ftrelid = c.oid
	LEFT JOIN pg_foreign_server AS s ON s.oid = f.ftserver
	LEFT JOIN pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
	WHERE c.relkind <> 'p'
$$;
COMMENT ON FUNCTION shardkit_internal.predict_leaves(regclass) IS
'the tables that hold a relation''s rows, and which lie on a server that has shardkit (option extensions)';

CREATE FUNCTION shardkit_internal.predict_bytes(relation regclass) RETURNS bigint
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
	SELECT CASE WHEN bool_and(relkind IN ('r', 'm')) THEN sum(pg_table_size(leaf))::bigint END
	FROM shardkit_internal.predict_leaves(relation)
$$;
COMMENT ON FUNCTION shardkit_internal.predict_bytes(regclass) IS
'size of a relation''s tables with TOAST, without indexes; NULL where some lie elsewhere';

CREATE FUNCTION shardkit_internal.predict_blocks(relation regclass) RETURNS float8
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
	SELECT coalesce(sum(pg_relation_size(leaf)), 0)::float8 / current_setting('block_size')::int
	FROM shardkit_internal.predict_leaves(relation) WHERE relkind IN ('r', 'm')
$$;
COMMENT ON FUNCTION shardkit_internal.predict_blocks(regclass) IS 'blocks to sample from';

CREATE FUNCTION shardkit_internal.predict_check(relation regclass, count_keys boolean, sample_percent float8) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	kind "char" := (SELECT c.relkind FROM pg_class AS c WHERE c.oid = relation);
BEGIN
	IF relation IS NULL OR count_keys IS NULL OR sample_percent IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'relation, count_keys and sample_percent must not be null';
	END IF;
	IF kind IS NULL THEN
		RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', relation::oid);
	END IF;
	IF kind NOT IN ('r', 'p', 'v', 'm', 'f') THEN
		RAISE wrong_object_type USING MESSAGE = format('"%s" is not a table or view', relation),
			HINT = 'Name a table, a partitioned or foreign table, or a view.';
	END IF;
	IF NOT (sample_percent > 0 AND sample_percent <= 100) THEN
		RAISE invalid_parameter_value USING
			MESSAGE = format('sample_percent must be above 0 and at most 100, not %s', sample_percent);
	END IF;
	IF sample_percent = 100 THEN
		RETURN;
	END IF;
	IF count_keys THEN
		RAISE feature_not_supported USING MESSAGE = 'keys cannot be counted in a sample',
			HINT = 'Read the whole table (sample_percent => 100), or do not count keys.';
	END IF;
	IF kind = 'v' OR EXISTS (SELECT FROM shardkit_internal.predict_leaves(relation) WHERE relkind = 'f') THEN
		RAISE feature_not_supported USING MESSAGE = format('"%s" cannot be sampled: it is a view or has foreign tables', relation),
			HINT = 'Read it whole (sample_percent => 100), or sample the tables beneath.';
	END IF;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_check(regclass, boolean, float8) IS 'refuses what cannot be read';

-- With one seed two queries read the same blocks. TABLESAMPLE takes a float4.
CREATE FUNCTION shardkit_internal.predict_sample(sample_percent float8) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	seed text := nullif(current_setting('shardkit.sample_seed', true), '');
BEGIN
	IF sample_percent = 100 THEN
		RETURN '';
	END IF;
	IF seed !~ '^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *$' THEN
		RAISE invalid_parameter_value USING MESSAGE = format('shardkit.sample_seed must be a number, not "%s"', seed),
			HINT = 'RESET shardkit.sample_seed, or SET it to a number: then every sample reads the same blocks.';
	END IF;
	RETURN format(' TABLESAMPLE SYSTEM (%s) REPEATABLE (%s)', greatest(sample_percent, 1e-30), coalesce(seed::float8, random()));
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_sample(float8) IS
'the clause that samples a table, by shardkit.sample_seed or else at random';

CREATE FUNCTION shardkit_internal.predict_weight(relation regclass, weight text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	names text[];
	found record;
BEGIN
	IF weight IS NULL THEN
		RETURN 'NULL::pg_catalog.float8';
	END IF;
	BEGIN
		names := parse_ident(weight);
	EXCEPTION WHEN invalid_parameter_value THEN
		RAISE syntax_error USING MESSAGE = format('weight "%s" is not the name of a column', weight),
			HINT = 'Write it as in SQL, quoted where SQL needs quotes: one numeric column.';
	END;
	SELECT a.attname, t.typcategory, a.atttypid::regtype AS type INTO found
	FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
	WHERE a.attrelid = relation AND a.attname = names[1] AND a.attnum > 0 AND NOT a.attisdropped
		AND cardinality(names) = 1;
	IF found.attname IS NULL THEN
		RAISE undefined_column USING MESSAGE = format('weight column "%s" of relation "%s" does not exist', weight, relation);
	END IF;
	IF found.typcategory <> 'N' OR found.type IN ('money'::regtype, 'oid'::regtype) OR found.type::text LIKE 'reg%' THEN
		RAISE datatype_mismatch USING MESSAGE = format('weight column "%s" is %s, not a number', weight, found.type);
	END IF;
	RETURN format('t.%I::pg_catalog.float8', found.attname);
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_weight(regclass, text) IS 'SQL text of the weight of a row';

CREATE FUNCTION shardkit_internal.predict_hash(relation regclass, key text, hash text, prefix text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	k record;
	columns text;
	router record;
BEGIN
	SELECT * INTO k FROM shardkit_internal.predict_key(relation, key);
	IF prefix IS NOT NULL THEN
		SELECT array_agg(prefix || i ORDER BY i) INTO k.columns FROM generate_subscripts(k.columns, 1) AS i;
	END IF;
	columns := array_to_string(k.columns, ', ');
	IF hash = 'postgres' THEN
		RETURN CASE WHEN key IS NULL AND NOT k.is_plain
			THEN format('shardkit.partition_hash_for(%s::pg_catalog.oid::pg_catalog.regclass, %s)', relation::oid, columns)
			ELSE format('shardkit.partition_hash(%s)', columns) END;
	END IF;
	IF hash IN ('md5', 'sha1', 'sha256', 'blake2b', 'xxh64', 'xxh3', 'murmur3', 'fnv1a') THEN
		IF cardinality(k.types) <> 1 OR k.types[1] <> ALL (ARRAY['int2', 'int4', 'int8', 'text', 'varchar', 'uuid']::regtype[]) THEN
			RAISE feature_not_supported USING
				MESSAGE = format('hash "%s" wants a key of one column of an integer type, text, varchar or uuid', hash),
				HINT = 'The text of other types depends on settings; use hash => ''postgres'' or a function of your own.';
		END IF;
		RETURN format('shardkit.hash64(%s::pg_catalog.text, %L)', columns, hash);
	END IF;
	IF hash IS NULL OR hash !~ '[(].*[)][[:space:]]*$' THEN
		RAISE invalid_parameter_value USING MESSAGE = format('unknown hash "%s"', hash),
			HINT = 'Use postgres, md5, sha1, sha256, blake2b, xxh64, xxh3, murmur3, fnv1a, or a function with its argument types, as in ''app.route(text)''.';
	END IF;
	IF to_regprocedure(hash) IS NULL THEN
		RAISE undefined_function USING MESSAGE = format('function %s does not exist', hash),
			HINT = 'Name its schema and the types of its arguments, as in ''app.route(text)''.';
	END IF;
	SELECT n.nspname, p.proname, p.proargtypes::oid[] AS types, p.provolatile, p.prorettype, p.pronargs,
		p.prokind = 'f' AND NOT p.proretset AND p.provariadic = 0 AS is_plain INTO router
	FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE p.oid = hash::regprocedure;
	IF router.provolatile <> 'i' OR router.prorettype <> 'bigint'::regtype OR NOT router.is_plain OR router.pronargs <> cardinality(k.columns) THEN
		RAISE invalid_function_definition USING
			MESSAGE = format('function %s cannot be the hash of this key', hash),
			HINT = 'It must be IMMUTABLE, return bigint and take one argument for each key column.';
	END IF;
	SELECT string_agg(format('%s::%s', k.columns[i + 1], format_type(router.types[i], NULL)), ', ' ORDER BY i)
	INTO columns FROM generate_subscripts(router.types, 1) AS i;
	RETURN format('%I.%I(%s)', router.nspname, router.proname, columns);
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_hash(regclass, text, text, text) IS
'SQL text of the hash of a row';

CREATE FUNCTION shardkit_internal.predict_by_leaves(relation regclass, columns text[], weight text) RETURNS boolean
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
	SELECT NOT row_security_active(relation) AND bool_or(is_remote)
		AND (SELECT c.relkind = 'p' FROM pg_class AS c WHERE c.oid = relation)
		AND bool_and(has_table_privilege(leaf, 'SELECT') AND NOT row_security_active(leaf))
	FROM shardkit_internal.predict_leaves(relation)
$$;
COMMENT ON FUNCTION shardkit_internal.predict_by_leaves(regclass, text[], text) IS
'may, and should, each partition be counted where it lies?';

CREATE FUNCTION predict_query(relation regclass, key text, count_keys boolean DEFAULT false,
		sample_percent float8 DEFAULT 100, hash text DEFAULT 'postgres', weight text DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
AS $$
DECLARE
	k record;
	measure text;
	counts text;
	is_null text;
BEGIN
	PERFORM shardkit_internal.predict_check(relation, count_keys, sample_percent);
	IF hash IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'hash must not be null';
	END IF;
	SELECT * INTO k FROM shardkit_internal.predict_key(relation, key);
	measure := shardkit_internal.predict_weight(relation, weight);
	IF count_keys THEN
		SELECT string_agg(format('g.k%s IS NULL', i), ' OR ' ORDER BY i) INTO is_null FROM generate_subscripts(k.columns, 1) AS i;
		RETURN format('SELECT shardkit_internal.tally_of_keys($1, g.weight, %s, %s, g.rows, %s) FROM ('
			'SELECT %s, pg_catalog.count(*) AS rows, pg_catalog.sum(%s) AS weight FROM %s AS t GROUP BY %s) AS g',
			shardkit_internal.predict_hash(relation, key, hash, 'g.k'), is_null,
			CASE cardinality(k.columns) WHEN 1 THEN 'g.k1::pg_catalog.text'
				ELSE (SELECT format('ROW(%s)::pg_catalog.text', string_agg('g.k' || i, ', ' ORDER BY i)) FROM generate_subscripts(k.columns, 1) AS i) END,
			(SELECT string_agg(format('%s AS k%s', c, i), ', ' ORDER BY i) FROM unnest(k.columns) WITH ORDINALITY AS u(c, i)),
			measure, shardkit_internal.predict_name(relation),
			(SELECT string_agg(i::text, ', ' ORDER BY i) FROM generate_subscripts(k.columns, 1) AS i));
	END IF;
	SELECT string_agg(format('%s IS NULL', c), ' OR ') INTO is_null FROM unnest(k.columns) AS c;
	IF sample_percent < 100 THEN
		RETURN format('SELECT shardkit_internal.tally_of_sample($1, %s, %s, %s, t.tableoid, t.ctid) FROM %s AS t%s',
			measure, shardkit_internal.predict_hash(relation, key, hash, NULL), is_null, shardkit_internal.predict_name(relation),
			shardkit_internal.predict_sample(sample_percent));
	END IF;
	IF hash <> 'postgres' OR NOT k.is_plain THEN
		counts := format('shardkit_internal.tally_of_hash($1, %s, %s, %s)', measure, shardkit_internal.predict_hash(relation, key, hash, NULL), is_null);
	ELSE
		counts := format('shardkit_internal.tally(%s, %s, %s)', CASE
				WHEN EXISTS (SELECT FROM shardkit_internal.predict_leaves(relation) WHERE is_remote) AND 16384 > ALL (k.types::oid[]::int8[])
				THEN format('shardkit_internal.tally_typed_plan($1, %L)', k.types::oid[]) ELSE '$1' END,
			measure, array_to_string(k.columns, ', '));
		IF shardkit_internal.predict_by_leaves(relation, k.columns, weight) THEN
			RETURN (SELECT format('SELECT shardkit_internal.tally_sum(p.counts) FROM (%s) AS p',
				string_agg(format('SELECT %s AS counts FROM %s AS t', counts, shardkit_internal.predict_name(leaf)), ' UNION ALL '))
				FROM shardkit_internal.predict_leaves(relation));
		END IF;
	END IF;
	RETURN format('SELECT %s AS counts FROM %s AS t', counts, shardkit_internal.predict_name(relation));
END $$;
COMMENT ON FUNCTION predict_query(regclass, text, boolean, float8, text, text) IS
'SQL text of the query behind a prediction, $1 being its plan; for EXPLAIN';

CREATE FUNCTION shardkit_internal.predict_counts(relation regclass, key text, plan bytea, count_keys boolean,
		sample_percent float8, hash text, weight text) RETURNS bytea
	LANGUAGE plpgsql
AS $$
DECLARE
	counts bytea;
BEGIN
	EXECUTE shardkit.predict_query(relation, key, count_keys, sample_percent, hash, weight) INTO counts USING plan;
	RETURN counts;
END $$;
COMMENT ON FUNCTION shardkit_internal.predict_counts(regclass, text, bytea, boolean, float8, text, text) IS
'reads the table once and counts it under a plan';

