# Does a session keep what it allocates? The same statements again and again in one session: after
# the first rounds neither its memory contexts nor its process may grow.
package Memory;
use strict;
use warnings;

# Its own contexts, and the pages that the process holds and does not share (what libpq allocates is
# not in any context). A sanitizer keeps what was freed: there the pages say nothing.
my $measure = "SELECT 'contexts', sum(total_bytes) FROM pg_backend_memory_contexts;\n"
	. "SELECT 'process', (page[2]::bigint - page[3]::bigint) * " . (`getconf PAGESIZE` + 0)
	. " FROM string_to_array(pg_read_file('/proc/self/statm'), ' ') AS page;";

# Statements in a transaction that is rolled back, each in a savepoint.
sub calls {
	my @round = map { ('SAVEPOINT s;', $_, 'ROLLBACK TO s;', 'RELEASE s;') } @_;
	return ['BEGIN;', (@round) x 3, 'ROLLBACK;'], ['BEGIN;', (@round) x 6, 'ROLLBACK;'];
}

# Slots there and back, so that every table, lock and connection of a move is taken and let go.
sub moves {
	my ($map, $here, $there) = @_;
	my @round = map { "CALL shardkit.move_rows('$map', ARRAY[0, 1], '$_');" } $there, $here;
	return [(@round) x 15], [(@round) x 20];
}

# (bytes by which the contexts have grown, bytes by which the process has, errors)
sub growth {
	my ($folder, $first, $then) = @_;
	open my $out, '>:encoding(UTF-8)', "$folder/hunt.memory.sql" or die "$folder: $!\n";
	print $out "$_\n" for 'SET search_path = prey, public;', "SET statement_timeout = '10s';",
		@$first, $measure, @$then, $measure;
	close $out;
	my $said = `timeout 600 psql -XAt -F ' ' -f '$folder/hunt.memory.sql' 2>&1`;
	my %bytes;
	push @{ $bytes{$1} }, $2 while $said =~ /^(contexts|process) (\d+)$/mg;
	my $grown = sub { my $seen = $bytes{ $_[0] } // []; return @$seen == 2 ? $seen->[1] - $seen->[0] : 1 << 40 };
	my $sanitized = ($ENV{STAND_SERVER_WITH} // '') =~ /libasan/;
	return $grown->('contexts'), $sanitized ? 0 : $grown->('process'), [grep { /ERROR:/ } split /\n/, $said];
}

1;
