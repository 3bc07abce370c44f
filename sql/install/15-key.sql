-- ------------------------------------------------------------------------------------------
-- Keys: PostgreSQL's own hash partitioning, for any key
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION partition_hash(VARIADIC key "any") RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_partition_hash' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION partition_hash("any") IS
'row hash of PostgreSQL''s hash partitioning for these key values, to be read as unsigned; a NULL column adds nothing, an untyped literal is text';

CREATE FUNCTION partition_slot(slots int, VARIADIC key "any") RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_partition_slot' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION partition_slot(int, "any") IS
'remainder of the row hash among slots, 0 .. slots - 1: the partition of a table that is hash-partitioned with that modulus';

CREATE FUNCTION partition_hash_for(parent regclass, VARIADIC key "any") RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_partition_hash_for' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION partition_hash_for(regclass, "any") IS
'row hash that a hash-partitioned table computes for these key values, with its own operator classes and collations';

CREATE FUNCTION partition_of(parent regclass, VARIADIC key "any") RETURNS regclass
	AS 'MODULE_PATHNAME', 'shardkit_partition_of' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION partition_of(regclass, "any") IS
'partition that takes a row with this key: the leaf, or the lowest one that the key decides on; NULL where none does';

