-- ------------------------------------------------------------------------------------------
-- Place: from a hash to a shard
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION modulo(hash bigint, shards int) RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_modulo' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION modulo(bigint, int) IS
'shard of a hash: the remainder of the unsigned hash divided by the number of shards, 0 .. shards - 1';

CREATE FUNCTION jump(hash bigint, shards int) RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_jump' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jump(bigint, int) IS
'shard of a hash by jump consistent hash (Lamping, Veach 2014), 0 .. shards - 1';

