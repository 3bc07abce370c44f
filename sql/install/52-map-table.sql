-- ------------------------------------------------------------------------------------------
-- Map: its tables
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION add_table(map text, relation text, key text, kind text DEFAULT 'per_node',
	template regclass DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_add_table' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_table(text, text, text, text, regclass) IS
'puts a table into a map: creates it like the template on every node where it is missing, adopts it where it is there; kind per_slot: one hash-partitioned table with a partition for every slot';

CREATE FUNCTION remove_table(map text, relation text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_remove_table' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION remove_table(text, text) IS
'takes a table out of a map; tables and rows stay, without guards';

CREATE FUNCTION repair_table(map text, relation text) RETURNS void
	AS 'MODULE_PATHNAME', 'shardkit_repair_table' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION repair_table(text, text) IS
'makes what is missing of a map''s table: the table on a node, its guards, its partitions';

CREATE FUNCTION index_slots(map text, relation text) RETURNS int
	LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
	part record;
	created int := 0;
BEGIN
	PERFORM shardkit_internal.check_map(index_slots.map);
	IF NOT EXISTS (SELECT FROM shardkit.map_table AS t WHERE t.map = index_slots.map AND t.relation = index_slots.relation) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_table',
			MESSAGE = format('map "%s" has no table %s', index_slots.map, index_slots.relation),
			HINT = 'SELECT * FROM shardkit.map_table lists the tables.';
	END IF;
	FOR part IN
		SELECT to_regclass(format('%I.%s', n.schema, t.relation)) AS found,
			shardkit.slot_expression(t.map, t.key) AS slot
		FROM shardkit.map_table AS t JOIN shardkit.node AS n ON n.map = t.map
		WHERE t.map = index_slots.map AND t.relation = index_slots.relation
			AND t.kind = 'per_node' AND n.server IS NULL
		ORDER BY n.name
	LOOP
		CONTINUE WHEN part.found IS NULL OR EXISTS (
			SELECT FROM pg_index AS i WHERE i.indrelid = part.found AND i.indkey[0] = 0
				AND pg_get_indexdef(i.indexrelid, 1, false) = part.slot);
		EXECUTE format('CREATE INDEX ON %s (%s)', part.found, part.slot);
		created := created + 1;
	END LOOP;
	RETURN created;
END
$$;
COMMENT ON FUNCTION index_slots(text, text) IS
'creates the index on the slot of a row on every node that lacks it, so that a move reads only what it moves; returns how many';
