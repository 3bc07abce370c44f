-- ------------------------------------------------------------------------------------------
-- Tables alike: what one has that another lacks, each with the statement that makes it so
-- ------------------------------------------------------------------------------------------

-- A column as CREATE TABLE writes it, without its name; sequences' defaults are left out.
CREATE FUNCTION shardkit_internal.column_definition(relation regclass, column_number smallint,
	OUT data_type text, OUT attributes text)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT format_type(a.atttypid, a.atttypmod)
		|| CASE WHEN a.attcollation <> t.typcollation AND a.attcollation <> 0
			THEN format(' COLLATE %I.%I', n.nspname, c.collname) ELSE '' END,
	CASE WHEN a.attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) %s',
			pg_get_expr(d.adbin, d.adrelid), CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
		WHEN d.adbin IS NOT NULL AND pg_get_expr(d.adbin, d.adrelid) !~* 'nextval[(]'
			THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END
	|| CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
FROM pg_attribute AS a
	JOIN pg_type AS t ON t.oid = a.atttypid
	LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
	LEFT JOIN pg_namespace AS n ON n.oid = c.collnamespace
WHERE a.attrelid = relation AND a.attnum = column_number
$$;
COMMENT ON FUNCTION shardkit_internal.column_definition(regclass, smallint) IS
'a column as CREATE TABLE writes it: its type, and its generation, default and NOT NULL';

-- Columns decide whether rows can move at all: hard differences.
CREATE FUNCTION shardkit_internal.column_differences(checked regclass, model regclass,
	OUT problem text, OUT fix text) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH mine AS (
	SELECT a.attname, a.attnum, a.attnotnull, a.attgenerated, d.*
	FROM pg_attribute AS a, shardkit_internal.column_definition(checked, a.attnum) AS d
	WHERE a.attrelid = checked AND a.attnum > 0 AND NOT a.attisdropped),
theirs AS (
	SELECT a.attname, a.attnum, a.attnotnull, a.attgenerated, d.*
	FROM pg_attribute AS a, shardkit_internal.column_definition(model, a.attnum) AS d
	WHERE a.attrelid = model AND a.attnum > 0 AND NOT a.attisdropped),
missing AS (SELECT t.* FROM theirs AS t WHERE t.attname NOT IN (SELECT attname FROM mine)),
extra AS (SELECT m.* FROM mine AS m WHERE m.attname NOT IN (SELECT attname FROM theirs)),
-- One column gone and one come, of the same type: it was renamed.
renamed AS (
	SELECT e.attname AS old_name, m.attname AS new_name FROM missing AS m, extra AS e
	WHERE m.data_type = e.data_type AND (SELECT count(*) FROM missing) = 1
		AND (SELECT count(*) FROM extra) = 1)
SELECT format('column %I is missing; %I may be it', r.new_name, r.old_name),
	format('ALTER TABLE %s RENAME COLUMN %I TO %I', checked, r.old_name, r.new_name)
FROM renamed AS r
UNION ALL
SELECT format('column %I is missing', m.attname),
	format('ALTER TABLE %s ADD COLUMN %I %s%s', checked, m.attname, m.data_type, m.attributes)
FROM missing AS m WHERE NOT EXISTS (SELECT FROM renamed)
UNION ALL
SELECT format('column %I is missing in %s', e.attname, model),
	format('ALTER TABLE %s ADD COLUMN %I %s%s', model, e.attname, e.data_type, e.attributes)
FROM extra AS e WHERE NOT EXISTS (SELECT FROM renamed)
UNION ALL
SELECT format('column %I is of type %s, not %s', m.attname, m.data_type, t.data_type),
	format('ALTER TABLE %s ALTER COLUMN %I TYPE %s USING %2$I::%s', checked, m.attname, t.data_type,
		format_type(a.atttypid, a.atttypmod))
FROM mine AS m JOIN theirs AS t USING (attname)
	JOIN pg_attribute AS a ON a.attrelid = model AND a.attnum = t.attnum
WHERE m.data_type <> t.data_type
UNION ALL
SELECT format('column %I %s null', m.attname,
		CASE WHEN t.attnotnull THEN 'accepts' ELSE 'does not accept' END),
	format('ALTER TABLE %s ALTER COLUMN %I %s NOT NULL', checked, m.attname,
		CASE WHEN t.attnotnull THEN 'SET' ELSE 'DROP' END)
FROM mine AS m JOIN theirs AS t USING (attname)
WHERE m.attnotnull <> t.attnotnull AND m.data_type = t.data_type
UNION ALL
SELECT format('column %I is %s', m.attname, CASE WHEN t.attgenerated = '' THEN 'generated'
		WHEN m.attgenerated = '' THEN 'not generated' ELSE 'generated otherwise' END),
	CASE WHEN t.attgenerated = '' THEN format('ALTER TABLE %s ALTER COLUMN %I DROP EXPRESSION', checked, m.attname)
		ELSE format('ALTER TABLE %s DROP COLUMN %I, ADD COLUMN %2$I %s%s', checked, m.attname,
			t.data_type, t.attributes) END
