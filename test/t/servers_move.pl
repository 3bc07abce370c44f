# Moves of slots between servers: every direction, with the rows checked, and nothing left behind.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $stand = Servers->new(servers => 3, slots => 8, rows => 2000, owners => 2);

# Two socket folders, the first in quotes: the way back to the coordinator is the first.
my $home = $stand->coordinator;
my $folder = PostgreSQL::Test::Utils::tempdir_short();
$home->append_conf('postgresql.conf', "unix_socket_directories = '\"@{[ $home->host ]}\", $folder'");
# Not restart, which calls the program by the name under which it runs, past a sanitizer's wrapper.
$home->stop;
$home->start;

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
# Where every name is quoted, here and on some of the servers, definitions are the same as ever.
$_->safe_psql('postgres', 'ALTER SYSTEM SET quote_all_identifiers = on'), $_->reload for $home, $stand->server(1), $stand->server(3);
for my $to (qw(n3 home n1 n2)) {
	($code, $out, $err) = $stand->try("CALL shardkit.move_rows('orders', ARRAY[2, 4], '$to')");
	is($code, 0, "both tables to $to") or diag $err;
	is($stand->query($whole) . $stand->query($lines), $first . $second, 'the same rows in both');
}
is($stand->query('SELECT count(*) FROM (SELECT slot, epoch FROM shardkit.move_log WHERE slot IN (2, 4) '
	  . 'GROUP BY slot, epoch HAVING count(DISTINCT relation) = 2) x'), 8, 'at one epoch each');
is($stand->query("SELECT problem FROM shardkit.verify_map('orders')"), '', 'and nothing is wrong');
$_->safe_psql('postgres', 'ALTER SYSTEM RESET quote_all_identifiers'), $_->reload for $home, $stand->server(1), $stand->server(3);
is($stand->orphans, '', 'nothing is left behind');

# --- what belongs to a partition goes along: privileges, options, owner, indexes --------------

# Who may do what with a table: here, or over there with its present name.
sub rights {
	my ($server, $table) = @_;
	return ($server ? $stand->server($server) : $home)->safe_psql('postgres', <<"SQL");
SELECT string_agg(x, ' ' ORDER BY x COLLATE "C") FROM (SELECT (i::text) AS x FROM pg_class c, unnest(c.relacl) i WHERE c.oid = '$table'::regclass
	UNION ALL SELECT a.attname || '(' || i || ')' FROM pg_attribute a, unnest(a.attacl) i WHERE a.attrelid = '$table'::regclass) r
	WHERE x !~ ('^' || current_user || '=')
SQL
}

sub over_there {
	my ($partition) = @_;
	return $stand->query("SELECT string_agg(option_value, '.' ORDER BY option_name) FROM pg_foreign_table, pg_options_to_table(ftoptions) "
		  . "WHERE ftrelid = '$partition'::regclass AND option_name IN ('schema_name', 'table_name')");
}

my ($slot, $me) = (6, $stand->query('SELECT current_user'));
move($slot, 'n1');
$stand->query(<<'SQL');
CREATE ROLE reader; CREATE ROLE "Odd one"; CREATE ROLE keeper;
GRANT SELECT ON n1.orders_6 TO reader WITH GRANT OPTION;
GRANT UPDATE (note), SELECT ON n1.orders_6 TO "Odd one";
GRANT INSERT ON n1.orders_6 TO PUBLIC;
ALTER FOREIGN TABLE n1.orders_6 OPTIONS (ADD fetch_size '77');
ALTER TABLE orders OWNER TO keeper;
CREATE INDEX ON orders (at);
CREATE INDEX ON orders (user_id);
SQL
my $remote = over_there('n1.orders_6');
$stand->server(1)->safe_psql('postgres', "CREATE ROLE reader; CREATE ROLE ghost; GRANT SELECT ON $remote TO reader WITH GRANT OPTION; "
	  . "GRANT DELETE, UPDATE (note) ON $remote TO ghost; GRANT SELECT (id) ON $remote TO PUBLIC");
$stand->server(3)->safe_psql('postgres', 'CREATE ROLE reader; CREATE ROLE "Odd one"');
(my $granted = rights(0, 'n1.orders_6')) =~ s{/$me}{/keeper}g;
($code, $out, $err) = move($slot, 'n3');
is($code, 0, 'server to server') or diag $err;
my $there = rights(0, 'n3.orders_6');
is(join(' ', grep { !/^keeper=/ } split /(?<=keeper) /, $there), $granted, 'rights on the partition went along');
is(rights(3, over_there('n3.orders_6')), "id(=r/$me) reader=r*/$me", 'those over there too, of roles that are there');
like($stand->query("SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'n3.orders_6'::regclass"), qr/fetch_size=77/, 'and options');
is($stand->query("SELECT relowner::regrole FROM pg_class WHERE oid = 'n3.orders_6'::regclass"), 'keeper', 'the owner is the table\'s');
($code, $out, $err) = move($slot, 'home');
is($code, 0, 'to the coordinator') or diag $err;
is(rights(0, 'home.orders_6'), $there, 'with the same rights');
is($stand->query("SELECT relowner::regrole FROM pg_class WHERE oid = 'home.orders_6'::regclass"), 'keeper', 'and owner');
is($stand->query("SELECT string_agg(substring(d from '\\(.*'), ' ' ORDER BY substring(d from '\\(.*') COLLATE \"C\") || ' ' || count(inhparent) "
	  . "FROM (SELECT pg_get_indexdef(indexrelid) AS d, inhparent FROM pg_index LEFT JOIN pg_inherits ON inhrelid = indexrelid WHERE indrelid = 'home.orders_6'::regclass) i"),
	'(at) (id) (user_id) 2', 'each index once, of the table over there and of the partitioned one');

