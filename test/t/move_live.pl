# A ninth node joins eight while another session counts in a loop: 200,000 every time, for rows that
# travel and for partitions; beside it the same by copying and then deleting.
use strict;
use warnings;
use lib 'test/t';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes ();

my $node = PostgreSQL::Test::Cluster->new('move_live');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION shardkit;
CREATE TABLE shape (user_id bigint NOT NULL, order_id bigint NOT NULL, PRIMARY KEY (user_id, order_id));
SELECT shardkit.create_map('rows', 72, ARRAY['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']);
SELECT shardkit.add_table('rows', 'orders', 'user_id', template => 'shape');
SELECT shardkit.add_node('rows', 'p8');
CREATE TABLE wanted AS SELECT u::bigint AS user_id, (u - 1) * 10 + o AS order_id FROM generate_series(1, 20000) u, generate_series(1, 10) o;
DO $$ DECLARE place text; BEGIN
	FOR place IN SELECT name FROM shardkit.node WHERE name <> 'p8' LOOP
		EXECUTE format('INSERT INTO %1$I.orders SELECT * FROM wanted WHERE shardkit.node_of(''rows'', user_id) = %1$L', place);
	END LOOP;
END $$;
DO $$ BEGIN EXECUTE (SELECT 'CREATE VIEW all_rows AS ' || string_agg(format('SELECT * FROM %I.orders', name), ' UNION ALL ') FROM shardkit.node WHERE map = 'rows'); END $$;
SQL

my $counter = Session->new($node);
my $mover = Session->new($node);

# Counts until the mover is done; answers how often, and the counts that were seen.
sub count_during {
	my ($call, $query) = @_;
	my (%seen, $times);
	$mover->send($call);
	do {
		$seen{ $counter->query($query) }++;
		$times++;
	} while ($mover->busy);
	return ($mover->wait, $times, join ',', sort keys %seen);
}

my $planned = $counter->query("SELECT count(*) || ' ' || sum(rows) FROM shardkit.plan_rebalance('rows')");
my ($moved, $times, $seen) = count_during("CALL shardkit.rebalance('rows', batch_slots => 1)", 'SELECT count(*) FROM all_rows');
is($planned, "8 $moved", "8 of 72 slots, $moved rows: as planned");
is($seen, '200000', "per_node: 200,000 each of the $times times that it was counted");
is($counter->query("SELECT sum(rows) FROM shardkit.move_log WHERE map = 'rows'"), $moved, 'and as logged');

# The same as partitions.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE orders (LIKE shape INCLUDING ALL) PARTITION BY HASH (user_id);
SELECT shardkit.create_map('parts', 72, ARRAY['q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7']);
DO $$ BEGIN
	FOR k IN 0 .. 71 LOOP
		EXECUTE format('CREATE TABLE %I.orders_%s PARTITION OF orders FOR VALUES WITH (MODULUS 72, REMAINDER %s)', shardkit.slot_node('parts', k), k, k);
	END LOOP;
END $$;
SELECT shardkit.add_table('parts', 'public.orders', 'user_id', kind => 'per_slot');
INSERT INTO orders SELECT * FROM wanted;
CREATE INDEX ON orders (order_id);
ANALYZE orders;
SELECT shardkit.add_node('parts', 'q8');
SQL
is($counter->query("SELECT severity || ' ' || object || ' ' || problem FROM shardkit.preflight('parts', '{0}', 'q8')"),
	'bill q0.orders_0 goes to schema q8 as it is: no row is copied', 'preflight has the bill of a partition');
$counter->query('CREATE TABLE q8.orders_0 ()');
like($counter->query("SELECT severity || ' ' || object || ' ' || problem FROM shardkit.preflight('parts', '{0}', 'q8') WHERE severity = 'error'"),
	qr/^error q8.orders_0 it has the name/, 'and what is in its way');
like($mover->query("CALL shardkit.move_rows('parts', ARRAY[0], 'q8')"), qr/42P07/, 'which stops the move');
is($counter->query("SELECT node FROM shardkit.slot_map WHERE map = 'parts' AND slot = 0"), 'q0', 'and changes nothing');
$counter->query('DROP TABLE q8.orders_0');
my $statistics = "SELECT count(*), sum(reltuples) FROM pg_class WHERE relname ~ '^orders_[0-9]+\$' AND relkind = 'r'";
my $before = $counter->query($statistics);
($moved, $times, $seen) = count_during("CALL shardkit.rebalance('parts')", 'SELECT count(*) FROM orders');
is($counter->query("SELECT count(*) FROM shardkit.move_log WHERE map = 'parts' AND fingerprint_from = fingerprint_to AND fingerprint_to ~ '^relation [0-9]+\$'"), '8', "8 of 72 partitions move: $moved");
is($seen, '200000', "per_slot: 200,000 each of the $times times");
is($counter->query("SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'q8' AND relkind = 'r'"), '8', 'they lie in the new schema');
is($counter->query("SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'q8'::regnamespace AND indisvalid"), '16', 'with their indexes');
is($counter->query($statistics), $before, 'and statistics');
is($counter->query("SELECT count(*) FROM shardkit.plan_rebalance('parts')"), '0', 'nothing is left to move');

# A reader of a partition holds the mover off; another reader is not held up longer than a turn.
my $reader = Session->new($node);
$reader->query('BEGIN; SELECT count(*) FROM orders');
$mover->send("CALL shardkit.move_rows('parts', ARRAY[0], 'q8')");
my $worst = 0;
for (1 .. 20) {
	my $start = Time::HiRes::time();
	$counter->query('SELECT count(*) FROM orders WHERE user_id = (SELECT min(user_id) FROM wanted WHERE shardkit.partition_slot(72, user_id) = 0)');
	my $took = Time::HiRes::time() - $start;
	$worst = $took if $took > $worst;
}
ok($mover->busy, 'a reader holds the mover off');
cmp_ok($worst, '<', 0.9, 'while other readers wait for a turn at most');
$reader->query('COMMIT');
like($mover->wait, qr/^\d*$/, 'and lets it through');

# What copying and then deleting shows to the same counter: rows in transit are seen twice.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE naive (user_id bigint NOT NULL, order_id bigint) PARTITION BY HASH (user_id);
DO $$ BEGIN FOR k IN 0 .. 7 LOOP EXECUTE format('CREATE TABLE naive_%s PARTITION OF naive FOR VALUES WITH (MODULUS 8, REMAINDER %s)', k, k); END LOOP; END $$;
INSERT INTO naive SELECT * FROM wanted;
CREATE TABLE naive_8 (LIKE naive);
SQL
my $naive = 'SELECT (SELECT count(*) FROM naive) + (SELECT count(*) FROM naive_8)';
$counter->query('INSERT INTO naive_8 SELECT * FROM naive_0 WHERE shardkit.partition_slot(16, user_id) = 8');
is($counter->query($naive), '212670', 'copied and not yet deleted: 212,670');
$counter->query('DELETE FROM naive_0 WHERE shardkit.partition_slot(16, user_id) = 8');
is($counter->query($naive), '200000', 'deleted: 200,000 again');

$_->close for $counter, $mover, $reader;
$node->stop;
done_testing();