FROM mine AS m JOIN theirs AS t USING (attname)
WHERE m.data_type = t.data_type AND (m.attgenerated <> t.attgenerated
	OR t.attgenerated <> '' AND replace(m.attributes, ' NOT NULL', '') <> replace(t.attributes, ' NOT NULL', ''))
$$;
COMMENT ON FUNCTION shardkit_internal.column_differences(regclass, regclass) IS
'columns in which a table differs from a model, so that rows could not pass between them';

-- A foreign key of the model, for a table in another schema: to the table beside it, if there is one
-- or the map will have one there. A template's counterpart there may bear another name.
CREATE FUNCTION shardkit_internal.foreign_key_for(foreign_key oid, schema name, OUT target text, OUT definition text)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
SELECT coalesce(format('%I.', schema) || f.beside, format('%I.%I', f.nspname, f.relname)),
	CASE WHEN f.beside IS NULL THEN pg_get_constraintdef(foreign_key)
		ELSE replace(pg_get_constraintdef(foreign_key), format(' REFERENCES %I.%I(', f.nspname, f.relname),
			format(' REFERENCES %I.%s(', schema, f.beside)) END
FROM (SELECT n.nspname, t.relname, coalesce(
			(SELECT min(m.relation) FROM shardkit.map_table AS m
				JOIN shardkit.node AS here ON here.map = m.map AND here.schema = foreign_key_for.schema
				WHERE m.template = t.oid AND m.kind = 'per_node'),
			CASE WHEN n.oid = r.relnamespace AND (to_regclass(format('%I.%I', schema, t.relname)) IS NOT NULL
				OR EXISTS (SELECT FROM shardkit.map_table AS m
					JOIN shardkit.node AS here ON here.map = m.map AND here.schema = foreign_key_for.schema
					JOIN shardkit.node AS there ON there.map = m.map AND there.schema = n.nspname
					WHERE m.relation = quote_ident(t.relname) AND m.kind = 'per_node'))
				THEN quote_ident(t.relname) END) AS beside
	FROM pg_constraint AS c
		JOIN pg_class AS r ON r.oid = c.conrelid
		JOIN pg_class AS t ON t.oid = c.confrelid
		JOIN pg_namespace AS n ON n.oid = t.relnamespace
	WHERE c.oid = foreign_key) AS f
$$;
COMMENT ON FUNCTION shardkit_internal.foreign_key_for(oid, name) IS
'a foreign key as a table of that schema should have it: to the table beside it that was made of that template, or has the same name, if there is or will be one';

CREATE FUNCTION shardkit_internal.add_foreign_keys(copy regclass, model regclass, may_fail boolean DEFAULT false) RETURNS void
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
	part record;
BEGIN
	FOR part IN
		SELECT c.conname, f.definition
		FROM pg_constraint AS c, pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace,
			LATERAL shardkit_internal.foreign_key_for(c.oid, n.nspname) AS f
		WHERE c.conrelid = model AND c.contype = 'f' AND c.conparentid = 0 AND t.oid = copy
			AND to_regclass(f.target) IS NOT NULL
			AND NOT EXISTS (SELECT FROM pg_constraint AS m WHERE m.conrelid = copy AND m.contype = 'f'
				AND pg_get_constraintdef(m.oid) = f.definition)
	LOOP
		BEGIN
			EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', copy, part.conname, part.definition);
		EXCEPTION WHEN foreign_key_violation THEN
			IF NOT may_fail THEN
				RAISE;
			END IF;
			RAISE WARNING USING ERRCODE = 'foreign_key_violation',
				MESSAGE = format('foreign key %I of table %s is left out, since rows refer to nothing', part.conname, copy),
				HINT = 'shardkit.verify_map shows it until it is there again.';
		END;
	END LOOP;
END
$$;
COMMENT ON FUNCTION shardkit_internal.add_foreign_keys(regclass, regclass, boolean) IS
'gives a table the foreign keys of its model, to tables that are there already; may_fail: leaves out what its rows break';

-- Everything but columns: keys, indexes, rules, privileges.
CREATE FUNCTION shardkit_internal.rule_differences(checked regclass, model regclass,
	OUT problem text, OUT fix text, OUT is_foreign_key boolean) RETURNS SETOF record
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
WITH place AS (
	SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
	WHERE c.oid = checked),
