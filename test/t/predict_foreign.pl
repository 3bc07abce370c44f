# Foreign partitions in eight databases: the published figures to the row, counted over there where
# the servers list shardkit, with nothing but the key travelling where they do not. Then what only
# a process shows: flat memory, and a cancel that answers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('predict_foreign');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
my ($socket, $port) = ($node->host, $node->port);

$node->safe_psql('postgres', 'CREATE EXTENSION shardkit; CREATE EXTENSION postgres_fdw;
	CREATE TABLE orders (id bigint, user_id bigint NOT NULL, amount int) PARTITION BY HASH (user_id)');
for my $i (0 .. 7) {
	$node->safe_psql('postgres', "CREATE DATABASE shard_$i");
	$node->safe_psql("shard_$i", 'CREATE EXTENSION shardkit; CREATE TABLE orders (id bigint, user_id bigint NOT NULL, amount int)');
	$node->safe_psql('postgres', qq{
		CREATE SERVER shard_$i FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$socket', port '$port', dbname 'shard_$i', batch_size '5000', extensions 'shardkit');
		CREATE USER MAPPING FOR CURRENT_USER SERVER shard_$i;
		CREATE FOREIGN TABLE orders_$i PARTITION OF orders FOR VALUES WITH (MODULUS 8, REMAINDER $i)
			SERVER shard_$i OPTIONS (table_name 'orders')});
}
$node->safe_psql('postgres', q{
	INSERT INTO orders SELECT i, 1 + i % 20000, i % 100 FROM generate_series(0, 199999) AS i;
	CREATE TABLE flat AS SELECT * FROM orders;
	ANALYZE flat});

sub ask { return $node->safe_psql('postgres', shift) }

# The query of a prediction, explained.
sub remote_sql
{
	my $query = ask("SELECT replace(shardkit.predict_query('orders', 'user_id'), '\$1',
		quote_literal(shardkit_internal.tally_plan('{modulo(8)}', '{modulo(9)}')) || '::bytea')");
	return join "\n", grep { /Remote SQL/ } split /\n/, ask("EXPLAIN (VERBOSE, COSTS OFF) $query");
}

sub check_figures
{
	my $how = shift;
	is(ask(q{SELECT rows, rows_moved, share_moved FROM shardkit.predict_modulus_change('orders', 9)}),
		'200000|177100|0.8855', "$how: 177,100 of 200,000 rows for modulus 9");
	is(ask(q{SELECT rows_before, rows_copied, share_copied, rows_seen_in_transit, largest_over_smallest FROM shardkit.predict_split('orders_0')}),
		'24770|12670|0.06335|212670|2.124', "$how: partition 0 split");
	is(ask(q{SELECT bool_and(b.rows = c.n) AND count(*) = 8 FROM shardkit.predict_balance('orders', 'user_id', 'modulo(8)') AS b
			JOIN (SELECT 'node-' || substr(tableoid::regclass::text, 8) AS node, count(*) AS n FROM orders GROUP BY 1) AS c USING (node)}),
		't', "$how: rows a node are count(*) a partition");
	for my $pair ("'ring(8)', 'ring(9)'", "'jump(5)', 'rendezvous(7)'", "'slots(8)', 'ranges(8)'") {
		is(ask("SELECT array_agg((f.from_node, f.to_node, f.rows, f.weight)) = (SELECT array_agg((g.from_node, g.to_node, g.rows, g.weight))
				FROM shardkit.predict_flows('flat', 'user_id', $pair, weight => 'amount') AS g)
			FROM shardkit.predict_flows('orders', 'user_id', $pair, weight => 'amount') AS f"), 't', "$how: $pair as from a local table");
	}
	is(ask(q{SELECT array_agg(c) = (SELECT array_agg(d) FROM shardkit.compare_strategies('flat', 'user_id', 8, 9) AS d)
		FROM shardkit.compare_strategies('orders', 'user_id', 8, 9) AS c}), 't', "$how: strategies as from a local table");
	is(ask(q{SELECT keys_moved FROM shardkit.predict_churn('orders', 'user_id', 'modulo(8)', 'modulo(9)', count_keys => true)}),
		'17710', "$how: keys counted");
}

check_figures('shipped');
my $shipped = remote_sql();
is(scalar(() = $shipped =~ /Remote SQL: SELECT shardkit_internal\.tally\(E'\\\\x[0-9a-f]+'::bytea, NULL::double precision, user_id\) FROM public\.orders$/mg), 8,
	'each server counts its own rows') or diag $shipped;
unlike($shipped, qr/SELECT user_id FROM/, 'and sends no keys');

# A foreign table that declares its key otherwise than it is would be hashed otherwise.
$node->safe_psql('shard_0', 'CREATE TABLE odd AS SELECT id::numeric AS user_id, user_id::int AS small FROM orders');
ask("CREATE FOREIGN TABLE odd (user_id bigint, small bigint) SERVER shard_0");
my ($code, $out, $err) = $node->psql('postgres', q{SELECT shardkit.predict_churn('odd', 'user_id', 'modulo(8)', 'modulo(9)')});
like($err, qr/key column 1 is numeric here/, 'another type over there is an error');
is(ask(q{SELECT rows FROM shardkit.predict_churn('odd', 'small', 'modulo(8)', 'modulo(9)')}), '24770', 'a smaller integer is none');

# One foreign table alone.
is(ask(q{SELECT rows FROM shardkit.predict_churn('orders_0', 'user_id', 'modulo(8)', 'modulo(9)')}), '24770', 'one foreign table');

ask("ALTER SERVER shard_$_ OPTIONS (DROP extensions)") for 0 .. 7;
check_figures('fetched');
my $fetched = remote_sql();
is(scalar(() = $fetched =~ /Remote SQL: SELECT user_id FROM public\.orders$/mg), 8, 'otherwise only the key travels') or diag $fetched;

($code, $out, $err) = $node->psql('postgres', q{SELECT shardkit.predict_churn('orders', 'user_id', 'modulo(8)', 'modulo(9)', sample_percent => 10)});
like($err, qr/cannot be sampled/, 'foreign tables cannot be sampled');

# Row security on the parent: partitions are not asked behind its back.
ask("ALTER SERVER shard_$_ OPTIONS (ADD extensions 'hstore, shardkit')") for 0 .. 7;
like(remote_sql(), qr/shardkit_internal\.tally/, 'a list of extensions is read');
ask(q{CREATE ROLE reader; GRANT SELECT ON orders TO reader; ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
	CREATE POLICY few ON orders FOR SELECT TO reader USING (user_id <= 100)});
ask("CREATE USER MAPPING FOR reader SERVER shard_$_ OPTIONS (user '" . $node->safe_psql('postgres', 'SELECT current_user') . "', password_required 'false')") for 0 .. 7;
is(ask(q{SET ROLE reader; SELECT rows FROM shardkit.predict_modulus_change('orders', 9)}), '1000', 'row security of the parent holds');

# Memory: the peak of the process does not grow with the table, but for work_mem.
ask(q{CREATE TABLE big AS SELECT i AS k, md5(i::text) AS t FROM generate_series(1, 500000) AS i; CREATE TABLE small AS SELECT * FROM big LIMIT 20000; ANALYZE});
my $temporary = 'SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()';
my $before = ask($temporary);
for my $call (
	"shardkit.predict_churn('%s', 'k', 'ring(9)', 'ring(12)')",
	"shardkit.predict_churn('%s', 't', 'modulo(9)', 'modulo(12)', hash => 'blake2b')",
	"shardkit.compare_strategies('%s', 't', 9, 12)",
	"shardkit.hot_keys('%s', 'k')") {
	my %peak;
	for my $table ('small', 'big') {
		$peak{$table} = ask(sprintf(q{SET max_parallel_workers_per_gather = 0; SET client_min_messages = error;
			DO $$BEGIN PERFORM %s; END$$; SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)')}, sprintf($call, $table)));
	}
	cmp_ok($peak{big} - $peak{small}, '<', 8192, "flat memory, kB: $call");
}
is(ask($temporary), $before, 'no temporary file unless keys are counted');

# Cancel: ten thousand million rows.
ask('CREATE VIEW endless AS SELECT a * b AS k FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b');
for my $call ("shardkit.compare_strategies('endless', 'k', 8, 9)", "shardkit.hot_keys('endless', 'k')",
	"shardkit.predict_churn('endless', 'k', 'ring(8)', 'ring(9)', hash => 'sha256')") {
	my $start = time;
	($code, $out, $err) = $node->psql('postgres', "SET statement_timeout = '500ms'; SELECT $call");
	like($err, qr/canceling statement due to statement timeout/, "cancelled: $call");
	cmp_ok(time - $start, '<', 2.5, 'within a second or so');
}

done_testing();
