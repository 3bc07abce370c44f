# A move broken at each step, by each kind of fault: no row is lost or doubled, reads are right and
# writes go through at once, and resume_moves leaves nothing behind.
# With SOAK the whole matrix in every direction, otherwise one fault a step.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $rows = 800;
my $stand = Servers->new(servers => 3, slots => 8, rows => $rows, owners => 2, relays => 1);
my $added = 0;

# Servers by number, undef for the coordinator itself.
my %server_of = (n1 => 1, n2 => 2, n3 => 3, home => undef);

sub restart { my ($node) = @_; $node->stop('immediate'); $node->start; return }

my %faults = (
	'mover killed' => sub {
		my ($move) = @_;
		$stand->query("SELECT pg_terminate_backend($move->{pid}, 5000)");
	},
	'coordinator stopped' => sub { restart($stand->coordinator) },
	'source stopped' => sub { restart($stand->server($_[0]{source})) if $_[0]{source} },
	'target stopped' => sub { restart($stand->server($_[0]{target})) if $_[0]{target} },
	'connection cut' => sub {
		my $number = $_[0]{target} // $_[0]{source};
		$stand->relay($number)->cut;
		$stand->relay($number)->mend;
	},
	'target refuses' => sub {
		my ($move) = @_;
		my $node = $move->{target} ? $stand->server($move->{target}) : $stand->coordinator;
		# The name of the try's table is in the log; the rows come only later.
		my ($table) = $stand->query("SELECT format('%I.%I', to_schema, to_table) FROM "
			  . 'shardkit.server_move ORDER BY id DESC LIMIT 1');
		$node->safe_psql('postgres', <<"SQL") if $move->{step} eq 'fence';
CREATE TABLE IF NOT EXISTS refused (x int);
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
	AS 'BEGIN RAISE EXCEPTION ''refused at commit''; END';
CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql
	AS 'BEGIN INSERT INTO public.refused VALUES (1); RETURN NULL; END';
DROP TRIGGER IF EXISTS refuse ON refused;
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON refused DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER note AFTER INSERT ON $table FOR EACH STATEMENT EXECUTE FUNCTION note();
SQL
	});

# A key of that slot, and one of another.
sub key_of {
	my ($slot) = @_;
	return $stand->query("SELECT g FROM generate_series(1, 10000) g WHERE "
		  . "shardkit.partition_slot(8, g::bigint) = $slot LIMIT 1");
}

sub try_fault {
	my ($step, $fault, $slot, $to) = @_;
	my $from = $stand->owner($slot);
	my $name = "$fault after $step, $from to $to";
	my $move = $stand->start_paused($step, $slot, $to);
	@$move{qw(step source target)} = ($step, $server_of{$from}, $server_of{$to});
	$faults{$fault}->($move);
	my $count = $stand->query('SELECT count(*) FROM orders') if $fault ne 'target refuses';
	is($count, $rows + $added, "$name: reads are right at once") if defined $count;
	$stand->open_gate;
	my ($code, $err) = $stand->finish($move);
	like($err, qr/refused at commit/, "$name: refused at commit")
	  if $fault eq 'target refuses' && $step eq 'fence';
	note "$name: $code $err";
	is($stand->query('SELECT count(*) FROM orders'), $rows + $added, "$name: no row lost or doubled");
	for my $key (key_of($slot), key_of(($slot + 1) % 8)) {
		$added++;
		my $id = 100_000 + $added;
		my ($failed, $out, $why) = $stand->try("INSERT INTO orders VALUES ($id, $key, 'new')");
		is($failed, 0, "$name: a write goes through at once") or diag $why;
	}
	my ($failed, $out, $why) = $stand->try("CALL shardkit.resume_moves('orders')");
	is($failed, 0, "$name: resumed") or diag $why;
	is($stand->orphans, '', "$name: nothing is left behind");
	is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('orders') AS v"), '', "$name: verify_map is empty");
	is($stand->query('SELECT count(*) FROM orders'), $rows + $added, "$name: all rows in the end");
	is($stand->query('SELECT (SELECT count(*) FROM shardkit.move_log WHERE finished_at IS NULL) + '
		  . '(SELECT count(*) FROM shardkit.slot_map WHERE moving_to IS NOT NULL)'),
		0, "$name: no move is unfinished");
	is($stand->query("SELECT string_agg(DISTINCT x.node, '') FROM (SELECT n.nspname AS node FROM "
		  . 'pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = '
		  . "c.relnamespace WHERE c.relname = 'orders_$slot') x"),
		$stand->owner($slot), "$name: map and partition agree");
	return;
}

