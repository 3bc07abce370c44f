# On a standby a map is read as on the primary: a session there sees a change with the statement
# after its replay, and require_slot checks without a lock.
use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('map_primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "fsync = off\n");
$primary->start;
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION shardkit;
SELECT shardkit.create_map('m', 4);
SELECT shardkit.add_node('m', 'a'), shardkit.add_node('m', 'b');
SELECT shardkit.assign_slots('m', '{0,1}', 'a');
SQL
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('map_standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;

# One session on the standby for all of it.
my ($in, $out, $error) = ('', '', '');
my $psql = IPC::Run::start([ 'psql', '-XAtq', $standby->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$error, IPC::Run::timeout(60));

sub ask {
	my $sql = shift;
	($out, $error) = ('', '');
	$in .= "$sql;\n\\echo done\n\\warn done\n";
	$psql->pump until $out =~ /^done\n/m && $error =~ /^done\n/m;
	s/^done\n//m for $out, $error;
	chomp(my $answer = $out . $error);
	return $answer;
}

sub on_primary {
	$primary->safe_psql('postgres', shift);
	$primary->wait_for_catchup($standby);
}

is(ask(q{SELECT shardkit.slot_node('m', 1), shardkit.slot_node('m', 2)}), 'a|', 'the map is read');
is(ask(q{SELECT shardkit.require_slot('m', 4, 1)}), 'a', 'require_slot answers');
is(ask(q{SELECT count(*) FROM pg_locks WHERE classid = 'shardkit.slot_map'::regclass}), '0', 'and holds nothing');

on_primary(q{SELECT shardkit.assign_slots('m', '{2}', 'b')});
is(ask(q{SELECT shardkit.slot_node('m', 1), shardkit.slot_node('m', 2)}), 'a|b', 'a change is seen once it is replayed');
like(ask(q{SELECT shardkit.require_slot('m', 4, 2)}), qr/slot 2 of map "m" has changed owner since epoch 4/,
	'an old epoch is refused');
is(ask(q{SELECT shardkit.require_slot('m', 4, 1)}), 'a', 'for that slot only');
like(ask(q{SELECT shardkit.require_slot('m', 9, 1)}), qr/epoch 9 is ahead of map "m"/, 'a standby that lags says so');

on_primary(q{UPDATE shardkit.slot_map SET moving_to = 'b' WHERE map = 'm' AND slot = 1});
like(ask(q{SELECT shardkit.require_slot('m', 5, 1)}), qr/slot 1 of map "m" is in transit/, 'a slot on its way is refused');
like(ask(q{SELECT shardkit.create_map('n', 4)}), qr/read-only transaction/, 'commands are refused');
like(ask(q{SELECT shardkit.add_node('m', 'c')}), qr/cannot execute a change of map "m" in a read-only transaction/,
	'in words of their own');

$in .= "\\q\n";
$psql->finish;
done_testing();
