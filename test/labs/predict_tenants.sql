-- tenants in hash partitions: which are read, which are full, and one tenant that is everything
CREATE TABLE events (tenant bigint, kind int, note text) PARTITION BY HASH (tenant);
SELECT format('CREATE TABLE events_%s PARTITION OF events FOR VALUES WITH (MODULUS 8, REMAINDER %1$s)', i) FROM generate_series(0, 7) AS i \gexec
INSERT INTO events SELECT i % 2000, i % 97 FROM generate_series(0, 399999) AS i;
ANALYZE events;

CREATE FUNCTION scanned(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT count(*) FROM regexp_matches(plan::text, '"Relation Name"', 'g'));
END $$;
SELECT lab.exact('C9', 'partitions scanned with the key', 1, scanned('SELECT * FROM events WHERE tenant = 42'));
SELECT lab.exact('C9', 'without it', 8, scanned('SELECT * FROM events WHERE kind = 42'));
SELECT lab.exact('C9', 'rows of tenant 42''s partition, predicted', 56000::bigint, rows)
FROM predict_balance('events', 'tenant', 'modulo(8)') WHERE node = 'node-' || partition_slot(8, 42);
SELECT lab.exact('C9', 'rows of tenant 42''s partition, counted', 56000::bigint, count(*)) FROM events WHERE tableoid = partition_of('events', 42);

CREATE TABLE skewed AS SELECT CASE WHEN i < 320000 THEN 0 ELSE 1 + i % 1999 END::bigint AS tenant FROM generate_series(0, 399999) AS i;
SELECT lab.close('C10', 'one tenant of 80 %: largest partition over the mean', 6.63, round(max(over_mean)::numeric, 2), 0.1)
FROM predict_balance('skewed', 'tenant', 'modulo(8)', count_keys => true);
SELECT lab.exact('C10', 'what no layout of 8 nodes gets below (ours)', 6.4, floor_over_mean::numeric)
FROM predict_churn('skewed', 'tenant', 'modulo(4)', 'modulo(8)', count_keys => true);
