# What a mover holds while it waits: nothing that a user can wait for, and no snapshot.
use strict;
use warnings;
use lib 'test/t';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = PostgreSQL::Test::Cluster->new('move_wait');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_prepared_transactions = 5\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION shardkit;
SELECT shardkit.create_map('orders', 8, ARRAY['a', 'b']);
CREATE TABLE template (id int PRIMARY KEY, user_id int);
SELECT shardkit.add_table('orders', 'orders', 'user_id', template => 'template');
DO $$ BEGIN
	FOR k IN 1 .. 1000 LOOP
		EXECUTE format('INSERT INTO %I.orders VALUES ($1, $1)', shardkit.node_of('orders', k)) USING k;
	END LOOP;
END $$;
SQL

my $watcher = Session->new($node);

# Samples the mover until the code says stop, and answers what was seen, each state once.
sub watch {
	my ($mover, $seconds) = @_;
	my %seen;
	my $end = time + $seconds;
	while (time < $end) {
		$seen{ $watcher->query(<<"SQL") }++;
SELECT coalesce(wait_event_type, 'none') || ' xmin=' || coalesce(backend_xmin::text, 'null') || ' granted='
	|| coalesce((SELECT string_agg(DISTINCT locktype || CASE WHEN locktype = 'object' THEN ':' || classid::regclass ELSE '' END, ',')
		FROM pg_locks l WHERE l.pid = a.pid AND granted AND locktype <> 'virtualxid'), '')
FROM pg_stat_activity a WHERE pid = $mover->{pid}
SQL
		sleep 0.01;
	}
	return \%seen;
}

# 1. A writer holds the source's lock: the mover waits its turn, again and again.
my $writer = Session->new($node);
my $mover = Session->new($node);
$writer->query('BEGIN; INSERT INTO a.orders SELECT 2000, k FROM generate_series(1, 100) k WHERE shardkit.node_of(\'orders\', k) = \'a\' LIMIT 1');
$mover->send("CALL shardkit.move_rows('orders', ARRAY[0, 1], 'b', max_wait => '20 s')");
my $seen = watch($mover, 1.5);
my @states = keys %$seen;
note "$_: $seen->{$_}" for sort @states;
ok((grep { /^Lock/ } @states), 'the mover was seen waiting for a lock');
ok(!(grep { /^Lock/ && !/xmin=null/ } @states), 'it never had a snapshot while it waited');
ok(!(grep { /granted=.*relation/ } grep { /^Lock/ } @states), 'and no lock on a table');
ok(!(grep { /granted=.*shardkit\.(map|slot_map)\b/ } @states), 'nor on the map or an owner');

# Others go on meanwhile: a reader at once, another writer within a moment.
my $start = time;
is($watcher->query('SELECT count(*) > 400 FROM a.orders'), 't', 'a reader reads');
cmp_ok(time - $start, '<', 0.1, 'without waiting');
$start = time;
is($watcher->query('UPDATE a.orders SET id = id WHERE id < 50'), '', 'another writer writes');
cmp_ok(time - $start, '<', 0.9, 'within a moment');
ok($mover->busy, 'the mover still waits');
# In its pauses it holds no owner, and a router is refused all the same.
my @routed = map { sleep 0.02; $watcher->query("SELECT shardkit.require_slot('orders', 1, 0)") } 1 .. 40;
is((grep { /slot 0 of map "orders" is in transit\nDETAIL:  It is being moved by process $mover->{pid}\./ } @routed), 40, 'no router gets its slot meanwhile');
is($watcher->query("SELECT pid = $mover->{pid}, map, slots_total, slots_done, phase FROM shardkit.move_progress"),
	't|orders|2|0|waiting', 'and move_progress says so');
$writer->query('COMMIT');
is($mover->wait, $watcher->query("SELECT count(*) FROM b.orders WHERE shardkit.partition_slot(8, user_id) IN (0, 1)"),
	'the writer done, all rows move, its new one too');
is($watcher->query("SELECT count(*) FROM a.orders WHERE shardkit.partition_slot(8, user_id) IN (0, 1)"), '0', 'none is left');

# 2. It gives up, and names who holds what.
$writer->query('BEGIN; UPDATE a.orders SET id = id WHERE id = (SELECT min(id) FROM a.orders)');
$start = time;
like($mover->query("CALL shardkit.move_rows('orders', ARRAY[2], 'b', max_wait => '500 ms')"),
	qr/55P03: gave up moving .*table a\.orders is locked by process $writer->{pid}\b/, 'the mover gives up naming the holder');
cmp_ok(time - $start, '<', 3, 'after max_wait');
is($watcher->query("SELECT count(*) FROM shardkit.move_log WHERE slot = 2"), '0', 'and nothing has happened');

# 3. Cancel answers at once.
$mover->send("CALL shardkit.move_rows('orders', ARRAY[2], 'b')");
sleep 0.5;
$start = time;
$watcher->query("SELECT pg_cancel_backend($mover->{pid})");
like($mover->wait, qr/57014/, 'a waiting mover can be cancelled');
cmp_ok(time - $start, '<', 0.5, 'at once');
$mover->query("SET statement_timeout = '300 ms'");
like($mover->query("CALL shardkit.move_rows('orders', ARRAY[2], 'b')"), qr/57014/, 'statement_timeout ends it too');
$mover->query('RESET statement_timeout');

# 4. A prepared transaction holds the lock.
$writer->query("PREPARE TRANSACTION 'holder'");
like($mover->query("CALL shardkit.move_rows('orders', ARRAY[2], 'b', max_wait => '300 ms')"),
	qr/is locked by a prepared transaction/, 'a prepared transaction is named');
