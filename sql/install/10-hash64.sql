-- ------------------------------------------------------------------------------------------
-- Hashes that other programs know
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION hash64(value text, algorithm text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_hash64' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hash64(text, text) IS
'64-bit hash of a text''s bytes in the database''s encoding: the first 8 bytes, big-endian, of md5, sha1 or sha256; an 8-byte blake2b digest; xxh64, xxh3, murmur3 (x64 128, seed 0, first half) or fnv1a';

CREATE FUNCTION hash64_bytea(value bytea, algorithm text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_hash64' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hash64_bytea(bytea, text) IS
'64-bit hash of bytes, by the algorithms of hash64';

CREATE FUNCTION valkey_slot(key text) RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_valkey_slot' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION valkey_slot(text) IS
'slot of a key in a Valkey or Redis cluster, 0 .. 16383: CRC16 of the key or of its {hash tag}';

