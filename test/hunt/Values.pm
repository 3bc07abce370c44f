# Values that functions do not expect, as SQL expressions, by type name.
package Values;
use strict;
use warnings;

my @int = qw(0 1 2 3 7 8 9 72 100 1024 1025 65535 65536 16777216 2147483646 2147483647 -1 -2 -2147483648);
my @bigint = (@int, qw(4294967296 9223372036854775807 -9223372036854775807),
	'(-9223372036854775807 - 1)', '17068571456203592619::numeric::bigint');
my @float = qw(0 1 1.5 0.05 -1 100 1e-300 1e300 'NaN' 'Infinity' '-Infinity');
my @relation = qw(plain empty odd hashed hashed_1 hashed_0 holes naked expression listed seen stored
	counter plain_id far pair n0.plain pg_class pg_catalog.pg_proc nowhere sliced);
my @word = ('', ' ', 'm', 'bare', 'slots', 'n0', 'n1', 'n2', 'id', '"User"', 'User', 'id, "User"',
	'id, id', 'nosuch', 'ctid', 'tableoid', 'amount', 'note', 'j', 'p', 'r', 'm, s', 'per_node', 'per_slot',
	'postgres', 'sha256', 'md5', 'xxh3', 'blake2b', 'fnv1a', 'murmur3', 'prey.route', 'prey.wrong', 'rows', 'bytes', 'slots',
	'a"b', "it''s", 'a.b.c.d', '%s%n%d', '\\', '{tag}x', '{}', '{', '1', '-1', '1e400', 'NaN', 'SELECT 1', 'SELECT 1/0',
	'DROP TABLE %schema%.plain', 'COMMIT', "\x{fc}n\x{ef}", 'weight', 'all_plain', 'prey.all_plain', 'loop', 'true');
my @layout = ('modulo(8)', 'modulo(9)', 'jump(9)', 'jump(2147483647)', 'ring(8; vnodes=256)', 'ring(3)',
	'ring(a, b*2, c; vnodes=128, token_hash=sha1)', 'rendezvous(a, b*1.5, c)', 'slots(8; slots=1024)',
	'slots(a[0-8,70], b[9-17], c[18-69,71]; slots=72)', 'ranges(8)', 'ranges("a b", "c""d")', 'rendezvous(200)',
	'slots(a[0-1], b[2]; slots=3)', 'modulo(n0, n1)', 'ring(n0, n1; vnodes=4)');
my @broken = ('modulo(0)', 'modulo(-1)', 'modulo()', 'modulo(8', 'slots(8; slots=4)', 'slots(a[0-9]; slots=5)', 'ring(a, a)',
	'ring(a*0)', 'ring(a*NaN)', 'ring(a; vnodes=999999999)', 'slots(a[5-1]; slots=9)', 'ranges(99999999999999)',
	'rendezvous(a*1e999)', '(((((', '"', 'ring(""; vnodes=1)', 'modulo(8;;;)', 'slots(a[0-4294967299]; slots=7)');
my @any = ('NULL', "'x'", '1', '1::smallint', '1::bigint', '1.5::numeric', "'NaN'::numeric", "'NaN'::float8", "'-0'::float8",
	"'t'::text", "''::text", "repeat('y', 100000)", "'v'::varchar", "'c'::char(5)", "'n'::name", "'\\x00ff'::bytea", 'true',
	"'2026-01-01'::date", "'infinity'::timestamptz", "'1 day'::interval", "'12:00'::time", "'12:00+01'::timetz",
	'gen_random_uuid()', "'{1,2}'::int[]", "'{}'::text[]", "'{{1},{2}}'::int[]", "'[1,5)'::int4range", "'{}'::json", "'{\"a\": [1]}'::jsonb",
	"'(1,2)'::point", "ROW(1, 'a')", "ROW(1, 'a')::prey.pair", 'ROW()', "'glad'::prey.mood", '5::prey.small', "'c'::\"char\"",
	'1::oid', "'1'::xid", "'(0,1)'::tid", "'127.0.0.1'::inet", "'a b'::tsvector", "B'101'", "'<a/>'::xml", '12::money',
	"'plain'::regclass", "'0/0'::pg_lsn", "'x'::unknown", "'a' COLLATE \"C\"", "'{\"(1,a)\"}'::prey.pair[]", 'NULL::record', 'NULL::int[]');

