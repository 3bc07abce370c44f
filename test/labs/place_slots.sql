-- logical shards over machines: how many more one machine has than another
CREATE TEMP TABLE spreads AS SELECT slots, nodes, max(owned) - min(owned) AS spread
FROM unnest(ARRAY[480, 479, 500]) AS slots, unnest(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) AS nodes,
	LATERAL (SELECT round(share * slots)::int AS owned FROM layout_nodes(format('slots(%s; slots=%s)', nodes, slots)::layout)) AS held GROUP BY slots, nodes;

SELECT lab.exact('D3', format('%s slots: machine counts with spread 0', slots), published, array_to_string(array_agg(nodes ORDER BY nodes) FILTER (WHERE spread = 0), ','))
FROM spreads JOIN (VALUES (480, '3,4,5,6,8,10,12,15,16,24,32'), (500, '4,5,10')) AS v(slots, published) USING (slots) GROUP BY slots, published ORDER BY slots;
SELECT lab.exact('D3', '479 slots: machine counts with spread 1', 11::bigint, count(*) FILTER (WHERE spread = 1)) FROM spreads WHERE slots = 479;
SELECT lab.exact('D3', 'advise_slots puts first', 480, (SELECT slots FROM advise_slots(ARRAY[3,4,5,6,8,10,12,15,16,24,32]) LIMIT 1));
