-- 100,000 keys by SHA-1 from 8 to 9 nodes: modulo, ranges, jump
CREATE TEMP TABLE keys AS SELECT hash64('user-' || i, 'sha1') AS hash FROM generate_series(0, 99999) AS i;

SELECT lab.exact('A0', 'keys that modulo 8 -> 9 moves', 88798::bigint, count(*)) FROM keys WHERE modulo(hash, 8) <> modulo(hash, 9);
SELECT lab.exact('A0', 'smallest share of 9 nodes, %', 10.936, round(min(n) / 1000.0, 3)),
	lab.exact('A0', 'largest share of 9 nodes, %', 11.348, round(max(n) / 1000.0, 3))
FROM (SELECT count(*) AS n FROM keys GROUP BY modulo(hash, 9)) AS shares;
SELECT lab.exact('A0', 'keys that equal hash ranges 8 -> 9 move', 49905::bigint, count(*)) FROM keys WHERE place('ranges(8)', hash) <> place('ranges(9)', hash);
SELECT lab.exact('A0', 'keys that jump 8 -> 9 moves', 11184::bigint, count(*)) FROM keys WHERE jump(hash, 8) <> jump(hash, 9);