sub pick { return $_[int rand @_] }
sub quoted { my $text = shift; $text =~ s/'/''/g unless $text =~ /''/; return "'$text'" }

sub random_text {
	return join '', map { pick((split //, 'ab1,;*()[]".-{}= '), "\x{e9}") } 1 .. rand 20;
}

# A valid or near-valid layout with one character gone, doubled or changed.
sub layout {
	my $text = rand() < 0.75 ? pick(@layout) : pick(@broken);
	if (rand() < 0.15) {
		substr($text, rand length $text, 1) = pick('', ',', '"', '9', '*', ';', '-', ')', "\x{e9}");
	}
	return $text;
}

sub text {
	my $dice = rand;
	return quoted(pick(@word)) if $dice < 0.5;
	return quoted(pick(@relation)) if $dice < 0.7;
	return quoted(layout()) if $dice < 0.8;
	return pick("repeat('z', 1000000)", "repeat('a,', 5000)", "repeat('\"', 999)", "chr(1)") if $dice < 0.84;
	return quoted(random_text());
}

sub array {
	my $type = shift;
	my $dice = rand;
	return "NULL::${type}[]" if $dice < 0.04;
	return "'{}'::${type}[]" if $dice < 0.1;
	return "array_fill(" . value($type) . "::$type, ARRAY[" . pick(1, 3, 5000, 200000) . "])" if $dice < 0.18;
	return "array_fill(" . value($type) . "::$type, ARRAY[2, 3])" if $dice < 0.23;
	return "'[-3:-2]={1,2}'::${type}[]" if $dice < 0.28 && $type =~ /int|float|text/;
	return "ARRAY(SELECT i::$type FROM generate_series(0, " . pick(3, 7, 71, 70000) . ") AS i)"
		if $dice < 0.4 && $type =~ /^(?:integer|bigint|double precision|text)$/;
	return 'ARRAY[' . join(', ', map { value($type) } 1 .. 1 + rand 5) . "]::${type}[]";
}

# An expression of the type, NULL now and then.
sub value {
	my $type = shift;
	return "NULL::$type" if $type !~ /"any"|any|internal/ && rand() < 0.05;
	return array($1) if $type =~ /^(.*)\[\]$/;
	return pick(@int) . '::int' if $type eq 'integer';
	return pick(0, 1, -1, 32767) . '::smallint' if $type eq 'smallint';
	return pick(@bigint) . '::bigint' if $type eq 'bigint';
	return pick(@float) . '::float8' if $type eq 'double precision';
	return pick('true', 'false') if $type eq 'boolean';
	return text() . '::text' if $type eq 'text';
	return quoted(pick(@word)) . '::name' if $type eq 'name';
	return rand() < 0.1 ? pick(0, 1, 4294967295) . '::oid::regclass' : quoted(pick(@relation)) . '::regclass'
		if $type eq 'regclass';
	return quoted(layout()) . '::shardkit.layout' if $type =~ /layout$/;
	return pick("'1 s'", "'0'", "'-1 day'", "'100 years'", "'50 ms'") . '::interval' if $type eq 'interval';
	return pick("'null'", "'{}'", "'[]'", "'1'", "'{\"format\": 1, \"map\": \"m\", \"slots\": 8}'", "'{\"nodes\": [[[[]]]]}'",
		"shardkit.export_map('m')") . '::jsonb' if $type eq 'jsonb';
	return pick("'\\x'", "'\\x00'", "decode(repeat('ab', 100000), 'hex')") . '::bytea' if $type eq 'bytea';
	return pick(@any) if $type =~ /any|record/;
	return 'NULL::' . $type;
}

1;
