-- from a hash to a shard
CREATE EXTENSION shardkit;

SELECT shardkit.modulo(-1, 9), shardkit.modulo(0, 1);
SELECT shardkit.jump(-1, 9), shardkit.jump(0, 100), shardkit.jump(2016238256797177309, 11);
SELECT shardkit.jump(NULL, 9);
SELECT shardkit.modulo(1, 0);
SELECT shardkit.jump(1, -1);

DROP EXTENSION shardkit;
