-- ------------------------------------------------------------------------------------------
-- Fingerprint: a number by which a set of rows is recognised
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION shardkit_internal.fingerprint_add(internal, record) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_fingerprint_add' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION shardkit_internal.fingerprint_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_fingerprint_combine' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION shardkit_internal.fingerprint_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_fingerprint_serialize' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION shardkit_internal.fingerprint_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_fingerprint_deserialize' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION shardkit_internal.fingerprint_result(internal) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_fingerprint_result' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.fingerprint_add(internal, record) IS 'part of the aggregate fingerprint';
COMMENT ON FUNCTION shardkit_internal.fingerprint_combine(internal, internal) IS 'part of the aggregate fingerprint';
COMMENT ON FUNCTION shardkit_internal.fingerprint_serialize(internal) IS 'part of the aggregate fingerprint';
COMMENT ON FUNCTION shardkit_internal.fingerprint_deserialize(bytea, internal) IS 'part of the aggregate fingerprint';
COMMENT ON FUNCTION shardkit_internal.fingerprint_result(internal) IS 'part of the aggregate fingerprint';

CREATE AGGREGATE fingerprint(record) (
	SFUNC = shardkit_internal.fingerprint_add,
	STYPE = internal,
	COMBINEFUNC = shardkit_internal.fingerprint_combine,
	SERIALFUNC = shardkit_internal.fingerprint_serialize,
	DESERIALFUNC = shardkit_internal.fingerprint_deserialize,
	FINALFUNC = shardkit_internal.fingerprint_result,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE fingerprint(record) IS
'32 hexadecimal digits by which a set of rows is recognised, whatever their order and that of their columns: the sum of a 128-bit hash of each row';
