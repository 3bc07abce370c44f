# Copies of a coordinator: a dumped one is refused by its identifiers, of two physical ones the
# second to move is refused by the mark on the servers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $rows = 400;
my $stand = Servers->new(servers => 3, slots => 4, rows => $rows, owners => 2);
my $original = $stand->coordinator;
my $move = "CALL shardkit.move_server_slot('orders', %d, '%s')";

sub try_on {
	my ($node, $database, $sql) = @_;
	my ($out, $err) = ('', '');
	my $code = $node->psql($database, $sql, stdout => \$out, stderr => \$err);
	return ($code, $err);
}

# Everything on the servers, so that nothing was touched is seen.
sub servers_hold {
	return join '|', map { $stand->server($_)->safe_psql('postgres',
			"SELECT string_agg(schemaname || '.' || tablename || ' ' || (xpath('/row/c/text()', "
			  . "query_to_xml(format('SELECT count(*) AS c FROM %I.%I', schemaname, tablename), "
			  . "false, true, '')))[1], ',' ORDER BY schemaname, tablename) FROM pg_tables "
			  . "WHERE schemaname ~ '^n'") } 1 .. 3;
}

# --- dumped and restored ----------------------------------------------------------------------

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$original->command_ok([ 'pg_dump', '-d', $original->connstr('postgres'), '-f', $dump ], 'dumped');
$original->safe_psql('postgres', 'CREATE DATABASE restored');
$original->command_ok([ 'psql', '-Xq', '-d', $original->connstr('restored'), '-f', $dump ], 'restored');
my $before = servers_hold();
my ($code, $err) = try_on($original, 'restored', sprintf $move, 0, 'n3');
like($err, qr/comes from another server or database/, 'a restored copy does not move');
($code, $err) = try_on($original, 'restored', "CALL shardkit.resume_moves('orders')");
like($err, qr/comes from another server or database/, 'nor resume');
is(servers_hold(), $before, 'and touches nothing');

# --- a physical copy -------------------------------------------------------------------------

# With a move broken off, which the copy would undo.
my $broken = $stand->start_paused('fence', 1, 'n3');
$original->backup('copy');
$stand->query("SELECT pg_terminate_backend($broken->{pid}, 5000)");
$stand->open_gate;
$stand->finish($broken);
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($original, 'copy');
$clone->start;

($code, $err) = try_on($original, 'postgres', "CALL shardkit.resume_moves('orders')");
is($code, 0, 'the original resumes') or diag $err;
($code, $err) = try_on($original, 'postgres', sprintf $move, 0, 'n3');
is($code, 0, 'and moves') or diag $err;
$before = servers_hold();
($code, $err) = try_on($clone, 'postgres', "CALL shardkit.resume_moves('orders')");
like($err, qr/another copy of this database/, 'the copy does not resume');
($code, $err) = try_on($clone, 'postgres', "SET client_min_messages = warning; " . sprintf($move, 2, 'home'));
like($err, qr/another copy of this database/, 'nor move a slot, though it is where it says');
$clone->safe_psql('postgres', "SELECT shardkit.set_weight('orders', 'n1', 2) FROM generate_series(1, 1)")
  for 1 .. 5;
($code, $err) = try_on($clone, 'postgres', sprintf $move, 2, 'home');
like($err, qr/another copy of this database/, 'however many epochs it has seen since');
my $others = "SELECT count(*) FROM shardkit.verify_map('orders') WHERE problem ~ 'another copy of this database'";
isnt($clone->safe_psql('postgres', $others), 0, 'verify_map says so');
is($original->safe_psql('postgres', $others), 0, '.. to the copy alone');
is(servers_hold(), $before, 'and touches nothing');
is($original->safe_psql('postgres', 'SELECT count(*) FROM orders'), $rows, 'the original has every row');
($code, $err) = try_on($original, 'postgres', sprintf $move, 2, 'home');
is($code, 0, 'and moves on') or diag $err;
done_testing();
