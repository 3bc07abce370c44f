-- ------------------------------------------------------------------------------------------
-- Predict: the aggregates underneath
-- ------------------------------------------------------------------------------------------

CREATE TYPE churn_counts AS (
	rows bigint, rows_moved bigint, share_moved float8, null_keys bigint, weight float8, weight_moved float8
);
COMMENT ON TYPE churn_counts IS
'what changes owner between two layouts: rows placed and moved, rows without a hash, sums of a weight';

-- Counts leave a process, or a server, as bytes; whoever reads them trusts nothing.

CREATE FUNCTION shardkit_internal.tally_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_serialize(internal) IS 'counts as bytes';
CREATE FUNCTION shardkit_internal.tally_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_deserialize(bytea, internal) IS 'counts from bytes';
CREATE FUNCTION shardkit_internal.tally_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_combine(internal, internal) IS 'counts of two processes added up';
CREATE FUNCTION shardkit_internal.tally_final(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_serialize' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_final(internal) IS 'counts as bytes, at the end';

CREATE FUNCTION shardkit_internal.churn_add(internal, bigint, layout, layout) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_churn_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.churn_add(internal, bigint, layout, layout) IS 'one more hash';
CREATE FUNCTION shardkit_internal.churn_add(internal, bigint, layout, layout, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_churn_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.churn_add(internal, bigint, layout, layout, bigint) IS 'one more hash';
CREATE FUNCTION shardkit_internal.churn_final(internal) RETURNS churn_counts
	AS 'MODULE_PATHNAME', 'shardkit_churn_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.churn_final(internal) IS 'churn_counts from counts';

CREATE AGGREGATE churn(hash bigint, old_layout layout, new_layout layout) (
	SFUNC = shardkit_internal.churn_add, STYPE = internal, FINALFUNC = shardkit_internal.churn_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE churn(bigint, layout, layout) IS
'how many of these hashes change owner between two layouts; nodes are the same if their names are';

CREATE AGGREGATE churn(hash bigint, old_layout layout, new_layout layout, weight bigint) (
	SFUNC = shardkit_internal.churn_add, STYPE = internal, FINALFUNC = shardkit_internal.churn_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE churn(bigint, layout, layout, bigint) IS
'how many of these hashes change owner between two layouts, and how much of a weight with them';

-- The family that the predict functions use: a plan holds pairs of layouts, the result is counts.

CREATE FUNCTION shardkit_internal.tally_plan(old_layouts layout[], new_layouts layout[]) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_plan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_plan(layout[], layout[]) IS
'pairs of layouts for the tally aggregates; a NULL new layout counts rows under the old one alone';

CREATE FUNCTION shardkit_internal.tally_typed_plan(plan bytea, types oid[]) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_typed_plan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_typed_plan(bytea, oid[]) IS
'the same plan, refused by a server where the key''s columns have types that hash otherwise';

CREATE FUNCTION shardkit_internal.tally_key(internal, bytea, float8, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_key(internal, bytea, float8, "any") IS 'one more key';
CREATE FUNCTION shardkit_internal.tally_hash(internal, bytea, float8, bigint, boolean) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_hash' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_hash(internal, bytea, float8, bigint, boolean) IS 'one more hash';
CREATE FUNCTION shardkit_internal.tally_block(internal, bytea, float8, bigint, boolean, oid, tid) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_block' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_block(internal, bytea, float8, bigint, boolean, oid, tid) IS 'one more row of a sampled block';
CREATE FUNCTION shardkit_internal.tally_group(internal, bytea, float8, bigint, boolean, bigint, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_group' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_group(internal, bytea, float8, bigint, boolean, bigint, text) IS 'one more distinct key';
CREATE FUNCTION shardkit_internal.tally_merge(internal, bytea) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_merge' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_merge(internal, bytea) IS 'counts of another table or server';

CREATE AGGREGATE shardkit_internal.tally(plan bytea, weight float8, VARIADIC key "any") (
	SFUNC = shardkit_internal.tally_key, STYPE = internal, FINALFUNC = shardkit_internal.tally_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shardkit_internal.tally(bytea, float8, "any") IS
'counts of a plan by PostgreSQL''s partition hash of the key, hashed once a row';

CREATE AGGREGATE shardkit_internal.tally_of_hash(plan bytea, weight float8, hash bigint, is_null boolean) (
	SFUNC = shardkit_internal.tally_hash, STYPE = internal, FINALFUNC = shardkit_internal.tally_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shardkit_internal.tally_of_hash(bytea, float8, bigint, boolean) IS
'counts of a plan by a hash that is given';

CREATE AGGREGATE shardkit_internal.tally_of_sample(plan bytea, weight float8, hash bigint, is_null boolean, relation oid, place tid) (
	SFUNC = shardkit_internal.tally_block, STYPE = internal, FINALFUNC = shardkit_internal.tally_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shardkit_internal.tally_of_sample(bytea, float8, bigint, boolean, oid, tid) IS
'counts of a plan with the sums over blocks that an interval needs';

CREATE AGGREGATE shardkit_internal.tally_of_keys(plan bytea, weight float8, hash bigint, is_null boolean, rows bigint, key text) (
	SFUNC = shardkit_internal.tally_group, STYPE = internal, FINALFUNC = shardkit_internal.tally_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shardkit_internal.tally_of_keys(bytea, float8, bigint, boolean, bigint, text) IS
'counts of a plan from one row a distinct key';

CREATE AGGREGATE shardkit_internal.tally_sum(counts bytea) (
	SFUNC = shardkit_internal.tally_merge, STYPE = internal, FINALFUNC = shardkit_internal.tally_final, COMBINEFUNC = shardkit_internal.tally_combine,
	SERIALFUNC = shardkit_internal.tally_serialize, DESERIALFUNC = shardkit_internal.tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shardkit_internal.tally_sum(bytea) IS
'counts of several tables or servers under one plan, added up';

CREATE FUNCTION shardkit_internal.tally_flows(counts bytea, plan bytea)
	RETURNS TABLE (pair int, from_node text, to_node text, rows bigint, keys bigint, weight float8)
	AS 'MODULE_PATHNAME', 'shardkit_tally_flows' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_flows(bytea, bytea) IS
'counts as rows, one a pair of layouts and nodes that occurs';

CREATE FUNCTION shardkit_internal.tally_largest(counts bytea, plan bytea)
	RETURNS TABLE (node text, rows bigint, key text)
	AS 'MODULE_PATHNAME', 'shardkit_tally_largest' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_largest(bytea, bytea) IS
'the largest key of each node of the first layout, where keys were counted';

CREATE FUNCTION shardkit_internal.tally_sample(counts bytea, all_blocks float8,
		OUT null_keys bigint, OUT blocks float8, OUT share_low float8, OUT share_high float8)
	AS 'MODULE_PATHNAME', 'shardkit_tally_sample' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.tally_sample(bytea, float8) IS
'rows with a NULL in the key; blocks sampled, and the 95 % interval of the share moved';

-- Heavy keys: candidates in one pass, by hash.

CREATE FUNCTION shardkit_internal.heavy_add(internal, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_heavy_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.heavy_add(internal, "any") IS 'one more key';
CREATE FUNCTION shardkit_internal.heavy_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_heavy_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.heavy_combine(internal, internal) IS 'heavy keys of two processes';
CREATE FUNCTION shardkit_internal.heavy_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_heavy_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.heavy_serialize(internal) IS 'heavy keys as bytes';
CREATE FUNCTION shardkit_internal.heavy_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_heavy_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.heavy_deserialize(bytea, internal) IS 'heavy keys from bytes';
CREATE FUNCTION shardkit_internal.heavy_final(internal) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'shardkit_heavy_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.heavy_final(internal) IS 'number of rows and the hashes of heavy keys';

CREATE AGGREGATE shardkit_internal.heavy_hashes(VARIADIC key "any") (
	SFUNC = shardkit_internal.heavy_add, STYPE = internal, FINALFUNC = shardkit_internal.heavy_final, COMBINEFUNC = shardkit_internal.heavy_combine,
	SERIALFUNC = shardkit_internal.heavy_serialize, DESERIALFUNC = shardkit_internal.heavy_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE shardkit_internal.heavy_hashes("any") IS
'number of rows, then the hashes that may belong to heavy keys, heaviest first (Misra, Gries 1982)';

CREATE FUNCTION shardkit_internal.is_heavy_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_is_heavy_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shardkit_internal.is_heavy_support(internal) IS 'tells the planner that few rows are heavy';

CREATE FUNCTION shardkit_internal.is_heavy(candidates bigint[], VARIADIC key "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_is_heavy' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT shardkit_internal.is_heavy_support;
COMMENT ON FUNCTION shardkit_internal.is_heavy(bigint[], "any") IS
'is the partition hash of this key among the candidates?';