$watcher->query("COMMIT PREPARED 'holder'");

# 5. Another mover of the same slot: an error at once, whenever it comes, naming the first.
$writer->query('BEGIN; UPDATE a.orders SET id = id WHERE id = (SELECT min(id) FROM a.orders)');
$mover->send("CALL shardkit.move_rows('orders', ARRAY[2, 3], 'b')");
sleep 0.3;
my $second = Session->new($node);
my ($named, $tries) = ('', 0);
$start = time;
$named = $second->query("CALL shardkit.move_rows('orders', ARRAY[3], 'b')");
like($named, qr/55006: slot 3 of map "orders" is being moved by process $mover->{pid}\b/, 'the second mover of a slot learns who the first is');
cmp_ok(time - $start, '<', 1, 'at once');

# 6. In a caller's transaction block it waits too, and says what that means.
$second->query('BEGIN');
like($second->query("CALL shardkit.move_rows('orders', ARRAY[4], 'a', max_wait => '300 ms')"),
	qr/gave up.*The transaction kept its own locks/s, 'inside a transaction block');
$second->query('ROLLBACK');
$writer->query('COMMIT');
like($mover->wait, qr/^\d+$/, 'the first mover moves');

# 7. From a procedure and a DO block that may commit.
$watcher->query(<<'SQL');
CREATE PROCEDURE nightly(INOUT moved bigint DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
	COMMIT;
	CALL shardkit.move_rows('orders', ARRAY[0, 1, 2, 3], 'a', batch_slots => 1, rows_moved => moved);
END $$
SQL
$writer->query('BEGIN; INSERT INTO b.orders SELECT 2001, k FROM generate_series(1, 100) k WHERE shardkit.node_of(\'orders\', k) = \'b\' LIMIT 1');
$mover->send('CALL nightly()');
$seen = watch($mover, 0.7);
@states = keys %$seen;
note "$_: $seen->{$_}" for sort @states;
ok((grep { /^Lock/ } @states), 'called from a procedure that committed, the mover waits');
ok(!(grep { /^(?:Lock|Extension)/ && !/xmin=null/ } @states), 'without a snapshot while it waits');
$writer->query('COMMIT');
like($mover->wait, qr/^\d+$/, 'and moves');
is($watcher->query("SELECT count(DISTINCT epoch) FROM shardkit.move_log WHERE to_node = 'a'"), '4', 'a transaction a batch');

# 8. A writer at the old owner waits, and is then told the new owner.
$writer->query('BEGIN; SELECT pg_advisory_xact_lock(1)');
is($watcher->query("SELECT count(*) FROM shardkit.slot_map WHERE node = 'a' AND slot < 4"), '4', 'four slots are back');
$mover->query('BEGIN');
$mover->query("CALL shardkit.move_rows('orders', ARRAY[0], 'b')");
my $key = $watcher->query("SELECT k FROM generate_series(1, 1000) k WHERE shardkit.slot_of('orders', k) = 0 LIMIT 1");
$second->send("INSERT INTO a.orders VALUES (5000, $key)");
sleep 0.3;
ok($second->busy, 'a writer at the old owner waits for the move');
$mover->query('COMMIT');
like($second->wait, qr/SK001/, 'and then learns that the owner is another');
is($watcher->query("INSERT INTO b.orders VALUES (5000, $key)"), '', 'where it is welcome');
is($watcher->query('SELECT count(*) FROM (SELECT * FROM a.orders UNION SELECT * FROM b.orders) o'), '1003', 'every row is there once');
is($watcher->query('SELECT count(*) FROM (SELECT * FROM a.orders UNION ALL SELECT * FROM b.orders) o'), '1003', 'and not twice');

# 9. A map that is dropped and made anew while a command waits for it: the new one is changed.
$writer->query("BEGIN; SELECT shardkit.drop_map('orders'); SELECT shardkit.create_map('orders', 4, ARRAY['c'])");
$second->send("SELECT shardkit.add_node('orders', 'd')");
sleep 0.3;
ok($second->busy, 'a command waits for the end of another');
$writer->query('COMMIT');
is($second->wait, '2', 'and changes the map of that name that is there then');
is($watcher->query("SELECT string_agg(name, ',' ORDER BY name) FROM shardkit.node WHERE map = 'orders'"), 'c,d', 'to which it belongs');

# 10. The parent of a partition: max_wait holds for it too, and the mover waits without a snapshot.
$watcher->query(<<'SQL');
CREATE TABLE model (id bigint PRIMARY KEY);
SELECT shardkit.create_map('parts', 4, ARRAY['e', 'f']);
SELECT shardkit.add_table('parts', 'parts', 'id', 'per_slot', template => 'model');
SQL
$writer->query('BEGIN; LOCK TABLE parts IN ACCESS EXCLUSIVE MODE');
like($second->query("CALL shardkit.move_rows('parts', ARRAY[0], 'f', max_wait => '300 ms')"),
	qr/55P03.*table public\.parts is locked by process \d+/s, 'a locked parent is named after max_wait');
$mover->send("CALL shardkit.move_rows('parts', ARRAY[0], 'f', max_wait => '20 s')");
$seen = watch($mover, 3);
ok(!(grep { /^(?:Lock|Extension)/ && !/xmin=null/ } keys %$seen), 'waiting for the parent holds no snapshot');
$writer->query('COMMIT');
is($mover->wait, '0', 'and the slot moves when it is free, later than any fixed time');
is($watcher->query("SELECT shardkit.slot_node('parts', 0)"), 'f', 'to its new owner');

$_->close for $writer, $mover, $second, $watcher;
$node->stop;
done_testing();
