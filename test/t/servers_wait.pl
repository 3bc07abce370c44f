# A move that runs out of patience undoes itself and names who was in the way; readers see every
# row throughout, in old transactions too.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);
use Servers;

my $rows = 400;
my $stand = Servers->new(servers => 3, slots => 4, rows => $rows, owners => 2);

sub session { return $stand->coordinator->background_psql('postgres', on_error_stop => 0) }
sub pid_of { return $_[0]->query('SELECT pg_backend_pid()') }

sub try_move {
	my ($slot, $node, $wait) = @_;
	return $stand->finish($stand->start(
		"CALL shardkit.move_server_slot('orders', $slot, '$node', '$wait')"));
}

# --- an idle transaction that touched the target before the rows came: step 4 -----------------

my $foreign = 'CREATE FOREIGN TABLE public.elsewhere (x int) SERVER s3 OPTIONS (schema_name '
  . "'public', table_name 'elsewhere')";
$stand->server(3)->safe_psql('postgres', 'CREATE TABLE public.elsewhere (x int)');
$stand->query($foreign);
my $old = session();
my $pid = pid_of($old);
$old->query('BEGIN; SELECT count(*) FROM public.elsewhere');
my ($code, $err) = try_move(0, 'n3', '1 second');
isnt($code, 0, 'a transaction that knows the target from before keeps the swap off');
like($err, qr/55P03.*process $pid/s, 'it is named');
is($stand->owner(0), 'n1', 'the slot stays');
is($stand->orphans, '', 'nothing is left behind');
is($stand->query("SELECT state FROM shardkit.move_log ORDER BY id DESC LIMIT 1"), 'undone', 'the log says undone');
my ($failed, $out, $why) = $stand->try("UPDATE orders SET note = 'still writable'");
is($failed, 0, 'the slot is written as before') or diag $why;

# The same transaction counts while a move waits for it, and after it gave up.
my $move = $stand->start("CALL shardkit.move_server_slot('orders', 0, 'n3', '20 seconds')");
sleep 0.5;
is($old->query('SELECT count(*) FROM orders'), $rows, 'it sees every row while the move waits');
$old->query('COMMIT');
($code, $err) = $stand->finish($move);
is($code, 0, 'and once it has ended the slot moves') or diag $err;
is($stand->owner(0), 'n3', 'to its new owner');

# --- a transaction that read the parent after the rows came: step 5 ---------------------------

$move = $stand->start_paused('settle', 1, 'n3');
$old->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM orders');
$stand->open_gate;
my $started = time;
my $longest = 0;
while ($move->{handle}->pumpable) {
	my $before = time;
	$stand->query('SELECT count(*) FROM orders');
	$longest = time - $before if time - $before > $longest;
	last if time - $started > 30;
	eval { $move->{handle}->pump_nb };
}
($code, $err) = $stand->finish($move);
isnt($code, 0, 'a transaction that read the table keeps the swap off');
like($err, qr/55P03.*$pid/s, 'it is named');
cmp_ok($longest, '<', 1.5, "no other reader waited long: $longest s");
is($old->query('SELECT count(*) FROM orders'), $rows, 'it sees every row');
is($stand->owner(1), 'n2', 'the slot stays');
($failed, $out, $why) = $stand->try("UPDATE orders SET note = 'still writable'");
is($failed, 0, 'the slot is written as before') or diag $why;
$old->query('COMMIT');
$stand->try("CALL shardkit.resume_moves('orders')");
is($stand->orphans, '', 'nothing is left behind');

# --- progress, as another session sees it ------------------------------------------------------

$stand->close_gate;
$move = $stand->start([ "SET shardkit.pause_after = 'copy'",
		"CALL shardkit.move_rows('orders', '{1}', 'n3', max_wait => '10 seconds')" ]);
$stand->wait_at_gate;
is($stand->query("SELECT map || ' ' || relation || ' ' || (rows_done = (SELECT count(*) FROM n2.orders_1)) "
	  . "|| ' ' || (bytes_done > 0) FROM shardkit.move_progress"), 'orders n2.orders_1 true true', 'progress is seen');
$stand->open_gate;
($code, $err) = $stand->finish($move);
is($code, 0, 'of a move that ends well') or diag $err;
$stand->try("CALL shardkit.move_rows('orders', '{1}', 'n2')");

# --- cancelled --------------------------------------------------------------------------------

$move = $stand->start_paused('copy', 1, 'n3');
$stand->query("SELECT pg_cancel_backend($move->{pid})");
$started = time;
($code, $err) = $stand->finish($move);
cmp_ok(time - $started, '<', 3, 'a cancel is answered at once');
like($err, qr/57014/, 'as a cancel');
$stand->open_gate;
is($stand->orphans, '', 'and leaves nothing behind');
is($stand->query('SELECT count(*) FROM orders'), $rows, 'all rows');

