-- properties of placement over many hashes
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SELECT plan(1);

SELECT is(
	(SELECT count(*) FROM generate_series(1, 100000) AS i,
		LATERAL (SELECT hashint8extended(i, 0) AS hash) AS h
		WHERE shardkit.jump(hash, 10) NOT IN (shardkit.jump(hash, 9), 9)),
	0::bigint, 'jump: growth moves keys to the new shard only');

SELECT * FROM finish();
ROLLBACK;
