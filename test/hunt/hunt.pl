# A crash hunt: calls every function of the extension with NULLs, extremes, wrong types through
# "any", huge arrays and random valid input, for some seconds, and looks whether the server lived.
#
# usage: hunt.pl [SECONDS [SEED]]      beside a running server (see test/harness/stand.sh)
#
# A batch of statements is one session. A lost connection is a crash: its batch is run again
# statement by statement until the guilty one is found, and that is printed. Internal errors
# (SQLSTATE XX000) are findings too, as is a session that keeps what it allocates.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Memory;
use Values;

binmode STDOUT, ':encoding(UTF-8)';
my $seconds = $ARGV[0] // $ENV{HUNT_SECONDS} // 60;
my $seed = $ARGV[1] // $ENV{HUNT_SEED} // 1;
$ENV{PGDATABASE} = 'hunt';
$ENV{PGCLIENTENCODING} = 'UTF8';
my $folder = $ENV{STAND};
my $batch_size = 150;

sub psql_file {
	my ($file, $log) = @_;
	return system("timeout 300 psql -X -q -v VERBOSITY=verbose -v ON_ERROR_STOP=0 -f '$file' > '$log' 2>&1");
}

sub write_file {
	my ($file, @lines) = @_;
	open my $out, '>:encoding(UTF-8)', $file or die "$file: $!\n";
	print $out "$_\n" for @lines;
	close $out;
}

