# Moves of slots between servers: every direction, with the rows checked, and nothing left behind.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $stand = Servers->new(servers => 3, slots => 8, rows => 2000, owners => 2);
my $whole = "SELECT count(*), sum(id), shardkit.fingerprint(o) FROM orders o";
my $before = $stand->query($whole);

sub move {
	my ($slot, $node) = @_;
	return $stand->try("CALL shardkit.move_server_slot('orders', $slot, '$node')");
}

my ($code, $out, $err) = move(0, 'n3');
is($code, 0, 'server to server') or diag $err;
is($stand->owner(0), 'n3', 'the map says so');
is($stand->query($whole), $before, 'the same rows');
is($stand->query("SELECT fingerprint_from = fingerprint_to AND fingerprint_to = (SELECT "
	  . "shardkit.fingerprint(o) FROM n3.orders_0 o) AND rows = (SELECT count(*) FROM n3.orders_0) "
	  . "FROM shardkit.move_log WHERE slot = 0"), 't', 'the certificate is that of the rows there');
is($stand->query("SELECT count(*) FROM orders WHERE user_id = ANY (SELECT DISTINCT user_id FROM "
	  . "n3.orders_0)"), $stand->query('SELECT count(*) FROM n3.orders_0'), 'and keys lead there');
($code, $out, $err) = move(1, 'home');
is($code, 0, 'server to local') or diag $err;
is($stand->query($whole), $before, 'the same rows');
($code, $out, $err) = move(1, 'n1');
is($code, 0, 'local to server') or diag $err;
is($stand->query($whole), $before, 'the same rows');
is($stand->orphans, '', 'nothing is left behind');
is($stand->query('SELECT count(*) FROM shardkit.slot_map WHERE moving_to IS NOT NULL'), 0, 'no slot is in transit');
is($stand->query('SELECT count(DISTINCT state) FROM shardkit.move_log'), 1, 'all are done');
done_testing();
