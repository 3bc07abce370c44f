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

# Waits until the query answers yes.
sub poll { return $stand->coordinator->poll_query_until('postgres', $_[0]) }

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

# --- who is in the way, here and over there -----------------------------------------------------

# Where the rows of a slot lie on their server.
sub place_of {
	my ($slot) = @_;
	return $stand->query("SELECT string_agg(quote_ident(option_value), '.' ORDER BY option_name) FROM pg_foreign_table, "
		  . "pg_options_to_table(ftoptions) WHERE ftrelid::regclass::text ~ 'orders_$slot\$' AND option_name IN ('schema_name', 'table_name')");
}

my $step = 'SELECT state || coalesce(\': \' || error, \'\') FROM shardkit.move_log WHERE slot = 1 ORDER BY id DESC LIMIT 1';

# A writer of the coordinator: the fence is not raised; a cancel is obeyed while it is waited for.
$old->query("BEGIN; UPDATE orders SET hits = 1 WHERE tableoid = 'n2.orders_1'::regclass");
($code, $err) = try_move(1, 'n3', '300 ms');
like($err, qr/55P03: slot 1 .* table n2\.orders_1 is held by process $pid/, 'a writer keeps the fence off');
is($stand->orphans, '', 'nothing is left behind');
$move = $stand->start("CALL shardkit.move_server_slot('orders', 1, 'n3', '60 s')");
my $waits = "FROM pg_locks WHERE NOT granted AND mode = 'ShareRowExclusiveLock' AND relation = 'n2.orders_1'::regclass";
poll("SELECT count(*) > 0 $waits");
$stand->query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query ~ '60 s' AND pid <> pg_backend_pid()");
($code, $err) = $stand->finish($move);
like($err, qr/57014/, 'a cancel ends the wait for it');
$old->query('ROLLBACK');
is($stand->orphans, '', 'and leaves nothing behind');

# A writer past the coordinator: the source is not locked over there.
my $past = $stand->server(2)->background_psql('postgres');
my $there = $past->query('SELECT pg_backend_pid()');
$past->query('BEGIN; UPDATE ' . place_of(1) . ' SET hits = 2');
($code, $err) = try_move(1, 'n3', '300 ms');
like($err, qr/55P03: slot 1 .* table \S+ of server "s2" cannot be locked.*Processes there that hold it: $there\./s, 'a writer over there keeps the copy off');
$past->query('ROLLBACK');
is($stand->orphans, '', 'nothing is left behind');

# Somebody has the new table over there: the copy does not begin, and the try stays until it is free.
$move = $stand->start_paused('fence', 1, 'n3');
my $fresh = $stand->query("SELECT format('%I.%I', to_schema, to_table) FROM shardkit.server_move ORDER BY id DESC LIMIT 1");
my $nosy = $stand->server(3)->background_psql('postgres');
$nosy->query("BEGIN; LOCK TABLE $fresh");
$stand->open_gate;
($code, $err) = $stand->finish($move);
like($err, qr/WARNING.*not undone yet.*lock timeout.*ERROR:  55P03: on server "s3": canceling statement due to lock timeout/s, 'a table that is locked over there is not waited for');
$nosy->query('ROLLBACK');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->orphans, '', 'resumed, nothing is left behind');

# Readers of the old rows over there: the slot has moved, the rows stay for them.
$past->query('BEGIN; SELECT count(*) FROM ' . place_of(1));
($code, $err) = try_move(1, 'n3', '300 ms');
is($code, 0, 'a reader of the old rows over there does not keep the slot from moving') or diag $err;
like($err, qr/WARNING: .*slot 1 .* has moved, but its old rows stay for now/, 'but the old rows from going');
is($stand->owner(1), 'n3', 'it is there');
is($stand->query($step), 'swapped: the old rows are in use', 'the log says why they stay');
$move = $stand->start("CALL shardkit.resume_moves('orders', '60 s')");
$stand->server(2)->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ 'LOCK TABLE ONLY|SAVEPOINT old' AND pid <> pg_backend_pid()");
$stand->query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query ~ '60 s' AND pid <> pg_backend_pid()");
($code, $err) = $stand->finish($move);
like($err, qr/57014/, 'a cancel ends resume_moves');
$past->query('COMMIT');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->orphans, '', 'once they are read nothing is left behind');
is($stand->query($step), 'done', 'and the move is done');

# The same, cancelled in the move itself: it has happened.
$nosy->query('BEGIN; SELECT count(*) FROM ' . place_of(1));
$move = $stand->start("CALL shardkit.move_server_slot('orders', 1, 'n2', '60 s')");
poll("SELECT shardkit.slot_node('orders', 1) = 'n2'");
$stand->query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query ~ '60 s' AND pid <> pg_backend_pid()");
($code, $err) = $stand->finish($move);
like($err, qr/57014/, 'a cancel ends the wait for the old rows');
is($stand->owner(1), 'n2', 'of a slot that has moved');
$nosy->query('COMMIT');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->orphans, '', 'resumed, nothing is left behind');

