# Writers that are open when a move begins, and others that it must not lose: nothing that was
# acknowledged is lost, nothing lands where it does not belong, and each gets the answer it should.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use Servers;

my $stand = Servers->new(servers => 3, slots => 4, rows => 400, owners => 2);
my $rows = 400;

sub key_of {
	my ($slot) = @_;
	return $stand->query("SELECT g FROM generate_series(1, 10000) g WHERE "
		  . "shardkit.partition_slot(4, g::bigint) = $slot LIMIT 1");
}
my %key = map { $_ => key_of($_) } 0 .. 3;

sub session { return $stand->coordinator->background_psql('postgres', on_error_stop => 0) }

sub start_move {
	my ($slot, $node, $wait) = @_;
	$wait //= '20 seconds';
	return $stand->start("CALL shardkit.move_server_slot('orders', $slot, '$node', '$wait')");
}

sub is_whole { my ($name) = @_; is($stand->query('SELECT count(*) FROM orders'), $rows, $name); return }

# --- open before the mover starts ----------------------------------------------------------

my $writer = session();
$writer->query("BEGIN; INSERT INTO orders VALUES (1001, $key{0}, 'open')");
my $move = start_move(0, 'n3');
sleep 0.5;
is($stand->owner(0), 'n1', 'an open writer keeps the slot where it is');
$writer->query('COMMIT');
$rows++;
my ($code, $err) = $stand->finish($move);
is($code, 0, 'the move went on after its commit') or diag $err;
is($stand->query('SELECT count(*) FROM n3.orders_0 WHERE id = 1001'), 1, 'with its row');
is_whole('all rows');

# --- past the fence of a mover that died, and then a second mover ----------------------------

$move = $stand->start_paused('fence', 1, 'n3');
$stand->query("SELECT pg_terminate_backend($move->{pid}, 5000)");
$stand->open_gate;
$stand->finish($move);
$writer->query("BEGIN; INSERT INTO orders VALUES (1002, $key{1}, 'past the fence')");
my $resume = $stand->start("CALL shardkit.resume_moves('orders')");
sleep 0.3;
$writer->query('COMMIT');
$rows++;
$stand->finish($resume);
$stand->try("CALL shardkit.resume_moves('orders')");
$move = start_move(1, 'n3');
($code, $err) = $stand->finish($move);
is($code, 0, 'the next mover does it') or diag $err;
is($stand->query('SELECT count(*) FROM n3.orders_1 WHERE id = 1002'), 1, 'with the row past the fence');
is_whole('all rows');

# --- while the rows are on their way --------------------------------------------------------

$move = $stand->start_paused('copy', 2, 'n3');
my ($failed, $out, $why);
($failed, $out, $why) = $stand->try("\\set VERBOSITY verbose\nINSERT INTO orders VALUES (1, $key{2}, 'x')");
like($why, qr/40001.*in transit/s, 'INSERT into a slot in transit: 40001');
($failed, $out, $why) = $stand->try("\\set VERBOSITY verbose\nSET session_replication_role = replica; "
	  . "DELETE FROM orders WHERE user_id = $key{2}");
like($why, qr/40001.*in transit/s, 'DELETE in the replica role: 40001');
($failed, $out, $why) = $stand->try("\\set VERBOSITY verbose\nUPDATE orders SET note = 'x' WHERE user_id = $key{2}");
like($why, qr/40001.*in transit/s, 'UPDATE: 40001');
($failed, $out, $why) = $stand->try("INSERT INTO orders VALUES (1003, $key{3}, 'another slot')");
is($failed, 0, 'another slot is written as ever') or diag $why;
$rows++;
is_whole('readers see every row');
$stand->open_gate;
($code, $err) = $stand->finish($move);
is($code, 0, 'the move is done') or diag $err;
is_whole('all rows');

# --- by the partition's own name, after the swap --------------------------------------------

($failed, $out, $why) = $stand->try("\\set VERBOSITY verbose\nINSERT INTO n1.orders_2 VALUES (1, $key{2})");
like($why, qr/42P01/, 'the old partition is not there for anybody');
$stand->try("CALL shardkit.move_server_slot('orders', 2, 'home')");
$move = $stand->start_paused('swap', 2, 'n1');
my $kept = $stand->query("SELECT c.oid::regclass FROM pg_class c WHERE c.relname ~ 'orders_2_moved'");
($failed, $out, $why) = $stand->try("\\set VERBOSITY verbose\nINSERT INTO $kept VALUES (1, $key{2})");
like($why, qr/40001.*have moved/s, 'an old local table refuses: 40001');
$stand->open_gate;
$stand->finish($move);
is($stand->orphans, '', 'nothing is left behind');

# --- a commit that arrives over there after its backend was killed ---------------------------

# Another session on the server stands for it: its transaction is open over there, nobody here.
my $late = $stand->server(2)->background_psql('postgres', on_error_stop => 0);
$late->query("BEGIN; INSERT INTO n2.orders_3 VALUES (1004, $key{3}, 'late')");
$move = start_move(3, 'n3');
sleep 0.5;
is($stand->owner(3), 'n2', 'a transaction on the source keeps the slot where it is');
$late->query('COMMIT');
$rows++;
($code, $err) = $stand->finish($move);
is($code, 0, 'the move went on after its commit') or diag $err;
is($stand->query('SELECT count(*) FROM n3.orders_3 WHERE id = 1004'), 1, 'with its row');
is_whole('all rows');
$late->quit;

# --- users whom a mover has to make way for --------------------------------------------------

$move = $stand->start_paused('copy', 0, 'n1');
my $truncate = $stand->start('BEGIN; TRUNCATE orders; ROLLBACK');
my $index = $stand->start('CREATE INDEX ON orders (at)');
sleep 0.3;
$stand->open_gate;
my ($moved, $moved_err) = $stand->finish($move);
isnt($moved, 0, 'the mover gives way to TRUNCATE');
like($moved_err, qr/55P03.*another session waits/s, 'and says for whom');
($code, $err) = $stand->finish($truncate);
is($code, 0, 'TRUNCATE of the parent goes through') or diag $err;
($code, $err) = $stand->finish($index);
is($code, 0, 'CREATE INDEX on the parent goes through') or diag $err;
is($stand->owner(0), 'n3', 'the slot stays');
is($stand->orphans, '', 'nothing is left behind');
is_whole('all rows');

# --- an UPDATE of the key --------------------------------------------------------------------

($failed, $out, $why) = $stand->try("\\set VERBOSITY verbose\n"
	  . "UPDATE orders SET user_id = $key{1} WHERE user_id = $key{0}");
like($why, qr/23514|0A000/, 'an UPDATE of the key to another slot is refused');
is_whole('all rows');
is($stand->query('SELECT count(*) FROM orders o WHERE tableoid::regclass::text NOT LIKE '
	  . "'%orders\\_' || shardkit.partition_slot(4, user_id)"), 0, 'every row is in its slot');
$writer->quit;
done_testing();
