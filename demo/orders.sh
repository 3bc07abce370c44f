# Part one: made-up orders, so that every figure is known beforehand.

orders() {
	local table=orders key=user_id key_type=bigint map=orders prefix=shard rows=200000
	title 'Orders: 200,000 rows of 20,000 users'
	quiet "CREATE TABLE orders (id bigint NOT NULL, user_id bigint NOT NULL, amount numeric(10, 2) NOT NULL,
			placed_at timestamptz NOT NULL) PARTITION BY HASH (user_id)"
	for part in 0 1 2 3 4 5 6 7; do
		quiet "CREATE TABLE orders_$part PARTITION OF orders FOR VALUES WITH (MODULUS 8, REMAINDER $part)"
	done
	quiet "INSERT INTO orders SELECT n, 1 + n % 20000, n % 9973 / 100.0, '2026-01-01'::timestamptz + n * interval '1 minute'
		FROM generate_series(1, 200000) AS n"
	quiet 'ANALYZE orders'
	show "SELECT count(*) AS rows, count(DISTINCT user_id) AS users,
       count(*) FILTER (WHERE tableoid = 'orders_0'::regclass) AS rows_in_partition_0
FROM orders"
	hold 'rows in partition 0' "$(value 'SELECT count(*) FROM orders_0')" 24770
	predict
	hold 'rows that modulus 9 would move' "$predicted" 177100
	build_map
	plan
	move
	prove
}
