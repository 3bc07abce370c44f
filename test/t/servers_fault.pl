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
done_testing();
