# A COPY that takes its time: the map changes meanwhile, a mover waits for it, and its rows are
# judged as any others.
use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('map_copy');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION shardkit;
CREATE TABLE shape (id bigint PRIMARY KEY);
SELECT shardkit.create_map('m', 8, ARRAY['a', 'b']);
SELECT shardkit.add_table('m', 'orders', 'id', template => 'shape');
SQL
my @mine = split /\n/, $node->safe_psql('postgres',
	q{SELECT id FROM generate_series(1, 40000) AS id WHERE shardkit.node_of('m', id) = 'a'});
my $theirs = $node->safe_psql('postgres',
	q{SELECT min(id) FROM generate_series(1, 40000) AS id WHERE shardkit.node_of('m', id) = 'b'});

my ($in, $out, $error) = ("COPY a.orders FROM STDIN;\n", '', '');
my $copy = IPC::Run::start([ 'psql', '-XAt', '-v', 'ON_ERROR_STOP=1', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$error, IPC::Run::timeout(60));
my $half = @mine / 2;
$in .= join '', map { "$_\n" } @mine[ 0 .. $half - 1 ];
$copy->pump while length $in;
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'a.orders'::regclass AND mode = 'RowExclusiveLock'})
	or die 'COPY did not begin';

$node->safe_psql('postgres', q{SELECT shardkit.add_node('m', 'c'), shardkit.set_weight('m', 'b', 2), shardkit.drain_node('m', 'c')});
my ($status, $said, $refusal) = $node->psql('postgres', q{CALL shardkit.move_rows('m', ARRAY[0], 'b', max_wait => '300 ms')});
like($refusal, qr/locked by process \d+/, 'a mover gives up and names the COPY');

$in .= join '', map { "$_\n" } @mine[ $half .. $#mine ];
$in .= "\\.\n\\q\n";
$copy->finish;
like($out, qr/^COPY ${\ scalar @mine}$/m, 'COPY ends as it began');
is($node->safe_psql('postgres', q{SELECT count(*), count(*) FILTER (WHERE shardkit.node_of('m', id) <> 'a') FROM a.orders}),
	scalar(@mine) . '|0', 'all rows, and only those that belong there');

$node->safe_psql('postgres', q{CALL shardkit.move_rows('m', ARRAY[0], 'b')});
is($node->safe_psql('postgres', q{SELECT (SELECT count(*) FROM a.orders) + (SELECT count(*) FROM b.orders)}),
	scalar(@mine), 'the mover goes on');

# One row of many that does not belong there: none comes in.
($status, $said, $refusal) = $node->psql('postgres',
	"TRUNCATE a.orders; COPY a.orders FROM STDIN;\n" . join('', map { "$_\n" } grep { $_ > 0 } @mine) . "$theirs\n\\.\n");
like($refusal, qr/row belongs to node "b", not to "a"/, 'one foreign row at the end');
is($node->safe_psql('postgres', 'SELECT count(*) FROM a.orders'), 0, 'refuses the whole COPY');

done_testing();
