-- ------------------------------------------------------------------------------------------
-- Layouts: a whole placement rule as a value
-- ------------------------------------------------------------------------------------------

CREATE TYPE layout;

CREATE FUNCTION layout_in(cstring) RETURNS layout
	AS 'MODULE_PATHNAME', 'shardkit_layout_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_in(cstring) IS 'reads a layout from its text';
CREATE FUNCTION layout_out(layout) RETURNS cstring
	AS 'MODULE_PATHNAME', 'shardkit_layout_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_out(layout) IS 'canonical text of a layout';
CREATE FUNCTION layout_recv(internal) RETURNS layout
	AS 'MODULE_PATHNAME', 'shardkit_layout_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_recv(internal) IS 'reads a layout from the text that a client sends in binary format';
CREATE FUNCTION layout_send(layout) RETURNS bytea
	AS 'MODULE_PATHNAME', 'shardkit_layout_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_send(layout) IS 'canonical text of a layout, for clients that ask for binary format';

CREATE TYPE layout (
	INPUT = layout_in, OUTPUT = layout_out, RECEIVE = layout_recv, SEND = layout_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE layout IS
'placement rule with its nodes: modulo, jump, ring, rendezvous, slots or ranges; for example ring(a, b*2, c; vnodes=128)';

-- Equal layouts have equal canonical texts; their order is that of the texts.

CREATE FUNCTION layout_eq(layout, layout) RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_layout_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_eq(layout, layout) IS 'do two layouts have the same canonical text?';
CREATE FUNCTION layout_ne(layout, layout) RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_layout_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_ne(layout, layout) IS 'do two layouts have different canonical texts?';
CREATE FUNCTION layout_lt(layout, layout) RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_layout_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_lt(layout, layout) IS 'is the left canonical text before the right one, in byte order?';
CREATE FUNCTION layout_le(layout, layout) RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_layout_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_le(layout, layout) IS 'is the left canonical text not after the right one, in byte order?';
CREATE FUNCTION layout_gt(layout, layout) RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_layout_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_gt(layout, layout) IS 'is the left canonical text after the right one, in byte order?';
CREATE FUNCTION layout_ge(layout, layout) RETURNS boolean
	AS 'MODULE_PATHNAME', 'shardkit_layout_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_ge(layout, layout) IS 'is the left canonical text not before the right one, in byte order?';
CREATE FUNCTION layout_cmp(layout, layout) RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_layout_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION layout_cmp(layout, layout) IS '-1, 0 or 1: order of two canonical texts in bytes';
CREATE FUNCTION layout_hash(layout) RETURNS int
	AS 'MODULE_PATHNAME', 'shardkit_layout_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_hash(layout) IS '32-bit hash of a layout, for hash joins and grouping';
CREATE FUNCTION layout_hash_extended(layout, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'shardkit_layout_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_hash_extended(layout, bigint) IS '64-bit hash of a layout with a seed, for hash partitioning';

CREATE OPERATOR = (
	LEFTARG = layout, RIGHTARG = layout, FUNCTION = layout_eq, COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
	LEFTARG = layout, RIGHTARG = layout, FUNCTION = layout_ne, COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
	LEFTARG = layout, RIGHTARG = layout, FUNCTION = layout_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
	LEFTARG = layout, RIGHTARG = layout, FUNCTION = layout_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
	LEFTARG = layout, RIGHTARG = layout, FUNCTION = layout_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
	LEFTARG = layout, RIGHTARG = layout, FUNCTION = layout_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE OPERATOR CLASS layout_ops DEFAULT FOR TYPE layout USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 layout_cmp(layout, layout);
CREATE OPERATOR CLASS layout_hash_ops DEFAULT FOR TYPE layout USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 layout_hash(layout), FUNCTION 2 layout_hash_extended(layout, bigint);

CREATE FUNCTION place(layout, hash bigint) RETURNS text
	AS 'MODULE_PATHNAME', 'shardkit_place' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION place(layout, bigint) IS
'name of the node that owns a hash under a layout';

CREATE FUNCTION layout_nodes(layout, OUT node text, OUT weight float8, OUT share float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'shardkit_layout_nodes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION layout_nodes(layout) IS
'nodes of a layout with their weights and the part of the hash space that each owns, 0 to 1';

CREATE FUNCTION layout_add(layout, node text, weight float8 DEFAULT 1) RETURNS layout
	AS 'MODULE_PATHNAME', 'shardkit_layout_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_add(layout, text, float8) IS
'a layout with one node more, by its strategy''s own rule: slots hands over the fewest whole slots, ring adds tokens, jump and modulo append, ranges redraws evenly';

CREATE FUNCTION layout_split(layout, node text, new_node text) RETURNS layout
	AS 'MODULE_PATHNAME', 'shardkit_layout_split' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_split(layout, text, text) IS
'a layout of slots or ranges in which half of one node''s part belongs to a new node';

CREATE FUNCTION layout_remove(layout, node text) RETURNS layout
	AS 'MODULE_PATHNAME', 'shardkit_layout_remove' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_remove(layout, text) IS
'a layout without a node; of jump and modulo only the last one can go';

CREATE FUNCTION layout_churn(old_layout layout, new_layout layout) RETURNS float8
	AS 'MODULE_PATHNAME', 'shardkit_layout_churn' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION layout_churn(layout, layout) IS
'fraction of the hash space, 0 to 1, whose owner has another name in the new layout; nodes are the same when their names are';