my @matrix = (
	[ 'intent', 'mover killed', 0, 'n3' ],
	[ 'fence', 'coordinator stopped', 1, 'home' ],
	[ 'fence', 'target refuses', 2, 'n3' ],
	[ 'copy', 'target stopped', 3, 'n3' ],
	[ 'settle', 'connection cut', 4, 'n3' ],
	[ 'swap', 'source stopped', 5, 'home' ],
	[ 'swap', 'coordinator stopped', 5, 'n3' ],
	[ 'drop', 'mover killed', 6, 'n3' ]);

if ($ENV{SOAK}) {
	@matrix = ();
	my $turn = 0;
	for my $step (qw(intent fence copy settle swap drop)) {
		for my $fault (sort keys %faults) {
			for my $to (qw(n3 home n1)) {
				push @matrix, [ $step, $fault, $turn++ % 8, $to ];
			}
		}
	}
}
for my $case (@matrix) {
	my ($step, $fault, $slot, $to) = @$case;
	# Away first, where it is there already.
	$stand->try("CALL shardkit.move_server_slot('orders', $slot, 'n2')") if $stand->owner($slot) eq $to;
	try_fault(@$case);
}

# --- in the middle of the rows: the target stands still at the first, and then one side ends -----

my $slot = 7;
$stand->query("INSERT INTO orders SELECT 200000 + g, @{[ key_of($slot) ]}, (SELECT string_agg(md5(g::text || i), '') FROM generate_series(1, 40) i) FROM generate_series(1, 6000) g");
my $whole = $stand->query('SELECT count(*), shardkit.fingerprint(o) FROM orders o');
$stand->try("CALL shardkit.move_server_slot('orders', $slot, 'n2')");
my ($source, $target) = ($stand->server(2), $stand->server(3));
$target->safe_psql('postgres', <<'SQL');
CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$BEGIN
	PERFORM pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7); RETURN NEW; END$$;
CREATE FUNCTION plant() RETURNS event_trigger LANGUAGE plpgsql AS $$DECLARE fresh text; BEGIN
	FOR fresh IN SELECT object_identity FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'orders_7_m' LOOP
		EXECUTE 'CREATE TRIGGER stand_still BEFORE INSERT ON ' || fresh || ' FOR EACH ROW EXECUTE FUNCTION public.stand_still()';
	END LOOP; END$$;
CREATE EVENT TRIGGER plant ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION plant();
SQL
for my $case ([ 'target', $target ], [ 'source', $source ]) {
	my ($side, $node) = @$case;
	my $gate = $target->background_psql('postgres');
	$gate->query('SELECT pg_advisory_lock(7)');
	my $move = $stand->start("CALL shardkit.move_server_slot('orders', $slot, 'n3', '20 s')");
	my $copies = "FROM pg_stat_activity WHERE query ~ '^COPY'";
	ok($source->poll_query_until('postgres', "SELECT count(*) = 1 $copies AND wait_event = 'ClientWrite'"), "$side ends: the rows are on their way");
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 5000) $copies");
	$gate->quit;
	my ($code, $err) = $stand->finish($move);
	my $server = $side eq 'target' ? 's3' : 's2';
	like($err, qr/ERROR:  (08006|57P01): on server "$server": /, "$side ends: told of the right server");
	is($stand->query('SELECT state FROM shardkit.move_log ORDER BY id DESC LIMIT 1'), 'undone', "$side ends: undone at once");
	is($stand->orphans, '', "$side ends: nothing is left behind");
	is($stand->query('SELECT count(*), shardkit.fingerprint(o) FROM orders o'), $whole, "$side ends: every row is there");
	note $err;
}
$target->safe_psql('postgres', 'DROP EVENT TRIGGER plant');
my ($failed, $out, $why) = $stand->try("CALL shardkit.move_server_slot('orders', $slot, 'n3')");
is($failed, 0, 'and then the slot moves') or diag $why;
is($stand->query('SELECT count(*), shardkit.fingerprint(o) FROM orders o'), $whole, 'with every row');
done_testing();
