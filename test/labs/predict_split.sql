-- a hash-partitioned table outgrows its modulus: predicted, refused, and done by hand
CREATE TABLE orders (id bigint, user_id bigint NOT NULL) PARTITION BY HASH (user_id);
SELECT format('CREATE TABLE orders_%s PARTITION OF orders FOR VALUES WITH (MODULUS 8, REMAINDER %1$s)', i) FROM generate_series(0, 7) AS i \gexec
INSERT INTO orders SELECT i, 1 + i % 20000 FROM generate_series(0, 199999) AS i;

DO $$
DECLARE detail text;
BEGIN
	CREATE TABLE orders_odd PARTITION OF orders FOR VALUES WITH (MODULUS 9, REMAINDER 8);
EXCEPTION WHEN invalid_object_definition THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	PERFORM shardkit.partition_hash(1), lab.exact('A10', 'modulus 9 beside 8', 'refused: 9 is not divisible by 8',
		CASE WHEN detail ~ 'new modulus 9 is not divisible by 8' THEN 'refused: 9 is not divisible by 8' ELSE detail END);
END $$;

SELECT lab.exact('A11', 'rows in shard 0', 24770::bigint, rows_before), lab.exact('A11', 'rows copied when it is split', 12670::bigint, rows_copied),
	lab.exact('A11', 'share copied, %', 6.3, round(share_copied::numeric * 100, 1)),
	lab.exact('A11', 'count(*) after copying', 212670::bigint, rows_seen_in_transit),
	lab.exact('A11', 'largest over smallest afterwards', 2.12, round(largest_over_smallest::numeric, 2))
FROM predict_split('orders_0');
SELECT lab.exact('A12', 'rows whose shard changes, modulus 8 -> 9', 177100::bigint, rows_moved), lab.exact('A12', 'in %', 88.5, trunc(share_moved::numeric * 100, 1))
FROM predict_modulus_change('orders', 9);

-- The split itself, with the old partition kept until the copy stands.
SELECT lab.exact('A11', 'count(*) before', 200000::bigint, count(*)) FROM orders;
CREATE TABLE copied (LIKE orders);
INSERT INTO copied SELECT * FROM orders_0 WHERE satisfies_hash_partition('orders'::regclass, 16, 8, user_id);
SELECT lab.real('A11', 'count(*) really seen in transit', '212670', count(*)::text, count(*) = 212670) FROM (SELECT * FROM orders UNION ALL SELECT * FROM copied) AS both_copies;
BEGIN;
ALTER TABLE orders DETACH PARTITION orders_0;
DELETE FROM orders_0 WHERE satisfies_hash_partition('orders'::regclass, 16, 8, user_id);
ALTER TABLE orders ATTACH PARTITION orders_0 FOR VALUES WITH (MODULUS 16, REMAINDER 0);
ALTER TABLE orders ATTACH PARTITION copied FOR VALUES WITH (MODULUS 16, REMAINDER 8);
COMMIT;
SELECT lab.real('A11', 'count(*) after deleting', '200000', count(*)::text, count(*) = 200000) FROM orders;
SELECT lab.real('A11', 'largest over smallest, counted', '2.12', round(max(n)::numeric / min(n), 2)::text, round(max(n)::numeric / min(n), 2) = 2.12)
FROM (SELECT count(*) AS n FROM orders GROUP BY tableoid) AS held;

-- Ids in ranges, and ten thousand more.
CREATE TABLE ids AS SELECT i::bigint AS id FROM generate_series(1, 100000) AS i;
CREATE TABLE more AS SELECT i::bigint AS id FROM generate_series(100001, 110000) AS i;
SELECT lab.exact('A4', 'busiest range''s share of the new ids, %', 100.0, round(max(n) * 100.0 / 10000, 1))
FROM (SELECT count(*) AS n FROM more GROUP BY width_bucket(id, (SELECT array_agg(1 + k * 12500::bigint) FROM generate_series(0, 7) AS k))) AS r;
SELECT lab.close('A4', 'busiest hash shard''s share of them, %', 13.1, round(max(share)::numeric * 100, 1), 1.0) FROM predict_balance('more', 'id', 'modulo(8)');
SELECT lab.exact('C7', 'newest 10,000 of 100,000 events on one node, by range', 10000::bigint, max(n))
FROM (SELECT count(*) AS n FROM ids WHERE id > 90000 GROUP BY width_bucket(id, (SELECT array_agg(1 + k * 12500::bigint) FROM generate_series(0, 7) AS k))) AS r;
CREATE VIEW newest AS SELECT id FROM ids WHERE id > 90000;
SELECT lab.close('C7', 'the same by hash', 1316, max(rows), 100) FROM predict_balance('newest', 'id', 'modulo(8)');
