# A server joins while users read and write: every count in every transaction is whole, no write
# that was acknowledged is lost, and a keyed query touches one server before and after.
# With SOAK nine servers, 72 slots and 200,000 rows, as in the article on sharding.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $soak = $ENV{SOAK};
my ($servers, $slots, $rows) = $soak ? (9, 72, 200_000) : (3, 12, 6_000);
my $stand = Servers->new(servers => $servers, slots => $slots, rows => $rows, owners => $servers - 1,
	# Readers that overlap all the time on a machine that is too small for ten servers.
	conf => $soak ? "deadlock_timeout = '6s'" : '');
my $last = "n$servers";

$stand->server($servers)->safe_psql('postgres', 'CREATE TABLE public.elsewhere (x int)');
$stand->query("CREATE FOREIGN TABLE elsewhere (x int) SERVER s$servers OPTIONS (schema_name 'public')");
my $folder = PostgreSQL::Test::Utils::tempdir();
my $check = "SELECT 1 / (count(*) = $rows)::int AS whole FROM orders;\n";
my %users = (
	counter => $check,
	frozen => "BEGIN ISOLATION LEVEL REPEATABLE READ;\n$check\\sleep 30 ms\n${check}COMMIT;\n",
	knows_target => "BEGIN;\nSELECT count(*) FROM elsewhere;\n\\sleep 40 ms\n${check}COMMIT;\n",
	writer => "\\set id random(1, $rows)\nUPDATE orders SET hits = hits + 1 WHERE id = :id AND "
	  . "user_id = :id / 10;\n");

sub start_user {
	my ($name, $seconds) = @_;
	append_to_file("$folder/$name.sql", $users{$name});
	my %run = (out => '', err => '');
	$run{handle} = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $name eq 'writer' ? 2 : 1, '-T', $seconds, '--max-tries', 1000,
			'--failures-detailed', '-f', "$folder/$name.sql", $stand->coordinator->connstr('postgres') ],
		'>', \$run{out}, '2>', \$run{err}, IPC::Run::timeout($seconds + 120));
	return \%run;
}

sub servers_of_key {
	my $plan = $stand->query('EXPLAIN (COSTS off) SELECT * FROM orders WHERE user_id = 42');
	return scalar(() = $plan =~ /Foreign Scan/g);
}

is(servers_of_key(), 1, 'a keyed query touches one server before');
my $moves = $slots / $servers;
my $seconds = $soak ? 90 : 6;
my %runs = map { $_ => start_user($_, $seconds) } sort keys %users;
my $planned = "CALL shardkit.rebalance('orders', max_wait => '50 seconds')";
$stand->query("SELECT shardkit.drain_node('orders', 'home')");
my ($code, $err, $out) = $stand->finish($stand->start($planned));
is($code, 0, 'the server joins') or diag $err;
for my $name (sort keys %runs) {
	my ($failed, $why, $said) = $stand->finish($runs{$name});
	is($failed, 0, "$name: never a wrong count, never an error but 40001, which was retried") or diag $why;
	($runs{$name}{done}) = $said =~ /transactions actually processed: (\d+)/;
	cmp_ok($runs{$name}{done}, '>', 5, "$name did $runs{$name}{done} transactions");
}
is($stand->query("SELECT count(*) FROM shardkit.slot_map WHERE node = '$last'"), $moves,
	"$moves slots lie on the new server");
is($stand->query('SELECT count(*) FROM shardkit.move_log WHERE state = \'done\''), $moves, 'by as many moves');
is($stand->query('SELECT sum(hits) FROM orders'), $runs{writer}{done}, 'every acknowledged write is there, once');
is($stand->query('SELECT count(*) FROM orders'), $rows, 'every row is there');
is(servers_of_key(), 1, 'a keyed query touches one server after');
is($stand->orphans, '', 'nothing is left behind');
is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('orders') AS v"), '', 'verify_map is empty');
note $stand->query("SELECT sum(rows), min(finished_at - started_at), max(finished_at - started_at) FROM shardkit.move_log");
done_testing();