# --- what is refused beforehand ---------------------------------------------------------------

($failed, $out, $why) = $stand->try("BEGIN; CALL shardkit.move_server_slot('orders', 1, 'n3'); COMMIT");
like($why, qr/transaction block/, 'not in a transaction block');
($failed, $out, $why) = $stand->try("SET default_transaction_isolation = 'repeatable read'; "
	  . "CALL shardkit.move_server_slot('orders', 1, 'n3')");
like($why, qr/READ COMMITTED/, 'not with frozen snapshots');
($failed, $out, $why) = $stand->try("CALL shardkit.move_server_slot('orders', 9, 'n3')");
like($why, qr/slots 0 to 3/, 'no such slot');
($failed, $out, $why) = $stand->try("CALL shardkit.move_server_slot('orders', 1, NULL)");
like($why, qr/must not be null/, 'no NULL');
$move = $stand->start_paused('copy', 1, 'n3');
($failed, $out, $why) = $stand->try("CALL shardkit.move_server_slot('orders', 1, 'home')");
like($why, qr/is being moved by process $move->{pid}/, 'not two at once');
($failed, $out, $why) = $stand->try("CALL shardkit.resume_moves('orders')");
like($why, qr/NOTICE.*is being moved/, 'resume_moves leaves a running move alone');
$stand->open_gate;
($code, $err) = $stand->finish($move);
is($code, 0, 'which ends well') or diag $err;
$old->quit;

# --- who is no superuser: a password that the servers ask for, and no more rights than needed ---

for my $number (2, 3) {
	my $server = $stand->server($number);
	$server->safe_psql('postgres', "CREATE ROLE mover LOGIN PASSWORD 'secret'; CREATE SCHEMA IF NOT EXISTS n$number; "
		  . "GRANT USAGE, CREATE ON SCHEMA n$number TO mover");
	$server->safe_psql('postgres', "SELECT format('ALTER TABLE %I.%I OWNER TO mover', schemaname, tablename) "
		  . "FROM pg_tables WHERE schemaname = 'n$number' \\gexec");
	my $hba = slurp_file($server->data_dir . '/pg_hba.conf');
	open my $file, '>', $server->data_dir . '/pg_hba.conf' or die;
	print $file "local all mover scram-sha-256\n$hba";
	close $file;
	$server->reload;
}
$stand->query(<<'SQL');
CREATE ROLE mover LOGIN;
GRANT USAGE ON SCHEMA shardkit TO mover;
GRANT USAGE ON FOREIGN SERVER s1, s2, s3 TO mover;
CREATE USER MAPPING FOR mover SERVER s2 OPTIONS (user 'mover', password 'secret');
CREATE USER MAPPING FOR mover SERVER s3 OPTIONS (user 'mover');
GRANT USAGE, CREATE ON SCHEMA n2, n3, home TO mover;
ALTER TABLE orders OWNER TO mover;
UPDATE shardkit.map SET owner = 'mover';
SQL
$stand->query("SELECT format('ALTER FOREIGN TABLE %s OWNER TO mover', i.inhrelid::regclass) FROM pg_inherits i "
	  . "WHERE i.inhparent = 'orders'::regclass \\gexec");

sub try_as_mover {
	my ($sql) = @_;
	return $stand->try($sql, extra_params => [ '-U', 'mover' ]);
}
($failed, $out, $why) = try_as_mover("CALL shardkit.move_rows('orders', '{3}', 'n3')");
like($why, qr/password is required/, 'who is no superuser needs a password');
$stand->query("ALTER USER MAPPING FOR mover SERVER s3 OPTIONS (ADD password 'wrong')");
($failed, $out, $why) = try_as_mover("CALL shardkit.move_rows('orders', '{3}', 'n3')");
like($why, qr/could not connect/, 'the right one');
$stand->query("ALTER USER MAPPING FOR mover SERVER s3 OPTIONS (SET password 'secret')");
for my $to (qw(n3 home n2)) {
	($failed, $out, $why) = try_as_mover("CALL shardkit.move_rows('orders', '{3}', '$to')");
	is($failed, 0, "and then moves to $to") or diag $why;
	is($stand->owner(3), $to, 'where the map says');
	is($stand->query('SELECT count(*) FROM orders'), $rows, 'all rows');
}
$stand->query('CREATE ROLE stranger LOGIN; GRANT USAGE ON SCHEMA shardkit TO stranger');
($failed, $out, $why) = $stand->try("CALL shardkit.move_rows('orders', '{3}', 'n3')", extra_params => [ '-U', 'stranger' ]);
like($why, qr/must belong to role "mover"/, 'a stranger does not move');
($failed, $out, $why) = $stand->try("CALL shardkit.resume_moves('orders')", extra_params => [ '-U', 'stranger' ]);
like($why, qr/must belong to role "mover"/, 'nor resume');
is($stand->orphans, '', 'nothing is left behind');
done_testing();
