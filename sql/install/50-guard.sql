
-- ------------------------------------------------------------------------------------------
-- Map: the guard
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION guard() RETURNS trigger
	AS 'MODULE_PATHNAME', 'shardkit_guard' LANGUAGE C;
COMMENT ON FUNCTION guard() IS
'trigger (map, node, key): refuses a row whose slot this node does not own, with SQLSTATE SK001';
