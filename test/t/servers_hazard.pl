# What would stop or spoil a move to or from a server is found before anything is written, each with
# the statement that cures it; and what broken moves leave is reported.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $stand = Servers->new(servers => 2, slots => 4, rows => 200, owners => 1);
my $epoch = "SELECT shardkit.map_epoch('orders')";

sub hazards {
	my ($slot, $node) = @_;
	return $stand->query("SELECT severity || ' | ' || object || ' | ' || problem || ' | ' || fix "
		  . "FROM shardkit.server_move_hazards('orders', $slot, '$node')");
}

# With the hazard in place the move is refused and nothing has changed; cured, it is not mentioned.
sub is_hazard {
	my ($name, $node, $plant, $pattern, $cure) = @_;
	my $slot = 0;
	$node->safe_psql('postgres', $plant);
	my $before = $stand->query($epoch);
	like(hazards($slot, 'n2'), $pattern, "$name: found");
	my ($failed, $out, $why) = $stand->try("CALL shardkit.move_rows('orders', ARRAY[$slot], 'n2')");
	like($why, qr/cannot move to node/, "$name: the move is refused");
	is($stand->query($epoch), $before, "$name: and has written nothing");
	$node->safe_psql('postgres', $cure);
	is(hazards($slot, 'n2'), '', "$name: cured");
	return;
}

my ($home, $source, $target) = ($stand->coordinator, $stand->server(1), $stand->server(2));
is(hazards(0, 'n2'), '', 'nothing is wrong at first');

is_hazard('trigger over there', $source,
	'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; '
	  . 'CREATE TRIGGER "my trigger" BEFORE INSERT ON n1.orders_0 FOR EACH ROW EXECUTE FUNCTION f()',
	qr/error \| n1\.orders_0 on server s1 \| it has the trigger my trigger \| .*DROP TRIGGER "my trigger"/,
	'DROP TRIGGER "my trigger" ON n1.orders_0');
is_hazard('foreign key over there', $source,
	'CREATE TABLE n1.lines (id bigint REFERENCES n1.orders_0)',
	qr/a foreign key ties it to another table/, 'DROP TABLE n1.lines');
is_hazard('child over there', $source, 'CREATE TABLE n1.child () INHERITS (n1.orders_0)',
	qr/other tables inherit from it/, 'DROP TABLE n1.child');
is_hazard('row security over there', $source, 'ALTER TABLE n1.orders_0 ENABLE ROW LEVEL SECURITY',
	qr/row level security is on/, 'ALTER TABLE n1.orders_0 DISABLE ROW LEVEL SECURITY');
is_hazard('rule over there', $source, 'CREATE RULE r AS ON DELETE TO n1.orders_0 DO ALSO NOTHING',
	qr/it has the rule r/, 'DROP RULE r ON n1.orders_0');
is_hazard('read-only target', $target,
	'ALTER DATABASE postgres SET default_transaction_read_only = on',
	qr/server s2 \| it is read-only/,
	'BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT');
is_hazard('trigger on the partition', $home,
	'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; '
	  . 'CREATE TRIGGER t BEFORE INSERT ON n1.orders_0 FOR EACH ROW EXECUTE FUNCTION f()',
	qr/its trigger t would not follow it/, 'DROP TRIGGER t ON n1.orders_0');
is_hazard('another name over there', $home,
	"ALTER FOREIGN TABLE n1.orders_0 ALTER note OPTIONS (ADD column_name 'remark')",
	qr/n1\.orders_0\.note \| it has another name on its server/,
	'ALTER FOREIGN TABLE n1.orders_0 ALTER note OPTIONS (DROP column_name)');
is_hazard('server that is down', $home, "ALTER SERVER s2 OPTIONS (SET port '1')",
	qr/server s2 \| could not connect/, "ALTER SERVER s2 OPTIONS (SET port '" . $target->port . "')");

like($stand->query("SELECT severity || ' | ' || object || ' | ' || problem FROM shardkit_internal.server_preflight('orders', '{0,1}', 'n2')"),
	qr/^bill \| n1\.orders_0 \| about \d+ rows, \d+ kB from node n1 to node n2.*\nbill \| n1\.orders_1 /, 'the bill of two slots');

# Another shape is found when both sides are compared, and the try is undone.
$source->safe_psql('postgres', 'ALTER TABLE n1.orders_0 ALTER note TYPE varchar(90)');
my ($failed, $out, $why) = $stand->try("CALL shardkit.move_rows('orders', ARRAY[0], 'n2')");
like($why, qr/has another shape on a node/, 'another type: refused');
is($stand->orphans, '', 'and nothing is left behind');
$source->safe_psql('postgres', 'ALTER TABLE n1.orders_0 ALTER note TYPE text');