# A reader here keeps the fence of a broken move, which lets everything through.
$move = $stand->start_paused('fence', 1, 'n3');
$stand->query("SELECT pg_terminate_backend($move->{pid}, 5000)");
$stand->open_gate;
$stand->finish($move);
# Another mover, of a copy of this coordinator, is at work with the slot over there.
$nosy->query("SELECT pg_advisory_lock(hashtext('shardkit orders'), 1)");
($failed, $out, $why) = $stand->try("CALL shardkit.resume_moves('orders')");
like($why, qr/WARNING.*not undone yet\nDETAIL:  slot 1 of map "orders" is being moved on server "s3" by another session/, 'another mover there is waited for');
$move = $stand->start("CALL shardkit.resume_moves('orders', '60 s')");
poll("SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ '60 s' AND wait_event_type = 'Extension' AND pid <> pg_backend_pid()");
$stand->query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query ~ '60 s' AND pid <> pg_backend_pid()");
($code, $err) = $stand->finish($move);
like($err, qr/57014/, 'until a cancel');
$nosy->query('SELECT pg_advisory_unlock_all()');
$old->query('BEGIN; SELECT count(*) FROM orders');
my $hasty = "SET deadlock_timeout = '20ms'; CALL shardkit.resume_moves('orders')";
($failed, $out, $why) = $stand->try($hasty);
like($why, qr/NOTICE:  the fence on table n2\.orders_1 stays for now, and lets every write through\nDETAIL/, 'a reader keeps the fence');
($failed, $out, $why) = $stand->try($hasty);
like($why, qr/NOTICE:  the fence on table n2\.orders_1 stays for now, and lets every write through$/m, 'from the next resume_moves too');
is($stand->query($step), 'undone: broken off, and undone by resume_moves', 'though the move is undone');
($failed, $out, $why) = $stand->try("UPDATE orders SET hits = 3 WHERE tableoid = 'n2.orders_1'::regclass");
is($failed, 0, 'and the slot is written') or diag $why;
$old->query('COMMIT');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->orphans, '', 'once it is read the fence goes');

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

# --- another session makes the same over there -------------------------------------------------

$stand->query("SELECT shardkit.add_node('orders', 'fresh', server => 's2')");
my $maker = $stand->server(2)->background_psql('postgres', on_error_stop => 0);
for ([ '', 'CREATE SCHEMA fresh'],
	[ 'CREATE SCHEMA fresh', 'CREATE TABLE fresh.shardkit_mark (map text PRIMARY KEY, epoch bigint NOT NULL, mark text NOT NULL, '
		  . 'system_identifier text NOT NULL, marked_at timestamptz NOT NULL DEFAULT clock_timestamp())' ],
	[ 'CREATE SCHEMA fresh', 'CREATE TABLE fresh.shardkit_key_orders (user_id bigint) PARTITION BY HASH (user_id)' ]) {
	my ($before, $made) = @$_;
	$stand->server(2)->safe_psql('postgres', "DROP SCHEMA IF EXISTS fresh CASCADE; $before");
	$maker->query_safe("BEGIN; $made");
	$move = $stand->start("CALL shardkit.move_server_slot('orders', 1, 'fresh')");
	ok($stand->server(2)->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE "
			  . "wait_event = 'transactionid')"), "the move waits for $made");
	sleep 0.5;    # longer than a lock is waited for in one round
	$maker->query_safe('COMMIT');
	($code, $err) = $stand->finish($move);
	is($code, 0, 'and uses it') or diag $err;
	is($stand->owner(1), 'fresh', 'it has moved');
	($failed, $out, $why) = $stand->try("CALL shardkit.move_server_slot('orders', 1, 'n3')");
	is($failed, 0, 'back again') or diag $why;
}
$maker->quit;
$stand->query("SELECT shardkit.remove_node('orders', 'fresh')");

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
$stand->query("CREATE USER MAPPING FOR mover SERVER s1 OPTIONS (user 'mover', password 'secret')");
$stand->server(1)->safe_psql('postgres', 'CREATE ROLE mover LOGIN');
($failed, $out, $why) = try_as_mover("SELECT shardkit.ask_server('s1', 'SELECT current_user')");
like($why, qr/password is required for server "s1"\nDETAIL:  A user who is not a superuser cannot connect if the server does not ask/, 'a server that asks for none is not used');
$stand->query("ALTER USER MAPPING FOR mover SERVER s1 OPTIONS (DROP password, ADD password_required 'false')");
($failed, $out, $why) = try_as_mover("SELECT shardkit.ask_server('s1', 'SELECT current_user')");
is($out, '{mover}', 'unless a superuser says so') or diag $why;
$stand->query('DROP USER MAPPING FOR mover SERVER s1');
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

is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('orders') AS v"), '', 'verify_map is empty');
done_testing();