sub slurp { open my $in, '<:encoding(UTF-8)', $_[0] or return ''; local $/; return <$in> // '' }

# Every function whose arguments SQL can give: (signature text, kind, returns set, argument types).
sub functions {
	my @found;
	my $list = `psql -XAtq -F '|' -c "
		SELECT f.pronamespace::regnamespace || '.' || f.proname, f.prokind, f.prorettype = 'trigger'::regtype, f.provariadic <> 0,
			array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(
				CASE WHEN f.prokind = 'p' THEN coalesce(f.proallargtypes, f.proargtypes::oid[]) ELSE f.proargtypes::oid[] END)
				WITH ORDINALITY AS u (t, n) ORDER BY n), ';')
		FROM pg_proc AS f WHERE f.pronamespace IN ('shardkit'::regnamespace, 'shardkit_internal'::regnamespace) ORDER BY f.oid"`;
	for (split /\n/, $list) {
		my ($name, $kind, $trigger, $variadic, $types) = split /\|/, $_, 5;
		my @types = split /;/, $types // '';
		next if grep { /^(?:internal|cstring)$/ } @types;
		push @found, { name => $name, kind => $kind, trigger => $trigger eq 't',
			variadic => $variadic eq 't', types => \@types };
	}
	return @found;
}

sub arguments {
	my $function = shift;
	my @types = @{ $function->{types} };
	my @values;
	while (@types) {
		my $type = shift @types;
		if (!@types && $function->{variadic}) {
			$type =~ s/\[\]$//;
			push @values, rand() < 0.08 ? 'VARIADIC ' . Values::array('integer')
				: map { Values::value($type) } 1 .. Values::pick(1, 1, 1, 2, 2, 3, 40, 110);
		} else {
			push @values, Values::value($type);
		}
	}
	pop @values while @values > 1 && rand() < 0.15;
	return join ', ', @values;
}

sub statement {
	my $function = shift;
	my $call = "$function->{name}(" . ($function->{trigger} ? '' : arguments($function)) . ')';
	if ($function->{trigger}) {
		my $table = Values::pick(qw(plain empty odd hashed seen far n0.plain shardkit.map pg_temp.x));
		my $arguments = join ', ', map { Values::text() } 1 .. rand 4;
		return 'CREATE TRIGGER prey_trigger ' . Values::pick('BEFORE', 'AFTER', 'INSTEAD OF') . ' '
			. Values::pick('INSERT', 'UPDATE', 'INSERT OR UPDATE OR DELETE', 'TRUNCATE') . " ON $table FOR EACH "
			. Values::pick('ROW', 'STATEMENT') . " EXECUTE FUNCTION $function->{name}($arguments)",
			"INSERT INTO $table DEFAULT VALUES", "UPDATE $table SET id = id + 1", "DELETE FROM $table WHERE id = 3";
	}
	return "CALL $call" if $function->{kind} eq 'p';
	my $dice = rand;
	if ($function->{kind} eq 'a') {
		my $from = Values::pick('(SELECT 1) AS one', 'plain', 'empty', 'generate_series(1, 2000) AS g', 'hashed');
		return "SELECT $call OVER (ROWS 2 PRECEDING) FROM $from" if $dice < 0.15;
		return "SELECT $call FROM $from GROUP BY random() < 0.5" if $dice < 0.4;
		return "SELECT $call FROM $from";
	}
	return "SELECT count(*) FROM (SELECT $call FROM generate_series(1, 100)) AS t" if $dice < 0.1;
	return "SELECT * FROM $call AS t LIMIT 5" if $dice < 0.4;
	return "PREPARE p AS SELECT $call", 'EXECUTE p', 'EXECUTE p', 'DEALLOCATE p' if $dice < 0.45;
	return "SELECT $call";
}

# Now and then the surroundings change too.
sub surroundings {
	return 'ROLLBACK' if rand() < 0.5;
	return Values::pick('BEGIN', 'BEGIN ISOLATION LEVEL SERIALIZABLE', 'BEGIN READ ONLY', 'COMMIT', 'ROLLBACK', 'SAVEPOINT s',
		'ROLLBACK TO s', 'SET ROLE hunt_nobody', 'RESET ROLE', 'SET search_path = pg_temp, prey', 'SET search_path = prey, public',
		"SET work_mem = '64kB'", 'RESET work_mem', 'SET parallel_setup_cost = 0', 'SET jit = off', 'DISCARD ALL',
		"SET lc_messages = 'C'", 'SET statement_timeout = 20', "SET statement_timeout = '3s'", 'SET debug_parallel_query = on',
		'SET force_parallel_mode = on', 'DROP SCHEMA n1 CASCADE', "SET DateStyle = 'German'", 'DELETE FROM shardkit.slot_map WHERE slot = 3',
		"UPDATE shardkit.node SET schema = 'nowhere' WHERE name = 'n1'", 'ALTER TABLE plain ADD COLUMN more int', 'DROP TABLE n0.plain',
		"UPDATE shardkit.map SET slots = slots + 1", 'DELETE FROM shardkit.map', "UPDATE shardkit.map_table SET key = 'nosuch, 7'");
}

sub batch {
	my @functions = @_;
	my @lines = ('SET search_path = prey, public;');
	my @statements;
	for (1 .. $batch_size) {
		push @statements, map { "$_;" } rand() < 0.1 ? surroundings() : statement(Values::pick(@functions));
	}
	return [@lines, @statements];
}

sub crashed { return slurp($_[0]) =~ /server closed the connection|connection to server was lost|terminated by signal/ }

# After a crash the server needs a moment.
sub revive {
	for (1 .. 60) { return if system('psql -XAtq -c "SELECT 1" >/dev/null 2>&1') == 0; sleep 1 }
	die "not ok - the server did not come back\n";
}

# The time limit is the database's own: DISCARD ALL is one of the statements.
sub make_database {
	system('dropdb --force --if-exists hunt && createdb hunt') == 0 or die "not ok - no database\n";
	psql_file("$FindBin::Bin/limits.sql", "$folder/hunt.limits.log");
}

# The last statement before the connection broke, and the batch kept for who wants to repeat it.
sub report_crash {
	my ($lines, $number) = @_;
	revive();
	my $log = "$folder/hunt.crash.log";
	write_file("$folder/hunt.crash.$number.sql", '\\set ECHO queries', @$lines);
	psql_file("$folder/hunt.crash.$number.sql", $log);
	my @echoed = grep { /;$/ } split /\n/, (split /server closed|connection to server was lost/, slurp($log))[0];
	print "not ok - crash in: ", substr($echoed[-1] // '(it did not happen again)', 0, 1000), "\n";
	revive();
}

make_database();
psql_file("$FindBin::Bin/setup.sql", "$folder/hunt.setup.log");
my @functions = functions();
die "not ok - the extension has no functions\n" unless @functions;
print "# seed $seed, ", scalar @functions, " functions, $seconds seconds\n";
srand $seed;

my ($batches, $statements, $crashes, %internal, %states) = (0, 0, 0);
my $deadline = time + $seconds;
while (time < $deadline && $crashes < 20) {
	$batches++;
	psql_file("$FindBin::Bin/setup.sql", "$folder/hunt.setup.log");
	my $lines = batch(@functions);
	write_file("$folder/hunt.sql", @$lines);
	psql_file("$folder/hunt.sql", "$folder/hunt.log");
	$statements += @$lines;
	if (crashed("$folder/hunt.log")) {
		report_crash($lines, ++$crashes);
		next;
	}
	my $said = slurp("$folder/hunt.log");
	$states{$1}++ while $said =~ /ERROR:  ([0-9A-Z]{5}):/g;
	while ($said =~ /ERROR:  XX...: (.*)\n((?:(?!psql:).*\n){0,4})/g) {
		my ($message, $rest) = ($1, $2);
		(my $kind = $message) =~ s/[0-9]+/N/g;
		$internal{$kind} //= $message . ($rest =~ /(LOCATION:.*)/ ? " $1" : '');
	}
}

my @calls = grep { $_->{kind} eq 'f' && !$_->{trigger} } @functions;
make_database();
psql_file("$FindBin::Bin/$_.sql", "$folder/hunt.$_.log") for qw(setup moves);
my @growths = (
	['calls that answer or fail', Memory::growth($folder, Memory::calls(map { my @one = statement($_); @one == 1 ? "$one[0];" : () } (@calls) x 3))],
	['moves between schemas', Memory::growth($folder, Memory::moves('kept', 'k0', 'k1'))],
	['moves to a server and back', Memory::growth($folder, Memory::moves('sent', 'here', 'there'))]);

print "# $batches batches, $statements statements, errors by SQLSTATE: ",
	join(', ', map { "$_ $states{$_}" } sort keys %states), "\n";
my $failed = 0;
sub ok { my ($good, $name, $number) = @_; print $good ? '' : 'not ', "ok $number - $name\n"; $failed ||= !$good }
ok($crashes == 0 && $statements > 0, "no crash in $statements statements", 1);
print "# internal error: $internal{$_}\n" for sort keys %internal;
ok(!%internal, 'no internal error', 2);
my $number = 2;
for (@growths) {
	my ($what, $contexts, $process, $errors) = @$_;
	# The server's own cache of catalogs doubles once: a megabyte.
	ok($contexts < 2 << 20 && $process < 8 << 20, "a session does not grow by $what (contexts $contexts, process $process bytes)", ++$number);
	next unless $what =~ /^moves/;
	ok(!@$errors, 'and they work', ++$number);
	print "# $_\n" for @$errors[0 .. ($#$errors < 4 ? $#$errors : 4)];
}
print "1..$number\n";
exit($failed ? 1 : 0);
