
-- ------------------------------------------------------------------------------------------
-- Servers: moving a slot to or from a postgres_fdw server
-- ------------------------------------------------------------------------------------------

CREATE TABLE server_move (
	id bigint PRIMARY KEY,
	partition_schema name NOT NULL,
	partition_name name NOT NULL,
	new_schema name NOT NULL,
	fresh_name name NOT NULL,
	kept_name name NOT NULL,
	from_server name,
	from_schema text NOT NULL,
	from_table text NOT NULL,
	to_server name,
	to_schema text NOT NULL,
	to_table text NOT NULL
);
COMMENT ON TABLE server_move IS 'where the rows of each move between servers come from and go to';
COMMENT ON COLUMN server_move.id IS 'number of the move, as in move_log';
COMMENT ON COLUMN server_move.partition_schema IS 'schema of the partition before the move';
COMMENT ON COLUMN server_move.partition_name IS 'name of the partition, before and after';
COMMENT ON COLUMN server_move.new_schema IS 'schema of the partition after the move';
COMMENT ON COLUMN server_move.fresh_name IS 'name of the new partition until the swap';
COMMENT ON COLUMN server_move.kept_name IS 'name of an old local table after the swap, until it is dropped';
COMMENT ON COLUMN server_move.from_server IS 'server of the source; NULL: this database';
COMMENT ON COLUMN server_move.from_schema IS 'schema of the source''s table over there';
COMMENT ON COLUMN server_move.from_table IS 'name of the source''s table over there';
COMMENT ON COLUMN server_move.to_server IS 'server of the target; NULL: this database';
COMMENT ON COLUMN server_move.to_schema IS 'schema of the target''s table over there';
COMMENT ON COLUMN server_move.to_table IS 'name of the target''s table over there, of this try alone';
GRANT SELECT ON server_move TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('server_move', '');

CREATE FUNCTION fence() RETURNS trigger
	AS 'MODULE_PATHNAME', 'shardkit_fence' LANGUAGE C;
COMMENT ON FUNCTION fence() IS
'trigger on a partition that moves to or from a server: 40001 while the move is running, arguments map id and slot';

CREATE FUNCTION moved_away() RETURNS trigger
	AS 'MODULE_PATHNAME', 'shardkit_moved_away' LANGUAGE C;
COMMENT ON FUNCTION moved_away() IS
'trigger on an old local table whose rows have moved to a server: always 40001';

CREATE PROCEDURE move_server_slot(map text, slot int, to_node text,
	max_wait interval DEFAULT '1 minute', INOUT rows_moved bigint DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'shardkit_move_server_slot' LANGUAGE C;
COMMENT ON PROCEDURE move_server_slot(text, int, text, interval, bigint) IS
'moves one slot of a map whose old or new owner lies on a server; move_rows calls it for each slot';

CREATE PROCEDURE resume_moves(map text, max_wait interval DEFAULT '1 minute')
	AS 'MODULE_PATHNAME', 'shardkit_resume_moves' LANGUAGE C;
COMMENT ON PROCEDURE resume_moves(text, interval) IS
'finishes or undoes every move between servers that was broken off, unless it is still running';