-- Defaults; those of sequences are compared elsewhere.
defaults AS (
	SELECT a.attname, a.attrelid,
		CASE WHEN pg_get_expr(d.adbin, d.adrelid) !~* 'nextval[(]' THEN pg_get_expr(d.adbin, d.adrelid) END AS value,
		d.adbin IS NOT NULL AND pg_get_expr(d.adbin, d.adrelid) ~* 'nextval[(]' OR a.attidentity <> '' AS counts
	FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE a.attrelid IN (checked, model) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''),
constraints AS (
	SELECT c.conrelid, c.conname, c.contype,
		CASE WHEN c.contype = 'f' AND c.conrelid = model THEN (shardkit_internal.foreign_key_for(c.oid, p.nspname)).definition
			ELSE pg_get_constraintdef(c.oid) END AS definition
	FROM pg_constraint AS c, place AS p
	WHERE c.conrelid IN (checked, model) AND c.contype IN ('c', 'p', 'u', 'x', 'f') AND c.conparentid = 0),
lacking AS (
	SELECT t.* FROM constraints AS t WHERE t.conrelid = model AND NOT EXISTS (
		SELECT FROM constraints AS m WHERE m.conrelid = checked AND m.definition = t.definition)),
-- One that has the name, or is the primary key, of one that is lacking makes room for it.
extra AS (
	SELECT m.*, (SELECT min(t.conname) FROM lacking AS t
		WHERE t.conname = m.conname OR t.contype = 'p' AND m.contype = 'p') AS stands_for
	FROM constraints AS m WHERE m.conrelid = checked AND NOT EXISTS (
		SELECT FROM constraints AS t WHERE t.conrelid = model AND m.definition = t.definition)),
indexes AS (
	SELECT i.indrelid, x.relname, i.indisunique,
		substr(pg_get_indexdef(i.indexrelid), 1 + length(format('CREATE %sINDEX %I ON %s%I.%I ',
			CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END, x.relname,
			CASE WHEN t.relkind = 'p' THEN 'ONLY ' ELSE '' END, n.nspname, t.relname))) AS definition
	FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid
		JOIN pg_class AS t ON t.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace
	WHERE i.indrelid IN (checked, model) AND i.indisvalid
		AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))),
policies AS (
	SELECT p.polrelid, p.polname, format('AS %s FOR %s TO %s%s%s',
		CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
		CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
			WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
		(SELECT string_agg(CASE WHEN r = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(r)) END, ', ' ORDER BY r)
			FROM unnest(p.polroles) AS r),
		' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')',
		' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')') AS definition
	FROM pg_policy AS p WHERE p.polrelid IN (checked, model)),
grants AS (
	SELECT c.oid AS relation, NULL::name AS attname, g.grantee, g.privilege_type, g.is_grantable
	FROM pg_class AS c, aclexplode(c.relacl) AS g
	WHERE c.oid IN (checked, model) AND g.grantee <> c.relowner
	UNION ALL
	SELECT a.attrelid, a.attname, g.grantee, g.privilege_type, g.is_grantable
	FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid, aclexplode(a.attacl) AS g
	WHERE a.attrelid IN (checked, model) AND g.grantee <> c.relowner AND NOT a.attisdropped),
flags AS (
	SELECT m.relrowsecurity AS mine, t.relrowsecurity AS theirs,
		m.relforcerowsecurity AS mine_forced, t.relforcerowsecurity AS theirs_forced,
		m.relpersistence AS mine_kept, t.relpersistence AS theirs_kept
	FROM pg_class AS m, pg_class AS t WHERE m.oid = checked AND t.oid = model)
