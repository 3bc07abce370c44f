# A slot of BENCH_SLOT_ROWS rows to a server, verified, against a psql pipe of the same rows into a
# table with the same primary key. The server is another database of the same cluster.

slot_rows=${BENCH_SLOT_ROWS:-1000000}
server_rounds=${BENCH_ROUNDS:-5}

createdb bench_server
psql -Xq -o /dev/null <<SQL
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SERVER bench_server FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'bench_server');
CREATE USER MAPPING FOR CURRENT_USER SERVER bench_server;
SELECT shardkit.create_map('bench', 2);
SELECT shardkit.add_node('bench', 'here', 'bench_here');
SELECT shardkit.add_node('bench', 'there', 'bench_there', 'bench_server');
CREATE TABLE public.bench_orders (id bigint NOT NULL, user_id bigint NOT NULL, amount numeric, note text,
	made timestamptz NOT NULL DEFAULT now()) PARTITION BY HASH (user_id);
CREATE TABLE bench_here.bench_orders_0 PARTITION OF public.bench_orders FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE bench_here.bench_orders_1 PARTITION OF public.bench_orders FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT shardkit.assign_slots('bench', '{0,1}', 'here');
INSERT INTO shardkit.map_table (map, relation, key, key_types, kind)
	VALUES ('bench', 'public.bench_orders', 'user_id', ARRAY['bigint'::regtype], 'per_slot');
INSERT INTO public.bench_orders SELECT g, g / 10, g * 1.25, 'order number ' || g || repeat('.', g::int % 40)
	FROM generate_series(1, 2 * $slot_rows) AS g;
ALTER TABLE bench_here.bench_orders_0 ADD PRIMARY KEY (id);
ALTER TABLE bench_here.bench_orders_1 ADD PRIMARY KEY (id);
VACUUM ANALYZE bench_here.bench_orders_0;
SQL
psql -Xq -d bench_server -c 'CREATE TABLE piped (id bigint PRIMARY KEY, user_id bigint NOT NULL,
	amount numeric, note text, made timestamptz NOT NULL)'

# Milliseconds of a command.
clock() {
	local start
	start=$(date +%s%N)
	"$@"
	echo $((($(date +%s%N) - start) / 1000000))
}

# A session has been connected to both sides before: what is measured is the rows.
pipe() {
	psql -Xq -c 'COPY bench_here.bench_orders_0 TO STDOUT' |
		psql -Xq -d bench_server -c 'COPY piped FROM STDIN'
}

move_slot() {
	psql -Xq -c "CALL shardkit.move_server_slot('bench', 0, '$1')" > /dev/null
}

median_of() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

folder=$(mktemp -d)
for ((round = 1; round <= server_rounds; ++round)); do
	psql -Xq -d bench_server -c 'TRUNCATE piped' -c CHECKPOINT
	clock pipe >> "$folder/pipe"
	psql -Xq -c CHECKPOINT
	clock move_slot there >> "$folder/there"
	move_slot here
done
pipe_ms=$(median_of < "$folder/pipe")
move_ms=$(median_of < "$folder/there")
rm -r "$folder"
moved=$(psql -XAtqc "SELECT rows FROM shardkit.move_log WHERE to_node = 'there' LIMIT 1")
report "a slot of $moved rows to a server, verified, over a pipe" "0.5 x" "0.9 x" \
	"$(calculate 2 "$pipe_ms / $move_ms") x ($move_ms ms, pipe $pipe_ms ms)"
