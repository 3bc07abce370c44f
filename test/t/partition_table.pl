# A table with partitions on a server: made by add_table, kept clean by the server's own checks, also
# after a dump of that server, adopted where it is there, audited by verify_map.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %cluster;
for my $name ('coordinator', 'server', 'restored') {
	$cluster{$name} = PostgreSQL::Test::Cluster->new("partition_$name");
	$cluster{$name}->init;
	$cluster{$name}->append_conf('postgresql.conf', "fsync = off\nmax_connections = 30\n");
	$cluster{$name}->start;
}
my ($coordinator, $server, $restored) = @cluster{qw(coordinator server restored)};
my ($host, $port) = ($server->host, $server->port);
$coordinator->safe_psql('postgres', <<"SQL");
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION shardkit;
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE TABLE shape (id bigint GENERATED ALWAYS AS IDENTITY, user_id bigint NOT NULL,
	note text DEFAULT 'x' CHECK (note <> ''), PRIMARY KEY (user_id, id));
CREATE INDEX ON shape (note);
SELECT shardkit.create_map('orders', 8);
SELECT shardkit.add_node('orders', 'home');
SELECT shardkit.add_node('orders', 'away', server => 'far');
SELECT shardkit.assign_slots('orders', '{0,1,2,3}', 'home');
SELECT shardkit.assign_slots('orders', '{4,5,6}', 'away');
SELECT shardkit.add_table('orders', 'public.orders', 'user_id', 'per_slot', 'shape');
SELECT shardkit.assign_slots('orders', '{7}', 'away');
INSERT INTO orders (user_id) SELECT generate_series(1, 1000);
SQL

sub query { return $coordinator->safe_psql('postgres', $_[0]) }

# Fails with this SQLSTATE.
sub refused {
	my ($where, $sql, $state, $name) = @_;
	my ($out, $err) = ('', '');
	$where->psql('postgres', $sql, stdout => \$out, stderr => \$err, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/ERROR:  $state\b/, $name);
	return;
}

is(query("SELECT count(*) FILTER (WHERE server IS NULL), count(*) FILTER (WHERE server = 'far') FROM shardkit_internal.slot_partitions('orders')"),
	'4|4', 'partitions lie where their owners are');
is(query('SELECT count(*), count(DISTINCT id) FROM orders'), '1000|1000', 'rows go through the parent, numbers are unique');
is(query('SELECT sum(rows), count(*) FROM shardkit.slot_counts($$orders$$)'), '1000|8', 'rows are counted where they lie');
is(query('SELECT count(*) FROM shardkit.slot_counts($$orders$$) AS c, LATERAL (SELECT count(*) AS n FROM orders '
	. 'WHERE shardkit.partition_slot(8, user_id) = c.slot) AS o WHERE o.n <> c.rows'), '0', 'exactly');
is(query('SELECT fix FROM shardkit.verify_map($$orders$$)'), '', 'nothing to cure');

# One key of slot 5, one of another.
my ($in, $out) = split /\|/, query('SELECT min(g) FILTER (WHERE shardkit.partition_slot(8, g) = 5), '
	. 'min(g) FILTER (WHERE shardkit.partition_slot(8, g) <> 5) FROM generate_series(5000::bigint, 6000) AS g');
refused($coordinator, "INSERT INTO away.orders_5 (user_id) VALUES ($out)", '23514', 'a row of another slot through the foreign table');
refused($coordinator, "UPDATE away.orders_5 SET user_id = $out", '23514', 'a changed key through the foreign table');
refused($server, "INSERT INTO away.orders_5 (id, user_id) VALUES (1, $out)", '23514', 'a row of another slot on the server itself');
query("INSERT INTO away.orders_5 (user_id) VALUES ($in)");
is(query("SELECT count(*) FROM orders WHERE user_id = $in"), '1', 'a row of the right slot goes in');

my $dump = PostgreSQL::Test::Utils::tempdir . '/server.sql';
$server->command_ok([ 'pg_dump', '-f', $dump, $server->connstr('postgres') ], 'the server is dumped');
$restored->command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $restored->connstr('postgres') ], 'and restored');
is($restored->safe_psql('postgres', 'SELECT count(*) FROM away.orders_5'), query('SELECT count(*) FROM away.orders_5'), 'with its rows');
refused($restored, "INSERT INTO away.orders_5 (id, user_id) VALUES (1, $out)", '23514', 'the restored server refuses too');

