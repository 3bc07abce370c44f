# Plan: what the planner takes, given the loads of the slots; then with counting a table's rows.
psql -Xq -o /dev/null <<'SQL'
SET client_min_messages = warning;
-- 16,384 slots on 99 nodes and one that came; loads drawn as tenants' are: 1 in 10,000 is 10,000 times the least
CREATE TABLE public.bench_loads AS
SELECT array_agg(1 + slot * 99 / 16384 ORDER BY slot) AS grown, array_fill(1, ARRAY[16384]) AS adopted,
	array_fill(false, ARRAY[16384]) AS moving,
	array_agg(1000000 / (1 + (shardkit.partition_hash(slot) & 2147483647) % 10000) ORDER BY slot) AS loads,
	array_fill(1::float8, ARRAY[100]) AS weights, array_fill(false, ARRAY[100]) AS draining
FROM generate_series(0::bigint, 16383) AS slot;
ALTER TABLE public.bench_loads ALTER grown TYPE int[], ALTER loads TYPE bigint[];
SQL

plan_of() {
	echo "SELECT count(*) FROM public.bench_loads AS b, shardkit.plan_moves(b.$1, b.moving, $2, b.weights, b.draining)"
}
measure plan_slots "$(plan_of grown NULL)" plan_rows "$(plan_of grown b.loads)" \
	plan_adopted "$(plan_of adopted b.loads)"
report 'plan_rebalance by slots, 16,384 slots, 99 -> 100 nodes, s' '1' '0.1' "$(calculate 3 "${median[plan_slots]} / 1000")"
report 'by rows, skewed loads' '1' '0.1' "$(calculate 3 "${median[plan_rows]} / 1000")"
report 'by rows, all slots on one of 100 nodes' '1' '0.1' "$(calculate 3 "${median[plan_adopted]} / 1000")"
