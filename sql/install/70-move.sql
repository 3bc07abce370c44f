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

CREATE FUNCTION shardkit_internal.movers(OUT pid int, OUT map_id int, OUT slots_total bigint, OUT slots_done bigint,
	OUT relation regclass, OUT phase bigint, OUT rows_done bigint, OUT bytes_done bigint,
	OUT started_at timestamptz) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'shardkit_move_progress' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION shardkit_internal.movers() IS 'part of move_progress: what each mover of this database reports';

CREATE VIEW move_progress AS
SELECT p.pid, m.name AS map, p.slots_total, p.slots_done, p.relation,
	(ARRAY['waiting', 'moving', 'checking'])[p.phase + 1] AS phase, p.rows_done, p.bytes_done,
	pg_catalog.round((p.rows_done / nullif(p.seconds, 0))::numeric)::bigint AS rows_per_second,
	CASE WHEN p.slots_done > 0 THEN p.started_at
		+ pg_catalog.make_interval(secs => p.seconds * p.slots_total / p.slots_done) END AS estimated_end
FROM (SELECT *, extract(epoch FROM pg_catalog.clock_timestamp() - started_at)::float8 AS seconds
	FROM shardkit_internal.movers()) AS p
JOIN @extschema@.map AS m ON m.id = p.map_id;
COMMENT ON VIEW move_progress IS 'how far the movers of this database have come, while their transactions are open';
COMMENT ON COLUMN move_progress.pid IS 'process that moves';
COMMENT ON COLUMN move_progress.map IS 'name of the map';
COMMENT ON COLUMN move_progress.slots_total IS 'slots to move in this call';
COMMENT ON COLUMN move_progress.slots_done IS 'slots whose batch is committed';
COMMENT ON COLUMN move_progress.relation IS 'table that is being read or written';
COMMENT ON COLUMN move_progress.phase IS 'waiting (for locks), moving, or checking';
COMMENT ON COLUMN move_progress.rows_done IS 'rows moved so far in this call, those of the open batch included';
COMMENT ON COLUMN move_progress.bytes_done IS 'bytes of these rows in their binary form';
COMMENT ON COLUMN move_progress.rows_per_second IS 'rows a second since the call began, waiting included';
COMMENT ON COLUMN move_progress.estimated_end IS 'when it will be done at the rate of the slots that are; NULL before the first batch';

GRANT SELECT ON move_progress TO PUBLIC;
