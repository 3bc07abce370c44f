
-- ------------------------------------------------------------------------------------------
-- Map: its tables
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION add_table(map text, relation text, key text, kind text DEFAULT 'per_node',
	template regclass DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_add_table' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_table(text, text, text, text, regclass) IS
'puts a table into a map: creates it like the template on every node where it is missing, adopts it where it is there';
