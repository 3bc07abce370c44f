-- ------------------------------------------------------------------------------------------
-- Predict: the aggregates underneath
-- ------------------------------------------------------------------------------------------

CREATE TYPE churn_counts AS (
	rows bigint, rows_moved bigint, share_moved float8, null_keys bigint, weight float8, weight_moved float8
);
COMMENT ON TYPE churn_counts IS
'what changes owner between two layouts: rows placed and moved, rows without a hash, sums of a weight';

-- Counts leave a process, or a server, as bytes; whoever reads them trusts nothing.

CREATE FUNCTION tally_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_serialize(internal) IS 'private: counts as bytes';
CREATE FUNCTION tally_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_deserialize(bytea, internal) IS 'private: counts from bytes';
CREATE FUNCTION tally_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_combine(internal, internal) IS 'private: counts of two processes added up';
CREATE FUNCTION tally_final(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_serialize' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_final(internal) IS 'private: counts as bytes, at the end';

CREATE FUNCTION churn_add(internal, bigint, layout, layout) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_churn_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION churn_add(internal, bigint, layout, layout) IS 'private: one more hash';
CREATE FUNCTION churn_add(internal, bigint, layout, layout, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_churn_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION churn_add(internal, bigint, layout, layout, bigint) IS 'private: one more hash';
CREATE FUNCTION churn_final(internal) RETURNS churn_counts
	AS 'MODULE_PATHNAME', 'shardkit_churn_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION churn_final(internal) IS 'private: churn_counts from counts';

CREATE AGGREGATE churn(hash bigint, old_layout layout, new_layout layout) (
	SFUNC = churn_add, STYPE = internal, FINALFUNC = churn_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE churn(bigint, layout, layout) IS
'how many of these hashes change owner between two layouts; nodes are the same if their names are';

CREATE AGGREGATE churn(hash bigint, old_layout layout, new_layout layout, weight bigint) (
	SFUNC = churn_add, STYPE = internal, FINALFUNC = churn_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE churn(bigint, layout, layout, bigint) IS
'how many of these hashes change owner between two layouts, and how much of a weight with them';

-- The family that the predict functions use: a plan holds pairs of layouts, the result is counts.

CREATE FUNCTION tally_plan(old_layouts layout[], new_layouts layout[]) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_plan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_plan(layout[], layout[]) IS
'private: pairs of layouts for the tally aggregates; a NULL new layout counts rows under the old one alone';

CREATE FUNCTION tally_typed_plan(plan bytea, types oid[]) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_tally_typed_plan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_typed_plan(bytea, oid[]) IS
'private: the same plan, refused by a server where the key''s columns have types that hash otherwise';

CREATE FUNCTION tally_key(internal, bytea, float8, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_key(internal, bytea, float8, "any") IS 'private: one more key';
CREATE FUNCTION tally_hash(internal, bytea, float8, bigint, boolean) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_hash' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_hash(internal, bytea, float8, bigint, boolean) IS 'private: one more hash';
CREATE FUNCTION tally_block(internal, bytea, float8, bigint, boolean, oid, tid) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_block' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_block(internal, bytea, float8, bigint, boolean, oid, tid) IS 'private: one more row of a sampled block';
CREATE FUNCTION tally_group(internal, bytea, float8, bigint, boolean, bigint, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_group' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_group(internal, bytea, float8, bigint, boolean, bigint, text) IS 'private: one more distinct key';
CREATE FUNCTION tally_merge(internal, bytea) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_tally_merge' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tally_merge(internal, bytea) IS 'private: counts of another table or server';

CREATE AGGREGATE tally(plan bytea, weight float8, VARIADIC key "any") (
	SFUNC = tally_key, STYPE = internal, FINALFUNC = tally_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tally(bytea, float8, "any") IS
'private: counts of a plan by PostgreSQL''s partition hash of the key, hashed once a row';

CREATE AGGREGATE tally_of_hash(plan bytea, weight float8, hash bigint, is_null boolean) (
	SFUNC = tally_hash, STYPE = internal, FINALFUNC = tally_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tally_of_hash(bytea, float8, bigint, boolean) IS
'private: counts of a plan by a hash that is given';

CREATE AGGREGATE tally_of_sample(plan bytea, weight float8, hash bigint, is_null boolean, relation oid, place tid) (
	SFUNC = tally_block, STYPE = internal, FINALFUNC = tally_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tally_of_sample(bytea, float8, bigint, boolean, oid, tid) IS
'private: counts of a plan with the sums over blocks that an interval needs';

CREATE AGGREGATE tally_of_keys(plan bytea, weight float8, hash bigint, is_null boolean, rows bigint, key text) (
	SFUNC = tally_group, STYPE = internal, FINALFUNC = tally_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tally_of_keys(bytea, float8, bigint, boolean, bigint, text) IS
'private: counts of a plan from one row a distinct key';

CREATE AGGREGATE tally_sum(counts bytea) (
	SFUNC = tally_merge, STYPE = internal, FINALFUNC = tally_final, COMBINEFUNC = tally_combine,
	SERIALFUNC = tally_serialize, DESERIALFUNC = tally_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tally_sum(bytea) IS
'private: counts of several tables or servers under one plan, added up';

CREATE FUNCTION tally_flows(counts bytea, plan bytea)
	RETURNS TABLE (pair int, from_node text, to_node text, rows bigint, keys bigint, weight float8)
	AS 'MODULE_PATHNAME', 'shardkit_tally_flows' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_flows(bytea, bytea) IS
'private: counts as rows, one a pair of layouts and nodes that occurs';

CREATE FUNCTION tally_largest(counts bytea, plan bytea)
	RETURNS TABLE (node text, rows bigint, key text)
	AS 'MODULE_PATHNAME', 'shardkit_tally_largest' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_largest(bytea, bytea) IS
'private: the largest key of each node of the first layout, where keys were counted';

CREATE FUNCTION tally_sample(counts bytea, all_blocks float8,
		OUT null_keys bigint, OUT blocks float8, OUT share_low float8, OUT share_high float8)
	AS 'MODULE_PATHNAME', 'shardkit_tally_sample' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tally_sample(bytea, float8) IS
'private: rows with a NULL in the key; blocks sampled, and the 95 % interval of the share moved';

-- Heavy keys: candidates in one pass, by hash.

CREATE FUNCTION heavy_add(internal, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_heavy_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION heavy_add(internal, "any") IS 'private: one more key';
CREATE FUNCTION heavy_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_heavy_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION heavy_combine(internal, internal) IS 'private: heavy keys of two processes';
CREATE FUNCTION heavy_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_heavy_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION heavy_serialize(internal) IS 'private: heavy keys as bytes';
CREATE FUNCTION heavy_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_heavy_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION heavy_deserialize(bytea, internal) IS 'private: heavy keys from bytes';
CREATE FUNCTION heavy_final(internal) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'shardkit_heavy_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION heavy_final(internal) IS 'private: number of rows and the hashes of heavy keys';

CREATE AGGREGATE heavy_hashes(VARIADIC key "any") (
	SFUNC = heavy_add, STYPE = internal, FINALFUNC = heavy_final, COMBINEFUNC = heavy_combine,
	SERIALFUNC = heavy_serialize, DESERIALFUNC = heavy_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE heavy_hashes("any") IS
'private: number of rows, then the hashes that may belong to heavy keys, heaviest first (Misra, Gries 1982)';

CREATE FUNCTION is_heavy_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'shardkit_is_heavy_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_heavy_support(internal) IS 'private: tells the planner that few rows are heavy';

CREATE FUNCTION is_heavy(candidates bigint[], VARIADIC key "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_is_heavy' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT is_heavy_support;
COMMENT ON FUNCTION is_heavy(bigint[], "any") IS
'private: is the partition hash of this key among the candidates?';

