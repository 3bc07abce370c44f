# A database with a map is dumped and restored into a fresh server that knows none of its roles:
# the map is there, guards and history with it, and is put to work by adopt_map.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $origin = PostgreSQL::Test::Cluster->new('map_origin');
$origin->init;
$origin->append_conf('postgresql.conf', "fsync = off\n");
$origin->start;
$origin->safe_psql('postgres', <<'SQL');
CREATE EXTENSION shardkit;
CREATE ROLE team;
GRANT ALL ON DATABASE postgres TO team;
CREATE TABLE shape (id bigint PRIMARY KEY, note text);
ALTER TABLE shape OWNER TO team;
SET ROLE team;
SELECT shardkit.create_map('orders', 72, ARRAY['p0', 'p1', 'p2']);
SELECT shardkit.add_table('orders', '"Orders"', 'id', template => 'shape');
SELECT shardkit.create_map('My "other" map', 5);
SELECT shardkit.add_node('My "other" map', 'x', weight => 2.5);
SELECT shardkit.assign_slots('My "other" map', '{1,3}', 'x');
RESET ROLE;
DO $$ BEGIN
	FOR i IN 1 .. 3000 LOOP
		EXECUTE format('INSERT INTO %I."Orders" VALUES ($1)', shardkit.node_of('orders', i)) USING i;
	END LOOP;
END $$;
SQL

my $fresh = PostgreSQL::Test::Cluster->new('map_fresh');
$fresh->init;
$fresh->append_conf('postgresql.conf', "fsync = off\n");
$fresh->start;

# Everything that a map is, but for where it is at home.
my $picture = <<'SQL';
SELECT string_agg(row, E'\n' ORDER BY row) FROM (
	SELECT format('map %s %s %s %s %s', name, id, slots, epoch, owner) AS row FROM shardkit.map
	UNION ALL SELECT format('node %s', n) FROM shardkit.node AS n
	UNION ALL SELECT format('slot %s', s) FROM shardkit.slot_map AS s
	UNION ALL SELECT format('table %s', t) FROM shardkit.map_table AS t
	UNION ALL SELECT format('log %s %s %s %s', map, epoch, changed_by, change) FROM shardkit.map_log
	UNION ALL SELECT format('guard %s %s', tgrelid::regclass, tgenabled) FROM pg_trigger WHERE tgname ~ 'guard'
	UNION ALL SELECT format('rows %s %s', count(*), sum(id)) FROM p0."Orders"
	UNION ALL SELECT format('rows %s %s', count(*), sum(id)) FROM p1."Orders"
	UNION ALL SELECT format('rows %s %s', count(*), sum(id)) FROM p2."Orders") AS p
SQL
my $before = $origin->safe_psql('postgres', $picture);
like($before, qr/guard p1."Orders" A/, 'the origin has guards');

my $folder = PostgreSQL::Test::Utils::tempdir;
my %restore = (
	plain => sub {
		my $db = shift;
		$origin->command_ok([ 'pg_dump', '-f', "$folder/plain.sql", $origin->connstr('postgres') ], 'pg_dump');
		$fresh->command_ok([ 'psql', '-XAtq', '-f', "$folder/plain.sql", $fresh->connstr($db) ], 'psql');
	},
	custom => sub {
		my $db = shift;
		$origin->command_ok([ 'pg_dump', '-Fc', '-f', "$folder/custom", $origin->connstr('postgres') ],
			'pg_dump -Fc');
		$fresh->command_ok([ 'pg_restore', '-j2', '--no-owner', '--no-acl', '-d', $fresh->connstr($db),
				"$folder/custom" ], 'pg_restore -j2');
	});

for my $how (sort keys %restore) {
	$fresh->safe_psql('postgres', "CREATE DATABASE $how");
	$restore{$how}->($how);
	is($fresh->safe_psql($how, $picture), $before, "$how: the map is the same");
	is($fresh->safe_psql($how, q{SELECT count(*) FROM p0."Orders" WHERE shardkit.node_of('orders', id) <> 'p0'}),
		'0', "$how: keys have the same owners");

	# Not at home yet, and without its owner.
	my ($status, $out, $error) = $fresh->psql($how, q{SELECT shardkit.add_node('orders', 'p3')});
	like($error, qr/role "team", the owner of map "orders", does not exist/, "$how: the owner is missing");
	if ($fresh->safe_psql($how, q{SELECT count(*) FROM pg_proc WHERE proname = 'move_rows'})) {
		($status, $out, $error) = $fresh->psql($how, q{CALL shardkit.move_rows('orders', '{0}', 'p1')});
		like($error, qr/comes from another server or database|does not exist/, "$how: a move is refused");
	}
	is($fresh->safe_psql($how, q{SELECT shardkit.adopt_map('orders')}), '3', "$how: adopted");
	is($fresh->safe_psql($how, q{SELECT owner FROM shardkit.map WHERE name = 'orders'}),
		$fresh->safe_psql($how, 'SELECT current_user'), "$how: by a superuser");

	# It works: guards, nodes, tables, numbers.
	($status, $out, $error) = $fresh->psql($how, <<'SQL');
INSERT INTO p0."Orders" SELECT min(id) FROM generate_series(5000, 6000) AS id WHERE shardkit.node_of('orders', id) = 'p1'
SQL
	like($error, qr/row belongs to node "p1", not to "p0"/, "$how: the guard stands");
	is($fresh->safe_psql($how, q{SELECT shardkit.add_node('orders', 'p3')}), '4', "$how: epochs go on");
	is($fresh->safe_psql($how, q{SELECT to_regclass('p3."Orders"') IS NOT NULL}), 't', "$how: a new node gets the table");
	is($fresh->safe_psql($how, q{SELECT shardkit.create_map('new', 2); SELECT id FROM shardkit.map WHERE name = 'new'}),
		"1\n3", "$how: a new map gets a new number");
	if ($fresh->safe_psql($how, q{SELECT count(*) FROM pg_proc WHERE proname = 'move_rows'})) {
		$fresh->safe_psql($how, q{CALL shardkit.move_rows('orders', '{0}', 'p3')});
		is($fresh->safe_psql($how, q{SELECT shardkit.slot_node('orders', 0)}), 'p3', "$how: rows can be moved");
		is($fresh->safe_psql($how, q{SELECT count(*) FROM ONLY p3."Orders" WHERE shardkit.slot_of('orders', id) <> 0}),
			'0', "$how: and only those");
	}
}

done_testing();