SELECT d.problem, d.fix, d.fix ~ '^ALTER TABLE .* ADD CONSTRAINT .* FOREIGN KEY ' FROM (
SELECT format('column %I has another default', t.attname),
	format('ALTER TABLE %s ALTER COLUMN %I %s', checked, t.attname, coalesce('SET DEFAULT ' || t.value, 'DROP DEFAULT'))
FROM defaults AS m JOIN defaults AS t ON m.attrelid = checked AND t.attrelid = model AND m.attname = t.attname
WHERE m.value IS DISTINCT FROM t.value AND NOT (m.counts OR t.counts)
UNION ALL
-- Foreign keys last: they may need a key that is missing too.
(SELECT format('constraint %I is missing: %s', t.conname, t.definition),
	format('ALTER TABLE %s %sADD CONSTRAINT %I %s', checked,
		(SELECT string_agg(format('DROP CONSTRAINT %I, ', e.conname), '') FROM extra AS e WHERE e.stands_for = t.conname),
		t.conname, t.definition)
FROM lacking AS t ORDER BY t.contype = 'f', t.conname)
UNION ALL
SELECT format('constraint %I is not on %s: %s', e.conname, model, e.definition),
	format('ALTER TABLE %s DROP CONSTRAINT %I', checked, e.conname)
FROM extra AS e WHERE e.stands_for IS NULL
UNION ALL
SELECT format('index %I is missing: %s', t.relname, t.definition),
	format('CREATE %sINDEX ON %s %s', CASE WHEN t.indisunique THEN 'UNIQUE ' ELSE '' END, checked, t.definition)
FROM indexes AS t WHERE t.indrelid = model AND NOT EXISTS (
	SELECT FROM indexes AS m WHERE m.indrelid = checked AND (m.indisunique, m.definition) = (t.indisunique, t.definition))
UNION ALL
SELECT format('unique index %I is not on %s: %s', m.relname, model, m.definition),
	format('DROP INDEX %I.%I', p.nspname, m.relname)
FROM indexes AS m, place AS p WHERE m.indrelid = checked AND m.indisunique AND NOT EXISTS (
	SELECT FROM indexes AS t WHERE t.indrelid = model AND t.indisunique AND m.definition = t.definition)
UNION ALL
SELECT 'row security is ' || CASE WHEN f.mine THEN 'on' ELSE 'off' END,
	format('ALTER TABLE %s %s ROW LEVEL SECURITY', checked, CASE WHEN f.theirs THEN 'ENABLE' ELSE 'DISABLE' END)
FROM flags AS f WHERE f.mine <> f.theirs
UNION ALL
SELECT 'row security is ' || CASE WHEN f.mine_forced THEN 'forced' ELSE 'not forced' END || ' on the owner',
	format('ALTER TABLE %s %s ROW LEVEL SECURITY', checked, CASE WHEN f.theirs_forced THEN 'FORCE' ELSE 'NO FORCE' END)
FROM flags AS f WHERE f.mine_forced <> f.theirs_forced
UNION ALL
SELECT 'the table is ' || CASE f.mine_kept WHEN 'u' THEN 'unlogged' ELSE 'logged' END,
	format('ALTER TABLE %s SET %s', checked, CASE f.theirs_kept WHEN 'u' THEN 'UNLOGGED' ELSE 'LOGGED' END)
FROM flags AS f WHERE f.mine_kept <> f.theirs_kept AND 't' NOT IN (f.mine_kept, f.theirs_kept)
UNION ALL
SELECT format('policy %I is missing or differs', t.polname),
	CASE WHEN EXISTS (SELECT FROM policies AS m WHERE m.polrelid = checked AND m.polname = t.polname)
		THEN format('DROP POLICY %I ON %s; ', t.polname, checked) ELSE '' END
	|| format('CREATE POLICY %I ON %s %s', t.polname, checked, t.definition)
FROM policies AS t WHERE t.polrelid = model AND NOT EXISTS (
	SELECT FROM policies AS m WHERE m.polrelid = checked AND (m.polname, m.definition) = (t.polname, t.definition))
UNION ALL
SELECT format('policy %I is not on %s', m.polname, model), format('DROP POLICY %I ON %s', m.polname, checked)
FROM policies AS m WHERE m.polrelid = checked AND m.polname NOT IN (
	SELECT t.polname FROM policies AS t WHERE t.polrelid = model)
UNION ALL
SELECT format('%s may not %s', CASE WHEN t.grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(t.grantee) END,
		t.privilege_type || coalesce(' (' || quote_ident(t.attname) || ')', '')),
	format('GRANT %s%s ON %s TO %s%s', t.privilege_type, ' (' || quote_ident(t.attname) || ')', checked,
		CASE WHEN t.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(t.grantee)) END,
		CASE WHEN t.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM (SELECT * FROM grants WHERE relation = model) AS t
WHERE t.grantee <> (SELECT relowner FROM pg_class WHERE oid = checked)
	AND NOT EXISTS (SELECT FROM grants AS m WHERE m.relation = checked
		AND m.attname IS NOT DISTINCT FROM t.attname AND m.grantee = t.grantee AND m.privilege_type = t.privilege_type)
UNION ALL
SELECT format('%s may %s', CASE WHEN m.grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(m.grantee) END,
		m.privilege_type || coalesce(' (' || quote_ident(m.attname) || ')', '')),
	format('REVOKE %s%s ON %s FROM %s', m.privilege_type, ' (' || quote_ident(m.attname) || ')', checked,
		CASE WHEN m.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(m.grantee)) END)
FROM (SELECT * FROM grants WHERE relation = checked) AS m
WHERE m.grantee <> (SELECT relowner FROM pg_class WHERE oid = model)
	AND NOT EXISTS (SELECT FROM grants AS t WHERE t.relation = model
		AND m.attname IS NOT DISTINCT FROM t.attname AND m.grantee = t.grantee AND m.privilege_type = t.privilege_type)
) AS d (problem, fix)
$$;
COMMENT ON FUNCTION shardkit_internal.rule_differences(regclass, regclass) IS
'defaults, constraints, indexes, row security and privileges in which a table differs from a model';
