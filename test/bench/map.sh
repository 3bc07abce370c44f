# Map: a look-up by the session's copy, and what the guard adds to loading rows.
psql -Xq -o /dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE public.bench_shape (id bigint PRIMARY KEY, note text);
CREATE TABLE public.bench_free (LIKE public.bench_shape INCLUDING ALL);
SELECT FROM shardkit.create_map('bench', 1024, ARRAY['bench_node']);
SELECT FROM shardkit.add_table('bench', 'loaded', 'id', template => 'public.bench_shape');
SELECT FROM shardkit.create_map('bench8', 1024, ARRAY['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7']);
SELECT FROM shardkit.add_table('bench8', 'loaded', 'id', template => 'public.bench_shape');
SQL

settle -c max_parallel_workers_per_gather=0
measure noop "SELECT count(int8up(id)) FROM bench" \
	hash "SELECT count(partition_slot(1024, id)) FROM bench" \
	slot_of "SELECT count(slot_of('bench8', id)) FROM bench" \
	node_of "SELECT count(node_of('bench8', id)) FROM bench"
report 'slot_of, warm, ns a call over a function that does nothing' '+60' '+30' "+$(nanoseconds slot_of noop)"
report 'node_of, likewise' '+60' '+30' "+$(nanoseconds node_of noop)"
report 'of which the hash alone (partition_slot)' '' '' "+$(nanoseconds hash noop)"

# A bulk COPY of a tenth of the rows, and single INSERTs, into the same table with and without guard.
loaded=$((rows / 10))
copy_file=$(mktemp)
psql -XAtqc "COPY (SELECT id, 'a note of some thirty characters' FROM bench WHERE id <= $loaded) TO STDOUT" > "$copy_file"
inserts() {
	echo "DO \$\$ BEGIN FOR i IN 1 .. 100000 LOOP INSERT INTO $1 VALUES (i, 'note'); END LOOP; END \$\$"
}
copied() {
	printf '%s\n' "TRUNCATE $1;" '\timing on' "\\copy $1 FROM '$copy_file'" | psql -XAtq -v ON_ERROR_STOP=1 |
		sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' | tail -n 1
}
inserted() {
	printf '%s\n' "TRUNCATE $1;" '\timing on' "$(inserts "$1");" | psql -XAtq -v ON_ERROR_STOP=1 |
		sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' | tail -n 1
}
folder=$(mktemp -d)
for ((round = 0; round <= rounds; ++round)); do
	copied public.bench_free >> "$folder/copy_free"
	copied bench_node.loaded >> "$folder/copy_guarded"
	inserted public.bench_free >> "$folder/insert_free"
	inserted bench_node.loaded >> "$folder/insert_guarded"
done
for name in copy_free copy_guarded insert_free insert_guarded; do
	median[$name]=$(tail -n +2 "$folder/$name" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
done
rm -r "$folder" "$copy_file"
report 'guard, part of a bulk COPY on top, with a primary key' '50 %' '25 %' \
	"$(calculate 1 "(${median[copy_guarded]} / ${median[copy_free]} - 1) * 100") %"
report 'guard, part of single INSERTs on top' '30 %' '10 %' \
	"$(calculate 1 "(${median[insert_guarded]} / ${median[insert_free]} - 1) * 100") %"
