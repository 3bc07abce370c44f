-- logical shards over machines: how many more one machine has than another
CREATE TEMP TABLE spreads AS SELECT slots, nodes, max(owned) - min(owned) AS spread
FROM unnest(ARRAY[480, 479, 500]) AS slots, unnest(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) AS nodes,
	LATERAL (SELECT round(share * slots)::int AS owned FROM layout_nodes(format('slots(%s; slots=%s)', nodes, slots)::layout)) AS held GROUP BY slots, nodes;

SELECT lab.exact('D3', format('%s slots: machine counts with spread 0', slots), published, array_to_string(array_agg(nodes ORDER BY nodes) FILTER (WHERE spread = 0), ','))
FROM spreads JOIN (VALUES (480, '3,4,5,6,8,10,12,15,16,24,32'), (500, '4,5,10')) AS v(slots, published) USING (slots) GROUP BY slots, published ORDER BY slots;
SELECT lab.exact('D3', '479 slots: machine counts with spread 1', 11::bigint, count(*) FILTER (WHERE spread = 1)) FROM spreads WHERE slots = 479;
SELECT lab.exact('D3', 'advise_slots puts first', 480, (SELECT slots FROM advise_slots(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) LIMIT 1));

-- the same on rows: 200,000 workspaces with 1 to 20 rows each, by BLAKE2b; slots that really have rows, per machine
CREATE TEMP TABLE rows AS SELECT i AS workspace, hash64(i::text, 'blake2b') AS hash
FROM generate_series(1, 200000) AS i, generate_series(1, 1 + (20 * ((hashint4(i)::bigint & 65535) / 65536.0) ^ 3)::int % 20) AS n;
SELECT lab.real('D3', format('%s slots on %s machines, %s rows: spread of slots', slots, nodes, (SELECT count(*) FROM rows)), published::text, (max(held) - min(held))::text, max(held) - min(held) = published)
FROM (SELECT slots, nodes, published, place(layout, hash) AS machine, count(DISTINCT modulo(hash, slots)) AS held
	FROM (SELECT slots, nodes, published, format('slots(%s; slots=%s)', nodes, slots)::layout AS layout FROM (VALUES (480, 0), (479, 1)) AS s(slots, published), unnest(ARRAY[6, 16]) AS nodes) AS l, rows
	GROUP BY 1, 2, 3, 4) AS counted GROUP BY slots, nodes, published ORDER BY slots DESC, nodes;
