# Moves: rows between two local nodes, against the two hand-written forms, in turn on the same data.
move_rows_total=$((rows / 10))
psql -Xq -o /dev/null <<SQL
SET client_min_messages = warning;
CREATE TABLE public.move_shape (id bigint PRIMARY KEY, user_id bigint NOT NULL, note text, price numeric, at timestamptz);
SELECT FROM shardkit.create_map('bench_move', 72, ARRAY['move_a', 'move_b']);
SELECT FROM shardkit.add_table('bench_move', 'orders', 'user_id', template => 'public.move_shape');
SET session_replication_role = replica;
INSERT INTO move_a.orders SELECT k, k % 20000, 'order ' || k || repeat('x', 20), k / 7.0, now() FROM generate_series(1, $move_rows_total) k WHERE shardkit.node_of('bench_move', k % 20000) = 'move_a';
INSERT INTO move_b.orders SELECT k, k % 20000, 'order ' || k || repeat('x', 20), k / 7.0, now() FROM generate_series(1, $move_rows_total) k WHERE shardkit.node_of('bench_move', k % 20000) = 'move_b';
CREATE SCHEMA hand_a;
CREATE SCHEMA hand_b;
CREATE TABLE hand_a.orders (LIKE public.move_shape INCLUDING ALL);
CREATE TABLE hand_b.orders (LIKE public.move_shape INCLUDING ALL);
INSERT INTO hand_a.orders SELECT * FROM move_a.orders;
INSERT INTO hand_b.orders SELECT * FROM move_b.orders;
VACUUM ANALYZE;
SQL
settle -c client_min_messages=warning

# Six slots there and six back: each form starts each time from the same rows.
move_folder=$(mktemp -d)
moved_where="shardkit.partition_slot(72, user_id) = ANY ('{0,1,2,3,4,5}')"
for ((round = 0; round <= rounds; ++round)); do
	for way in 'a b' 'b a'; do
		read -r from to <<< "$way"
		psql -Xqc CHECKPOINT
		milliseconds "WITH moved AS (DELETE FROM hand_$from.orders WHERE $moved_where RETURNING *) INSERT INTO hand_$to.orders SELECT * FROM moved;" >> "$move_folder/one"
		psql -Xqc "VACUUM hand_$from.orders" -c CHECKPOINT
		# in a transaction block, where no ANALYZE follows: the hand-written forms have none either
		milliseconds "BEGIN\; CALL shardkit.move_rows('bench_move', '{0,1,2,3,4,5}', 'move_$to')\; COMMIT;" >> "$move_folder/move"
		milliseconds "ANALYZE move_$to.orders;" >> "$move_folder/analyze"
		psql -Xqc "VACUUM move_$from.orders" -c CHECKPOINT
	done
	for way in 'a b' 'b a'; do
		read -r from to <<< "$way"
		milliseconds "DO \$\$ BEGIN INSERT INTO hand_$to.orders SELECT * FROM hand_$from.orders WHERE $moved_where; DELETE FROM hand_$from.orders WHERE $moved_where; END \$\$;" >> "$move_folder/two"
		psql -Xqc "VACUUM hand_$from.orders" -c CHECKPOINT
	done
done
for name in one two move analyze; do
	median[$name]=$(tail -n +3 "$move_folder/$name" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
done
rm -r "$move_folder"
report 'move_rows, thousand rows a second' '' '' "$(calculate 0 "rows / 10 / 12 / ${median[move]}")"
report 'the ANALYZE that follows outside of a transaction block, ms' '' '' "${median[analyze]}"
report 'move_rows, speed over INSERT .. SELECT then DELETE' '' '' "$(ratio two move) x"
report 'move_rows, speed over WITH moved AS (DELETE ..) INSERT' '' '' "$(ratio one move) x"
report 'move_rows, speed over the faster of the two' '0.8 x' '1.0 x' \
	"$(calculate 2 "(${median[one]} < ${median[two]} ? ${median[one]} : ${median[two]}) / ${median[move]}") x"
settle