# Paused between swap and drop: nobody but the owner reads the old table.
my $run = $stand->start_paused('swap', $slot, 'n3');
my $old = $stand->query("SELECT format('home.%I', kept_name) FROM shardkit.server_move ORDER BY id DESC LIMIT 1");
is($stand->query("SELECT string_agg(r, ',') FROM unnest(ARRAY['reader', 'Odd one']) r WHERE has_any_column_privilege(r, '$old', 'SELECT, INSERT, UPDATE')"),
	'', 'no rights on the old table are left');
($code, $out, $err) = $stand->try("INSERT INTO $old DEFAULT VALUES");
like($err, qr/have moved to another node/, 'and it refuses writes');
$stand->open_gate;
($code, $err) = $stand->finish($run);
is($code, 0, 'local to server') or diag $err;
is(rights(0, 'n3.orders_6'), $there, 'rights on the partition went along');
is(rights(3, over_there('n3.orders_6')), qq("Odd one"=r/$me =a/$me note("Odd one"=w/$me) reader=r*/$me), 'and over there, as they were here');
$stand->query("ALTER TABLE orders OWNER TO $me; DROP INDEX orders_at_idx, orders_user_id_idx");

# --- a partition that leaves schema and name to its own, a session that does not wait for its
# commits, a node that has nothing yet, and nothing to do -----------------------------------

($code, $out, $err) = move(7, 'n2');
my ($schema, $table) = split /\./, over_there('n2.orders_7');
$stand->server(2)->safe_psql('postgres', "ALTER TABLE $schema.$table RENAME TO orders_7; ALTER TABLE $schema.orders_7 SET SCHEMA n2") if $table ne 'orders_7' || $schema ne 'n2';
$stand->query('ALTER FOREIGN TABLE n2.orders_7 OPTIONS (DROP schema_name, DROP table_name)');
$stand->query("SELECT shardkit.add_node('orders', 'n4', server => 's3')");
$run = $stand->start([ 'SET synchronous_commit = off', "CALL shardkit.move_server_slot('orders', 7, 'n1')", 'SHOW synchronous_commit' ]);
($code, $err, $out) = $stand->finish($run);
is($code, 0, 'a foreign table without options moves') or diag $err;
is($err, '', 'and no warning about a node without a schema over there');
like($out, qr/^\d+\noff$/, 'the setting is the session\'s again');
is($stand->server(3)->safe_psql('postgres', "SELECT to_regnamespace('n4')"), '', 'it got none');
($code, $out, $err) = move(7, 'n1');
is("$code $out", '0 0', 'to where it is: nothing to do');

# --- a server that tells the way back ---------------------------------------------------------

my ($host, $wrong, $port) = ($home->host, $stand->server(1)->port, $home->port);
$stand->query("CREATE SERVER shardkit_loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '@{[ $stand->server(1)->host ]}', port '$wrong', dbname 'postgres'); "
	  . 'CREATE USER MAPPING FOR CURRENT_USER SERVER shardkit_loopback');
($code, $out, $err) = move(7, 'home');
like($err, qr/"shardkit_loopback" does not lead back to this database/, 'a way that leads elsewhere is refused');
is($stand->owner(7), 'n1', 'and nothing has moved');
$stand->query("ALTER SERVER shardkit_loopback OPTIONS (SET host '$host', SET port '$port')");
($code, $out, $err) = move(7, 'home');
is($code, 0, 'the right one is used') or diag $err;
is($stand->query($whole) . $stand->query($lines), $first . $second, 'the same rows in both tables');
# Another map whose tables lie in the same schema of a server has a mark of its own there.
$stand->query(<<'SQL');
CREATE TABLE model (id bigint PRIMARY KEY);
SELECT shardkit.create_map('other', 2), shardkit.add_node('other', 'n1', server => 's1'), shardkit.add_node('other', 'near', 'near'),
	shardkit.assign_slots('other', ARRAY[0, 1], 'near');
SELECT shardkit.add_table('other', 'public.others', 'id', 'per_slot', 'model');
INSERT INTO others SELECT generate_series(1, 100);
SQL
($code, $out, $err) = $stand->try("CALL shardkit.move_rows('other', ARRAY[0, 1], 'n1')");
is($code, 0, 'a second map moves into the schema of the first') or diag $err;
is($stand->query('SELECT count(*), sum(id) FROM others'), '100|5050', 'with all its rows');
is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('other') AS v"), '', 'and its map is whole');
is($stand->orphans, '', 'nothing is left behind');
is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('orders') AS v"), '', 'verify_map is empty');
done_testing();
