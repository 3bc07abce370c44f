
-- ------------------------------------------------------------------------------------------
-- Map: for routers that keep a copy of it
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION require_slot(map text, epoch bigint, slot int) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_require_slot' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION require_slot(text, bigint, int) IS
'owner of a slot, which it stays until the transaction ends; SQLSTATE SK002 if the slot has changed owner since that epoch or is in transit';

CREATE FUNCTION require_key(map text, epoch bigint, VARIADIC key "any") RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_require_key' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION require_key(text, bigint, "any") IS 'require_slot for the slot of a key';

CREATE FUNCTION require_key(map text, epoch bigint, key text) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_require_key_text' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION require_key(text, bigint, text) IS
'require_slot for the slot of a key of one column, given as text and read by the key type''s input function';
