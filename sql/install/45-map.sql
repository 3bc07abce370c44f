
-- ------------------------------------------------------------------------------------------
-- Map: commands
--
-- They run as the caller, who must belong to the map's owner, and return the new epoch.
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION create_map(map text, slots int, nodes text[] DEFAULT '{}', hash text DEFAULT 'postgres')
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_create_map' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION create_map(text, int, text[], text) IS
'creates a map of 1 to 65535 slots, dealt evenly to the nodes, which are local schemas of the same name, created if missing';

CREATE FUNCTION drop_map(map text) RETURNS void
	AS 'MODULE_PATHNAME', 'shardkit_drop_map' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION drop_map(text) IS
'drops a map with its history and its guards; tables and rows stay';

CREATE FUNCTION add_node(map text, node text, schema name DEFAULT NULL, server name DEFAULT NULL,
	weight float8 DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_add_node' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_node(text, text, name, name, float8) IS
'adds a node that owns nothing yet, with the map''s tables; its schema, created if missing, bears the node''s name unless given';

CREATE FUNCTION set_weight(map text, node text, weight float8) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_set_weight' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION set_weight(text, text, float8) IS
'sets the share of slots that a node should own, relative to the others; rebalance makes it so';

CREATE FUNCTION drain_node(map text, node text, draining boolean DEFAULT true) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_drain_node' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION drain_node(text, text, boolean) IS
'has a node planned empty, or with false planned as any other again; rebalance makes it so';

CREATE FUNCTION remove_node(map text, node text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_remove_node' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION remove_node(text, text) IS
'removes a node that owns no slot; its schema and tables stay, without guards';

CREATE FUNCTION assign_slots(map text, slots int[], node text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_assign_slots' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION assign_slots(text, int[], text) IS
'gives slots that have no owner to a node, if no other node holds rows of them';

CREATE FUNCTION deal_slots(map text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_deal_slots' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION deal_slots(text) IS
'gives all slots that have no owner to the active nodes, by weight';

-- ------------------------------------------------------------------------------------------
-- Map: look-ups, from each session's own copy of the maps
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION slot_of(map text, VARIADIC key "any") RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_slot_of' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION slot_of(text, "any") IS 'slot of a key';

CREATE FUNCTION slot_of(map text, key text) RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_slot_of_text' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION slot_of(text, text) IS
'slot of a key of one column, given as text and read by the key type''s input function';

CREATE FUNCTION node_of(map text, VARIADIC key "any") RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_node_of' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION node_of(text, "any") IS 'node that owns a key; NULL: its slot has no owner';

CREATE FUNCTION node_of(map text, key text) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_node_of_text' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION node_of(text, text) IS
'node that owns a key of one column, given as text and read by the key type''s input function';

CREATE FUNCTION slot_node(map text, slot int) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_slot_node' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION slot_node(text, int) IS 'node that owns a slot; NULL: it has no owner';

CREATE FUNCTION map_epoch(map text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_map_epoch' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION map_epoch(text) IS 'version of a map, raised by one with every change';

-- For functions in SQL; those in C read the map anyway.
CREATE FUNCTION shardkit_internal.check_map(map text) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM shardkit.map AS m WHERE m.name = check_map.map) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('map %s does not exist', coalesce('"' || check_map.map || '"', 'NULL')),
			HINT = 'Table shardkit.map lists the maps.';
	END IF;
END
$$;
COMMENT ON FUNCTION shardkit_internal.check_map(text) IS 'an error if there is no such map';
