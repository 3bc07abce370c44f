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

CREATE FUNCTION ring(hash bigint, nodes text[], vnodes int DEFAULT 128, token_hash text DEFAULT 'sha256') RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_ring' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ring(bigint, text[], int, text) IS
'node of a hash on a consistent-hashing ring: the owner of the first token at or after the hash, wrapping; token i of a node is hash64(node || ''#'' || i, token_hash), i from 0 to vnodes - 1';

CREATE FUNCTION rendezvous(hash bigint, nodes text[]) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_rendezvous' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rendezvous(bigint, text[]) IS
'node of a hash by rendezvous hashing: the highest fmix64(hash XOR hash64(node, ''sha256'')), unsigned';

CREATE FUNCTION rendezvous(hash bigint, nodes text[], weights float8[]) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_rendezvous' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rendezvous(bigint, text[], float8[]) IS
'node of a hash by weighted rendezvous hashing, the logarithmic method: a node''s chance is its weight over the sum of weights';

