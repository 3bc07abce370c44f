-- what to expect of a ring, and how many slots to take
CREATE EXTENSION shardkit;
SET search_path = shardkit, public;

-- 480 is even for all eleven; 479 for none, 500 for three
SELECT slots FROM advise_slots(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) LIMIT 3;
SELECT slots, even_for, round(worst_over_mean::numeric, 4) AS worst_over_mean
FROM advise_slots(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) WHERE slots IN (479, 480, 500) ORDER BY slots;
SELECT array_agg(nodes ORDER BY nodes) AS even_for_500 FROM unnest(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) AS nodes, advise_slots(ARRAY[nodes], 500, 500) WHERE even_for = 1;
SELECT * FROM advise_slots('{9}', 7, 9);
SELECT count(*) FROM advise_slots('{1}');
SELECT * FROM advise_slots('{}');
SELECT * FROM advise_slots('{0}');
SELECT * FROM advise_slots('{1,NULL}');
SELECT * FROM advise_slots('{3}', 5, 4);
SELECT * FROM advise_slots('{3}', 0, 4);
SELECT * FROM advise_slots('{3}', 1, 2147483647);

-- the same seed, the same rings; more tokens, more even
SELECT ring_spread(4, 16, 100) = ring_spread(4, 16, 100) AS same, ring_spread(4, 16, 100) <> ring_spread(4, 16, 100, 1) AS differs;
SELECT bool_and(p50 < p90 AND p90 < p99 AND p99 <= worst AND worst < 4 AND p50 > 1) AS ordered,
	bool_and(coalesce(p50 < before, true)) AS more_even
FROM (SELECT vnodes, (ring_spread(4, vnodes, 500)).*, lag((ring_spread(4, vnodes, 500)).p50) OVER (ORDER BY vnodes) AS before FROM unnest(ARRAY[1, 4, 16, 64, 256]) AS vnodes) AS s;
SELECT * FROM ring_spread(1, 10, 10);
SELECT ring_spread(0, 1);
SELECT ring_spread(1, 0);
SELECT ring_spread(65536, 1);
SELECT ring_spread(65535, 4194304);
SELECT ring_spread(2, 2, 0);
SELECT ring_spread(2, 2, 2147483647);
SELECT ring_spread(NULL, 1) IS NULL AS null_stays;
-- a long one answers a cancel at once
SET statement_timeout = '100ms';
SELECT ring_spread(1000, 1000, 1000);
SELECT place('ring(65535; vnodes=64)', 1);
RESET statement_timeout;

DROP EXTENSION shardkit;
