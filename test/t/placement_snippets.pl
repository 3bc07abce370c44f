# The programs in doc/placement.md answer what SQL answers, where their interpreters are installed.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $doc = PostgreSQL::Test::Utils::slurp_file('doc/placement.md');
my $folder = PostgreSQL::Test::Utils::tempdir();
my @keys = ('', 'a', 'Grüße', '1', '-1', 'key with spaces', map { "user-$_" } 0 .. 499);

sub write_file
{
	my ($path, $text) = @_;
	open my $handle, '>', $path or die "$path: $!";
	print $handle $text;
	close $handle;
	return $path;
}

my $node = PostgreSQL::Test::Cluster->new('snippets');
$node->init(extra => ['--encoding=UTF8', '--locale=C.UTF-8']);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION shardkit');
my $keys = write_file("$folder/keys", join '', map { "$_\n" } @keys);
my $right = $node->safe_psql('postgres', qq{
	SET client_encoding = 'UTF8';
	SELECT concat_ws(' ', hash, shardkit.modulo(hash, 9), shardkit.jump(hash, 9), shardkit.ring(hash, nodes), shardkit.rendezvous(hash, nodes))
	FROM regexp_split_to_table(rtrim(pg_read_file('$keys'), E'\\n'), E'\\n') WITH ORDINALITY AS k(key, at),
		LATERAL (SELECT shardkit.hash64(key, 'sha256') AS hash) AS h,
		(SELECT array_agg('node-' || i) AS nodes FROM generate_series(0, 8) AS i) AS n
	ORDER BY at});
is(scalar(split /\n/, $right), scalar(@keys), 'SQL answers every key');

for my $language (['python', 'py', 'python3'], ['go', 'go', 'go run'])
{
	my ($name, $suffix, $run) = @$language;
	SKIP:
	{
		my ($interpreter) = split / /, $run;
		my $try = $name eq 'go' ? 'version' : '--version';
		skip "$interpreter is not installed", 1 if system("$interpreter $try >/dev/null 2>&1") != 0;
		my ($program) = $doc =~ /^```$name\n(.*?)^```$/ms or die "no $name program";
		my $file = write_file("$folder/placement.$suffix", $program);
		my $answers = qx(HOME=$folder $run $file < $keys);
		chomp $answers;
		is($answers, $right, "the $name program answers what SQL answers, " . @keys . ' keys');
	}
}
$node->stop;
done_testing();