# What happened behind the map's back.
$server->safe_psql('postgres', "ALTER TABLE away.orders_5 DROP CONSTRAINT shardkit_slot; INSERT INTO away.orders_5 (id, user_id) VALUES (-1, $out)");
is(query('SELECT kind FROM shardkit.verify_map($$orders$$) WHERE fix IS NOT NULL ORDER BY 1'), "check\nrows", 'a dropped check and a wrong row are found');
is(query('SELECT node, rows, sample_key FROM shardkit.misplaced_rows($$orders$$)'), "away|1|$out", 'the row is named');
# Runs what verify_map prints, each in a transaction of its own: a server may not be read and altered in one.
sub cure {
	query("SELECT fix FROM shardkit.verify_map('orders') \\gexec");
	return;
}
cure();
is(query('SELECT fix FROM shardkit.verify_map($$orders$$)'), '', 'both cured');
is(query("SELECT shardkit.partition_slot(8, user_id) = right(tableoid::regclass::text, 1)::int FROM orders WHERE id = -1"), 't', 'the row lies where it belongs');
$server->safe_psql('postgres', 'DROP TABLE away.orders_7');
cure();
is(query('SELECT fix FROM shardkit.verify_map($$orders$$)'), '', 'a dropped table on the server is found and made anew');

# Adopted: partitions that were there before get the check.
query('SELECT shardkit.remove_table($$orders$$, $$public.orders$$)');
$server->safe_psql('postgres', "ALTER TABLE away.orders_$_ DROP CONSTRAINT shardkit_slot") for 4 .. 7;
query('SELECT shardkit.add_table($$orders$$, $$public.orders$$, $$user_id$$, $$per_slot$$)');
refused($server, "INSERT INTO away.orders_5 (id, user_id) VALUES (1, $out)", '23514', 'an adopted table has the check');
query('SELECT shardkit.remove_table($$orders$$, $$public.orders$$)');
$server->safe_psql('postgres', "ALTER TABLE away.orders_5 DROP CONSTRAINT shardkit_slot; INSERT INTO away.orders_5 (id, user_id) VALUES (-2, $out)");
refused($coordinator, 'SELECT shardkit.add_table($$orders$$, $$public.orders$$, $$user_id$$, $$per_slot$$)', '23514', 'a wrong row on the server is not adopted');
$server->safe_psql('postgres', 'DELETE FROM away.orders_5 WHERE id = -2');
query('SELECT shardkit.add_table($$orders$$, $$public.orders$$, $$user_id$$, $$per_slot$$)');

is(query('SELECT string_agg(format($$%s %s$$, node, ok), $$,$$) FROM shardkit.run_on_nodes($$orders$$, $$CREATE TABLE IF NOT EXISTS %schema%.extra (a int)$$)'),
	'home t,away t', 'a statement runs on every node');

# Wrong calls.
query('CREATE TYPE colour AS ENUM ($$red$$); CREATE TABLE enum_shape (c colour); SELECT shardkit.create_map($$enum$$, 4)');
query('SELECT shardkit.add_node($$enum$$, $$away2$$, server => $$far$$)');
refused($coordinator, 'SELECT shardkit.add_table($$enum$$, $$enums$$, $$c$$, $$per_slot$$, $$enum_shape$$)', '0A000', 'an enum key with servers');
query('SELECT shardkit.create_map($$many$$, 1025)');
refused($coordinator, 'SELECT shardkit.add_table($$many$$, $$many$$, $$user_id$$, $$per_slot$$, $$shape$$)', '54000', 'more than 1,024 partitions');
query('CREATE TABLE four (k bigint) PARTITION BY HASH (k); CREATE TABLE four_0 PARTITION OF four FOR VALUES WITH (MODULUS 4, REMAINDER 0)');
query('SELECT shardkit.create_map($$eight$$, 8, ARRAY[$$home8$$])');
refused($coordinator, 'SELECT shardkit.add_table($$eight$$, $$four$$, $$k$$, $$per_slot$$)', '22023', 'another modulus');
query('CREATE TABLE keyed (k bigint PRIMARY KEY) PARTITION BY HASH (k)');
query('SELECT shardkit.create_map($$keyed$$, 8)');
query('SELECT shardkit.add_node($$keyed$$, $$away3$$, server => $$far$$)');
refused($coordinator, 'SELECT shardkit.add_table($$keyed$$, $$keyed$$, $$k$$, $$per_slot$$)', '55000: table public.keyed has a primary key', 'a primary key with servers');
query('CREATE TABLE ranged (k bigint) PARTITION BY RANGE (k)');
refused($coordinator, 'SELECT shardkit.add_table($$eight$$, $$ranged$$, $$k$$, $$per_slot$$)', '42809', 'not partitioned by hash');

# The server's schema is gone altogether.
$server->safe_psql('postgres', 'SET client_min_messages = error; DROP SCHEMA away CASCADE');
cure();
is(query('SELECT DISTINCT kind, problem FROM shardkit.verify_map($$orders$$)'), 'rule|constraint is missing: PRIMARY KEY (user_id, id)',
	'tables made anew like an adopted one lack the key that the others have');
cure();
is(query('SELECT fix FROM shardkit.verify_map($$orders$$)'), '', 'a dropped schema on the server is made anew with its tables');

$_->stop for values %cluster;
done_testing();
