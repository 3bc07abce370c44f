-- a node more under each strategy, on the rows of a table: what moves and how even it stays
CREATE TABLE keys AS SELECT 'key-' || i AS k FROM generate_series(1, 100000) AS i;

-- Three standard errors of two samples of 100,000 keys; a ring is one draw of its tokens besides.
CREATE TEMP TABLE ours AS SELECT * FROM compare_strategies('keys', 'k', 8, 9)
	UNION ALL SELECT * FROM compare_strategies('keys', 'k', 8, 9, slots => 16384) WHERE strategy = 'slots, 16384';
CREATE TEMP TABLE published (strategy text, moved numeric, smallest numeric, largest numeric, moved_error numeric, share_error numeric);
INSERT INTO published VALUES ('modulo', 88.9, 10.9, 11.3, 0.4, 0.4), ('ranges, redrawn', 50.0, 10.9, 11.3, 0.7, 0.4),
	('ranges, split', 6.4, 6.3, 12.6, 0.4, 0.4), ('ring, 128 vnodes', 10.7, 9.4, 13.3, 3, 2.5),
	('slots, 1024', 11.0, 11.0, 11.3, 0.4, 0.4), ('slots, 16384', 11.2, 11.0, 11.3, 0.4, 0.4),
	('rendezvous', 11.3, 10.9, 11.3, 0.4, 0.4), ('jump', 10.9, 10.9, 11.3, 0.4, 0.4);
SELECT lab.close('A1', strategy || ', 8 -> 9: moved, %', moved, round(share_moved::numeric * 100, 2), moved_error),
	lab.close('A1', strategy || ': smallest node, %', smallest, round(smallest_share::numeric * 100, 2), share_error),
	lab.close('A1', strategy || ': largest node, %', largest, round(largest_share::numeric * 100, 2), share_error)
FROM published JOIN ours USING (strategy);
SELECT lab.close('A1', 'ranges, split: largest over smallest', 1.99, largest_over_smallest::numeric, 0.08) FROM ours WHERE strategy = 'ranges, split';
SELECT lab.close('A1', 'ring: largest over smallest', 1.41, largest_over_smallest::numeric, 0.4) FROM ours WHERE strategy = 'ring, 128 vnodes';

-- The one-page card: 4 -> 5 nodes.
CREATE TEMP TABLE card AS SELECT * FROM compare_strategies('keys', 'k', 4, 5);
SELECT lab.close('B', '4 -> 5, ' || strategy || ': moved, %', CASE strategy WHEN 'modulo' THEN 80 ELSE 20 END, round(share_moved::numeric * 100, 1),
	CASE WHEN strategy LIKE 'ring%' THEN 5 ELSE 0.6 END)
FROM card WHERE strategy ~ '^(modulo|ring|slots)' ORDER BY strategy;
