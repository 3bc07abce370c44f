-- ------------------------------------------------------------------------------------------
-- Tables alike: one made like another
-- ------------------------------------------------------------------------------------------

-- Identity and serial columns draw from the model's own sequence, so that no two nodes give one number.
CREATE FUNCTION shardkit_internal.share_sequences(copy regclass, model regclass) RETURNS void
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	part record;
BEGIN
	FOR part IN
		SELECT a.attname, pg_get_serial_sequence(model::text, a.attname) AS sequence
		FROM pg_attribute AS a
		WHERE a.attrelid = model AND a.attidentity <> '' AND NOT a.attisdropped
	LOOP
		EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT pg_catalog.nextval(%L::pg_catalog.regclass)',
			copy, part.attname, part.sequence);
	END LOOP;
	-- Whoever may insert must be able to draw: an identity column needed no privilege for that.
	FOR part IN
		SELECT DISTINCT d.refobjid::regclass AS sequence, g.grantee
		FROM pg_attrdef AS a
			JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid AND d.refclassid = 'pg_class'::regclass
			JOIN pg_class AS s ON s.oid = d.refobjid AND s.relkind = 'S'
			JOIN pg_class AS c ON c.oid = model, aclexplode(c.relacl) AS g
		WHERE a.adrelid = copy AND g.privilege_type = 'INSERT' AND g.grantee <> c.relowner
	LOOP
		EXECUTE format('GRANT USAGE ON SEQUENCE %s TO %s', part.sequence,
			CASE WHEN part.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(part.grantee)) END);
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.share_sequences(regclass, regclass) IS
'has the identity columns that a table was copied without draw from the model''s sequences';

CREATE FUNCTION shardkit_internal.create_table_like(schema name, relation name, model regclass) RETURNS regclass
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	copy regclass;
	source pg_class;
	part record;
BEGIN
	SELECT * INTO source FROM pg_class WHERE oid = model;
	IF source.relkind NOT IN ('r', 'p', 'f') THEN
		RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
			MESSAGE = format('%s is not a table', model);
	END IF;
	EXECUTE format('CREATE %sTABLE %I.%I (LIKE %s INCLUDING ALL EXCLUDING IDENTITY)%s',
		CASE source.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END, schema, relation, model,
		(SELECT ' USING ' || quote_ident(a.amname) FROM pg_am AS a
			WHERE a.oid = source.relam AND a.amname <> 'heap'));
	copy := format('%I.%I', schema, relation)::regclass;
	PERFORM shardkit_internal.share_sequences(copy, model);

	-- What LIKE leaves out: storage parameters, statistics targets, the comment.
	IF source.reloptions IS NOT NULL AND source.relkind = 'r' THEN
		EXECUTE format('ALTER TABLE %s SET (%s)', copy, array_to_string(source.reloptions, ', '));
	END IF;
	FOR part IN
		SELECT a.attname, a.attstattarget, a.attoptions FROM pg_attribute AS a
		WHERE a.attrelid = model AND a.attnum > 0 AND NOT a.attisdropped
			AND (a.attstattarget >= 0 OR a.attoptions IS NOT NULL)
	LOOP
		IF part.attstattarget >= 0 THEN
			EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', copy, part.attname, part.attstattarget);
		END IF;
		IF part.attoptions IS NOT NULL THEN
			EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', copy, part.attname,
				array_to_string(part.attoptions, ', '));
		END IF;
	END LOOP;
	IF obj_description(model, 'pg_class') IS NOT NULL THEN
		EXECUTE format('COMMENT ON TABLE %s IS %L', copy, obj_description(model, 'pg_class'));
	END IF;
	IF source.relreplident IN ('f', 'n') THEN
		EXECUTE format('ALTER TABLE %s REPLICA IDENTITY %s', copy,
			CASE source.relreplident WHEN 'f' THEN 'FULL' ELSE 'NOTHING' END);
	END IF;
	-- The rest is made as verify_map would have it.
	FOR part IN
		SELECT d.fix FROM shardkit_internal.rule_differences(copy, model) AS d WHERE NOT d.is_foreign_key
	LOOP
		EXECUTE part.fix;
	END LOOP;
	PERFORM shardkit_internal.add_foreign_keys(copy, model);
	RETURN copy;
END
$$;
COMMENT ON FUNCTION shardkit_internal.create_table_like(name, name, regclass) IS
'creates a table in a schema like a model: columns, defaults, checks, keys, foreign keys, indexes, comments, storage, row security, privileges; identity and serial columns draw from the model''s sequences';
