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

# --- a target that has shardkit too is read back by one aggregate over there ------------------

my $helped = $stand->{servers}[1];
$helped->safe_psql('postgres', $_)
  for 'CREATE EXTENSION shardkit', "ALTER SYSTEM SET log_statement = 'all'", 'SELECT pg_reload_conf()';
($code, $out, $err) = move(0, 'n2');
is($code, 0, 'to a server with shardkit') or diag $err;
is($stand->query($whole), $before, 'the same rows');
like(slurp_file($helped->logfile), qr/SELECT count\(\*\), shardkit\.fingerprint\(r\)/, 'read back by an aggregate');
is($stand->query('SELECT bool_and(fingerprint_from = fingerprint_to) FROM shardkit.move_log WHERE slot = 0'), 't',
	'which says what the stream said');
$helped->safe_psql('postgres', $_)
  for 'DROP EXTENSION shardkit', 'ALTER SYSTEM RESET log_statement', 'SELECT pg_reload_conf()';

# --- two tables of a map, names that need quotes, large values --------------------------------

$stand->query(<<'SQL');
CREATE TABLE "Line Items" ("User ID" bigint NOT NULL, "No." int NOT NULL, "a""b" bytea, twice int GENERATED ALWAYS AS ("No." * 2) STORED,
	PRIMARY KEY ("User ID", "No."));
SELECT shardkit.add_table('orders', 'public."Lines, of orders that have a very long name indeed, 63 bytes"', '"User ID"', 'per_slot', '"Line Items"');
INSERT INTO "Lines, of orders that have a very long name indeed, 63 bytes" ("User ID", "No.", "a""b")
	SELECT g / 10, g, decode(repeat(md5(g::text), 3), 'hex') FROM generate_series(1, 2000) AS g;
SQL
my $lines = 'SELECT count(*), sum("No."), sum(twice), shardkit.fingerprint(l) FROM '
  . '"Lines, of orders that have a very long name indeed, 63 bytes" l';
# One value of 20 MB, the same as another server would make it.
$stand->query('UPDATE "Lines, of orders that have a very long name indeed, 63 bytes" SET "a""b" = '
	  . "decode(repeat(md5('large'), 1250000), 'hex') WHERE \"No.\" = (SELECT min(\"No.\") FROM "
	  . '"Lines, of orders that have a very long name indeed, 63 bytes" WHERE shardkit.partition_slot(8, "User ID") = 2)');
my ($first, $second) = ($stand->query($whole), $stand->query($lines));
for my $to (qw(n3 home n1 n2)) {
	($code, $out, $err) = $stand->try("CALL shardkit.move_rows('orders', ARRAY[2, 4], '$to')");
	is($code, 0, "both tables to $to") or diag $err;
	is($stand->query($whole) . $stand->query($lines), $first . $second, 'the same rows in both');
}
is($stand->query('SELECT count(*) FROM (SELECT slot, epoch FROM shardkit.move_log WHERE slot IN (2, 4) '
	  . 'GROUP BY slot, epoch HAVING count(DISTINCT relation) = 2) x'), 8, 'at one epoch each');
is($stand->orphans, '', 'nothing is left behind');
is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('orders') AS v"), '', 'verify_map is empty');
done_testing();
