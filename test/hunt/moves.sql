-- What Memory.pm moves there and back: a map of schemas, and one with a server (another database of
-- this cluster).
SET search_path = prey, public;
CREATE TABLE goods (id bigint PRIMARY KEY, note text);
SELECT shardkit.create_map('kept', 2, ARRAY['k0', 'k1']);
SELECT shardkit.add_table('kept', 'kept', 'id', template => 'prey.goods');
INSERT INTO k0.kept SELECT i, repeat('x', 100) FROM generate_series(1, 500) AS i WHERE shardkit.node_of('kept', i::bigint) = 'k0';
INSERT INTO k1.kept SELECT i, repeat('x', 100) FROM generate_series(1, 500) AS i WHERE shardkit.node_of('kept', i::bigint) = 'k1';
CREATE DATABASE hunt_far;
CREATE SERVER away FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'hunt_far');
CREATE USER MAPPING FOR CURRENT_USER SERVER away;
SELECT shardkit.create_map('sent', 2);
SELECT shardkit.add_node('sent', 'here', schema => 'sent_here');
SELECT shardkit.add_node('sent', 'there', server => 'away');
SELECT shardkit.assign_slots('sent', ARRAY[0, 1], 'here');
SELECT shardkit.add_table('sent', 'prey.sent', 'id', 'per_slot', template => 'prey.goods');
INSERT INTO sent SELECT i, repeat('x', 100) FROM generate_series(1, 500) AS i;
