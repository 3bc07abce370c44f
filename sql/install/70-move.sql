-- ------------------------------------------------------------------------------------------
-- Move: the rows of slots to another node
-- ------------------------------------------------------------------------------------------

CREATE PROCEDURE move_rows(map text, slots int[], to_node text, batch_slots int DEFAULT NULL,
	max_wait interval DEFAULT '1 minute', INOUT rows_moved bigint DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'shardkit_move_rows' LANGUAGE C;
COMMENT ON PROCEDURE move_rows(text, int[], text, int, interval, bigint) IS
'moves the rows of these slots to that node, verified, in one transaction a batch of slots; returns how many';

CREATE PROCEDURE rebalance(map text, by_what text DEFAULT 'slots', tolerance float8 DEFAULT 0.05,
	max_moves int DEFAULT NULL, batch_slots int DEFAULT NULL, max_wait interval DEFAULT '1 minute',
	INOUT rows_moved bigint DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'shardkit_rebalance' LANGUAGE C;
COMMENT ON PROCEDURE rebalance(text, text, float8, int, int, interval, bigint) IS
'plans with plan_rebalance and moves what the plan says; returns the number of rows moved';
