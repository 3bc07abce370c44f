# xxh64 and xxh3 against the distribution's xxhsum, layouts through pg_dump and binary COPY.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('judge');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION shardkit');

SKIP:
{
	skip 'xxhsum is not installed', 1 if system('command -v xxhsum >/dev/null 2>&1') != 0;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	srand(20);
	my @strings = map { join '', map { chr(33 + int rand 94) } 1 .. $_ } map { $_ * 4 + int rand 4 } 0 .. 249;
	unshift @strings, '';
	my (@files, %differs);
	for my $i (0 .. $#strings)
	{
		my $file = sprintf '%s/%03d', $folder, $i;
		open my $handle, '>', $file or die $!;
		print $handle $strings[$i];
		close $handle;
		push @files, $file;
	}
	for my $algorithm (['xxh64', '-H1'], ['xxh3', '-H3'])
	{
		my @judge = map { /([0-9a-f]{16})/ ? lc $1 : () }
			map { s/^\S+\/\d+\s*\)?\s*=//r =~ s/XXH3 \([^)]*\) = //r } qx(xxhsum $algorithm->[1] -q @files);
		my $query = join ' UNION ALL ', map {
			sprintf "SELECT %d AS at, \$s\$%s\$s\$ AS value", $_, $strings[$_] } 0 .. $#strings;
		my @ours = split /\n/, $node->safe_psql('postgres',
			"SELECT lpad(to_hex(shardkit.hash64(value, '$algorithm->[0]')), 16, '0') FROM ($query) AS s ORDER BY at");
		is_deeply(\@ours, \@judge, "$algorithm->[0] as xxhsum over " . @strings . ' strings of 0 to 1,000 bytes');
	}
}

# A table with layouts: dumped, restored, the same texts; in binary COPY too.
$node->safe_psql('postgres', q{
	CREATE TYPE named AS (name text, layout shardkit.layout);
	CREATE TABLE layouts (id serial, layout shardkit.layout NOT NULL DEFAULT 'ring(3)', named named, UNIQUE (layout));
	INSERT INTO layouts (layout, named) SELECT l, ('x', l)::named FROM unnest(ARRAY['modulo("a, b", "q""uote")', 'slots(a[0,3], b[1-2]; slots=4)',
		'ranges(a@0000000000000000, b@4000000000000000)', 'rendezvous(a, b*1.5)']::shardkit.layout[]) AS l;
	INSERT INTO layouts DEFAULT VALUES;
});
my $texts = $node->safe_psql('postgres', 'SELECT * FROM layouts ORDER BY id');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok(['pg_dump', '-p', $node->port, '-h', $node->host, '-f', $dump, 'postgres'], 'a database with layouts is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok(['psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-p', $node->port, '-h', $node->host, '-f', $dump, 'restored'], 'and restored');
is($node->safe_psql('restored', 'SELECT * FROM layouts ORDER BY id'), $texts, 'with the same layouts');
my $binary = PostgreSQL::Test::Utils::tempdir() . '/layouts.bin';
$node->safe_psql('postgres', "COPY layouts TO '$binary' (FORMAT binary); TRUNCATE layouts; COPY layouts FROM '$binary' (FORMAT binary)");
is($node->safe_psql('postgres', 'SELECT * FROM layouts ORDER BY id'), $texts, 'binary COPY carries layouts');
is($node->safe_psql('postgres', q{
	PREPARE placed (shardkit.layout, bigint) AS SELECT shardkit.place($1, $2);
	SET plan_cache_mode = force_generic_plan;
	EXECUTE placed ('modulo(2)', 3);
	EXECUTE placed ('modulo(3)', 3);
}), "node-1\nnode-0", 'a generic plan compiles what it is given');

$node->stop;
done_testing();