# Column order and dropped columns do not matter, nor do names.
$source->safe_psql('postgres', 'ALTER TABLE n1.orders_0 DROP COLUMN note, ADD COLUMN "Note!" text, ADD COLUMN note text');
$source->safe_psql('postgres', 'ALTER TABLE n1.orders_0 DROP COLUMN "Note!"');
my $sum = 'SELECT count(*), shardkit.fingerprint(o) FROM orders o';
my $before = $stand->query($sum);
($failed, $out, $why) = $stand->try("CALL shardkit.move_rows('orders', ARRAY[0], 'n2')");
is($failed, 0, 'another order of columns, and dropped ones') or diag $why;
is($stand->query($sum), $before, 'the same rows');

# A local table with a key keeps it on a server, and gets it back.
$stand->try("CALL shardkit.move_rows('orders', ARRAY[0], 'home')");
like($stand->query("SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'home.orders_0'::regclass AND indisprimary"),
	qr/\(id\)/, 'the primary key came along');
is($stand->query("SELECT count(*) FROM pg_constraint WHERE conrelid = 'home.orders_0'::regclass AND contype = 'c'"), 0,
	'the check for ATTACH is gone');
like($target->safe_psql('postgres', "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'n2'"),
	qr/^shardkit_key_orders,shardkit_mark$|^shardkit_mark,shardkit_key_orders$/, 'nothing but helpers is left on the server');

# What keeps rows of another slot out over there.
$stand->try("CALL shardkit.move_rows('orders', ARRAY[0], 'n2')");
my $table = $target->safe_psql('postgres', "SELECT tablename FROM pg_tables WHERE tablename ~ '^orders_0'");
my ($x, $y, $error) = (undef, '', '');
my $key = $stand->query('SELECT g FROM generate_series(1, 100) g WHERE shardkit.partition_slot(4, g::bigint) = 1 LIMIT 1');
$target->psql('postgres', "INSERT INTO n2.$table VALUES (1000, $key)", stderr => \$error);
like($error, qr/shardkit_slot/, 'a direct INSERT of another slot is refused');

# A server that is down when moves are resumed.
my $down = $stand->start_paused('fence', 3, 'n2');
$stand->query("SELECT pg_terminate_backend($down->{pid}, 5000)");
$stand->open_gate;
$stand->finish($down);
$target->stop('immediate');
($failed, $out, $why) = $stand->try("CALL shardkit.resume_moves('orders')");
is($failed, 0, 'a server that is down does not end resume_moves');
like($why, qr/WARNING.*not undone yet.*could not connect/s, 'but is warned of');
like($stand->query("SELECT string_agg(kind, ',' ORDER BY kind) FROM shardkit.server_leftovers('orders')"),
	qr/^server,unfinished move$/, 'and reported');
$target->start;
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->query("SELECT count(*) FROM shardkit.server_leftovers('orders')"), 0, 'up again, all is done');

# Left by a broken move: reported, and cured by what the report says.
my $move = $stand->start_paused('fence', 1, 'n2');
is($stand->query("SELECT count(*) FROM shardkit.server_leftovers('orders')"), 0, 'a running move is none of them');
is($stand->query("SELECT count(*) FROM shardkit.verify_map('orders') WHERE kind = 'move'"), 0, 'nor a problem of the map');
$stand->query("SELECT pg_terminate_backend($move->{pid}, 5000)");
$stand->open_gate;
$stand->finish($move);
is($stand->query("SELECT kind || ': ' || fix FROM shardkit.server_leftovers('orders')"),
	"unfinished move: CALL shardkit.resume_moves('orders')", 'a broken move is reported with its cure');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->query("SELECT count(*) FROM shardkit.server_leftovers('orders')"), 0, 'cured');
my ($orphan) = $stand->query("SELECT to_table FROM shardkit.server_move ORDER BY id DESC LIMIT 1");
$target->safe_psql('postgres', "CREATE TABLE n2.$orphan (x int)");
my $fix = $stand->query("SELECT fix FROM shardkit.server_leftovers('orders') WHERE kind = 'orphan table'");
like($fix, qr/DROP TABLE/, 'an orphan of an undone try is reported');
is($stand->query("SELECT fix FROM shardkit.verify_map('orders')"), $fix, 'by verify_map too');
$stand->query($fix);
is($stand->query("SELECT count(*) FROM shardkit.server_leftovers('orders')"), 0, 'cured');

# Old rows that were written past the coordinator after the swap are not dropped.
$move = $stand->start_paused('swap', 2, 'n2');
$stand->query("SELECT pg_terminate_backend($move->{pid}, 5000)");
$stand->open_gate;
$stand->finish($move);
$source->safe_psql('postgres', "UPDATE n1.orders_2 SET note = 'past the coordinator' WHERE id = (SELECT min(id) FROM n1.orders_2)");
($failed, $out, $why) = $stand->try("CALL shardkit.resume_moves('orders')");
like($why, qr/old rows of slot 2 .* stay/, 'old rows that have changed stay');
like($stand->query("SELECT problem FROM shardkit.server_leftovers('orders')"), qr/have changed since they were moved/, 'and are reported');
is($stand->query('SELECT count(*) FROM orders'), 200, 'reads are right');
$source->safe_psql('postgres', 'DROP TABLE n1.orders_2');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->query("SELECT count(*) FROM shardkit.server_leftovers('orders')"), 0, 'dropped by hand, all is done');
done_testing();
