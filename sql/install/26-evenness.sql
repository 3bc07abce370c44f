-- ------------------------------------------------------------------------------------------
-- Evenness: what to expect of a ring, and how many slots to take
-- ------------------------------------------------------------------------------------------

CREATE FUNCTION ring_spread(nodes int, vnodes int, rings int DEFAULT 1000, seed bigint DEFAULT 0,
	OUT p50 float8, OUT p90 float8, OUT p99 float8, OUT worst float8) RETURNS record
	AS 'MODULE_PATHNAME', 'shardkit_ring_spread' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION ring_spread(int, int, int, bigint) IS
'the busiest node''s part of the circle as a multiple of the mean: percentiles over many rings, of ring r the nodes ring-<seed>-<r>/node-0, node-1, ...';

CREATE FUNCTION advise_slots(node_counts int[], at_least int DEFAULT 16, at_most int DEFAULT 4096,
	OUT slots int, OUT even_for int, OUT worst_over_mean float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'shardkit_advise_slots' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 4000;
COMMENT ON FUNCTION advise_slots(int[], int, int) IS
'numbers of slots, best first: how many of the node counts divide them, and at the worst of the counts the fullest node''s slots over the mean';

