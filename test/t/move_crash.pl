# A mover is killed, or its server stopped at once, at a random moment under writes: every write that
# was acknowledged is there exactly once, and a second run of the mover finishes.
#
# SOAK=1, or MOVE_CRASH_ROUNDS and MOVE_CRASH_ROWS, make it longer; MOVE_CRASH_SEED repeats a run.
use strict;
use warnings;
use lib 'test/t';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run qw(start timeout);
use Test::More;
use Time::HiRes qw(sleep);

my $rounds = $ENV{MOVE_CRASH_ROUNDS} // ($ENV{SOAK} ? 20 : 3);
my $rows = $ENV{MOVE_CRASH_ROWS} // ($ENV{SOAK} ? 1_000_000 : 50_000);
my $seed = $ENV{MOVE_CRASH_SEED} // time;
my $clients = 3;
srand($seed);
note "seed $seed";

my $node = PostgreSQL::Test::Cluster->new('move_crash');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nrestart_after_crash = on\nmax_wal_size = 2GB\n");
$node->start;
my $scripts = $node->basedir;

$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION shardkit;
SELECT shardkit.create_map('m', 24, ARRAY['a', 'b', 'c']);
CREATE TABLE template (id bigint PRIMARY KEY, at timestamptz DEFAULT now(), note text);
SELECT shardkit.add_table('m', 't', 'id', template => 'template');
SELECT shardkit.add_node('m', 'd');
DO \$\$ DECLARE place text; BEGIN
	FOREACH place IN ARRAY ARRAY['a', 'b', 'c'] LOOP
		EXECUTE format('INSERT INTO %1\$I.t (id, note) SELECT -k, repeat(''x'', 50) FROM generate_series(1, $rows) k WHERE shardkit.node_of(''m'', -k::bigint) = %1\$L', place);
	END LOOP;
END \$\$;
-- What a router does: asks for the owner, writes there, and asks again if that was too late.
CREATE FUNCTION put(k bigint) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	FOR attempt IN 1 .. 100 LOOP
		BEGIN
			EXECUTE format('INSERT INTO %I.t (id) VALUES (\$1)', shardkit.node_of('m', k)) USING k;
			RETURN;
		EXCEPTION WHEN SQLSTATE 'SK001' THEN NULL;
		END;
	END LOOP;
	RAISE 'no owner found';
END \$\$;
CREATE VIEW whole AS SELECT 'a' AS node, id FROM a.t UNION ALL SELECT 'b', id FROM b.t UNION ALL SELECT 'c', id FROM c.t UNION ALL SELECT 'd', id FROM d.t;
SQL

# The key says who wrote it: round, client, number of the client's transaction.
append_to_file("$scripts/put.sql", <<'SQL');
\set n :n + 1
SELECT put((:round * 10 + :client_id) * 1000000 + :n);
SQL

# How many transactions of each client were acknowledged, by pgbench's log.
sub acknowledged {
	my ($round) = @_;
	my @last = (0) x $clients;
	for my $log (glob "$scripts/log$round.*") {
		for (split /\n/, slurp_file($log)) {
			my ($client, $number) = split / /;
			$last[$client] = $number if defined $number && $number =~ /^\d+$/ && $number > $last[$client];
		}
	}
	return @last;
}

sub value {
	return $node->safe_psql('postgres', $_[0]);
}

my ($killed, $stopped, $all) = (0, 0, 0);
for my $round (1 .. $rounds) {
	my $weight = $round % 2 ? 3 : 0.1;
	value("SELECT shardkit.set_weight('m', 'd', $weight)");
	my ($out, $err, $moved, $complaint) = ('', '', '', '');
	my $writers = start(
		['pgbench', '-n', '-f', "$scripts/put.sql", '-c', $clients, '-j', 1, '-T', 30, '-l', "--log-prefix=$scripts/log$round",
			'-D', "round=$round", '-D', 'n=0', $node->connstr('postgres')], '>', \$out, '2>', \$err, timeout(90));
	sleep 0.3;
	my $mover = start(
		['psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "CALL shardkit.rebalance('m', batch_slots => 1)"],
		'>', \$moved, '2>', \$complaint, timeout(90));
	sleep 0.05 + rand 0.3;
	my $pid = value("SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL shardkit.rebalance%' AND state = 'active'");
	my $log_before = value('SELECT count(*) FROM shardkit.move_log');
	if ($round % 2 && $pid) {
		kill 'KILL', $pid;
		$killed++;
	} else {
		$node->stop('immediate');
		$stopped++;
	}
	eval { $mover->finish };
	eval { $writers->finish };
	$node->start unless $round % 2 && $pid;
	$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';

	my @last = acknowledged($round);
	my $sum = 0;
	$sum += $_ for @last;
	$all += $sum;
	note "round $round: ", ($pid ? "mover $pid" : 'mover done'), ", acknowledged @last, certificates before the end $log_before";
	cmp_ok($sum, '>', 0, "round $round: writes were acknowledged");
	my $lost = 0;
	for my $client (0 .. $clients - 1) {
		my $first = ($round * 10 + $client) * 1_000_000;
		$lost += value("SELECT count(*) FROM generate_series($first + 1, $first + $last[$client]) k WHERE (SELECT count(*) FROM whole w WHERE w.id = k) <> 1");
	}
	is($lost, 0, "round $round: each is there exactly once");
	is(value('SELECT count(*) FROM whole w WHERE shardkit.node_of(\'m\', id) <> node'), 0, "round $round: no row is misplaced");
	is(value('SELECT count(*) FROM shardkit.move_log WHERE fingerprint_from <> fingerprint_to OR finished_at IS NULL'), 0, "round $round: every certificate is whole");
	is(value("SELECT count(*) FROM (SELECT id FROM whole GROUP BY id HAVING count(*) > 1) twice"), 0, "round $round: no row is there twice");
	is(value("SELECT count(*) FROM whole WHERE id < 0"), $rows, "round $round: the first rows are all there");

	value("CALL shardkit.rebalance('m')");
	is(value("SELECT count(*) FROM shardkit.plan_rebalance('m')"), 0, "round $round: the mover finishes the second time");
	is(value("SELECT count(*) FROM shardkit.verify_map('m')"), 0, "round $round: verify_map finds nothing") if value("SELECT to_regproc('shardkit.verify_map') IS NOT NULL") eq 't';
}
note "$killed kills, $stopped stops, $all writes acknowledged";
$node->stop;
done_testing();
