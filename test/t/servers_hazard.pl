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
is($stand->query("SELECT fix FROM shardkit.verify_map('orders') WHERE kind = 'move'"), "CALL shardkit.resume_moves('orders')", 'by verify_map too');
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

# What is refused for the map and the partition as they stand: nothing is written.
sub is_refused {
	my ($name, $plant, $call, $state, $pattern, $cure) = @_;
	$stand->query($plant);
	my $before = $stand->query('SELECT count(*) FROM shardkit.move_log');
	my ($code, $out, $err) = $stand->try("\\set VERBOSITY verbose\n$call");
	like($err, qr/ERROR:  $state: .*$pattern/, $name);
	is($stand->query('SELECT count(*) FROM shardkit.move_log'), $before, "$name: nothing is written");
	$stand->query($cure);
	return;
}
$stand->query("CALL shardkit.move_rows('orders', '{0,1,2,3}', 'n1')");
my $bound = 'FOR VALUES WITH (modulus 4, remainder 0)';
my $slot0 = "CALL shardkit.move_server_slot('orders', 0, 'n2')";
my $away = 'ALTER TABLE orders DETACH PARTITION n1.orders_0';
my $back = "ALTER TABLE orders ATTACH PARTITION n1.orders_0 $bound";
is_refused('a partition that is gone', $away, $slot0, '55000', 'has no partition with modulus 4 and remainder 0', $back);
is_refused('a partition on another server', "$away; CREATE FOREIGN TABLE n1.other PARTITION OF orders $bound SERVER s2", $slot0,
	'55000', 'partition n1\.other does not lie on node "n1"', "DROP FOREIGN TABLE n1.other; $back");
is_refused('a partition that is partitioned', "$away; CREATE TABLE n1.other PARTITION OF orders $bound PARTITION BY RANGE (id)", $slot0,
	'0A000', 'neither a table nor a foreign table', "DROP TABLE n1.other; $back");
is_refused('a slot without owner', "SELECT shardkit.create_map('bare', 2); SELECT shardkit.add_node('bare', 'b1', server => 's1')",
	"CALL shardkit.move_server_slot('bare', 0, 'b1')", '55000', 'slot 0 of map "bare" has no owner', "SELECT shardkit.drop_map('bare')");
is_refused('who owns the map but not the table', "CREATE ROLE clerk; GRANT USAGE ON SCHEMA shardkit TO clerk; UPDATE shardkit.map SET owner = 'clerk'",
	"SET ROLE clerk; $slot0", '42501', 'must be owner of table orders', "UPDATE shardkit.map SET owner = current_user");
# The type is missing over there, which a function finds out on the way.
is_refused('a key whose type is not known over there', "CREATE DOMAIN user_number AS bigint; SELECT shardkit.create_map('typed', 2, ARRAY['t0']); "
	  . "CREATE TABLE typed_template (id user_number); SELECT shardkit.add_table('typed', 'typed', 'id', 'per_slot', 'typed_template'); "
	  . "SELECT shardkit.add_node('typed', 't2', server => 's2')", "CALL shardkit.move_server_slot('typed', 0, 't2')",
	'42704', 'type "public.user_number" does not exist', "DROP TABLE typed; SELECT shardkit.drop_map('typed')");

# Event triggers here and triggers over there that do not want the move: their own words, and the
# move is undone at once.
sub is_undone {
	my ($name, $slot, $state, $pattern, $run) = @_;
	$run //= $stand->start("CALL shardkit.move_server_slot('orders', $slot, 'n2')");
	my ($code, $err) = $stand->finish($run);
	like($err, qr/ERROR:  $state: .*$pattern/, "$name: refused");
	is($stand->query('SELECT state || (error ~ \'' . $pattern . '\') FROM shardkit.move_log ORDER BY id DESC LIMIT 1'), 'undonetrue', "$name: undone at once");
	is($stand->orphans, '', "$name: nothing is left behind");
	is($stand->owner($slot), 'n1', "$name: the slot stays");
	($code, my $out, $err) = $stand->try("UPDATE orders SET hits = hits + 1 WHERE tableoid = 'n1.orders_$slot'::regclass");
	is($code, 0, "$name: and is written") or diag $err;
	return;
}
$stand->query('CREATE FUNCTION not_today() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE \'not today\' USING ERRCODE = \'55000\'; END$$');
for my $tag ('CREATE FOREIGN TABLE', 'ALTER TABLE') {
	$stand->query("CREATE EVENT TRIGGER not_today ON ddl_command_start WHEN TAG IN ('$tag') EXECUTE FUNCTION not_today()");
	is_undone("event trigger on $tag", 0, '55000', 'not today');
	$stand->query('DROP EVENT TRIGGER not_today');
}
sub each_row {
	my ($body) = @_;
	$target->safe_psql('postgres', <<"SQL");
CREATE OR REPLACE FUNCTION each_row() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN $body; RETURN NEW; END\$\$;
CREATE OR REPLACE FUNCTION plant() RETURNS event_trigger LANGUAGE plpgsql AS \$\$DECLARE fresh text; BEGIN
	FOR fresh IN SELECT object_identity FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'orders_[0-9]_m' LOOP
		EXECUTE 'CREATE TRIGGER each_row BEFORE INSERT ON ' || fresh || ' FOR EACH ROW EXECUTE FUNCTION public.each_row()';
	END LOOP; END\$\$;
DROP EVENT TRIGGER IF EXISTS plant;
CREATE EVENT TRIGGER plant ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION plant();
SQL
	return;
}
each_row(q{IF NEW.id = 120 THEN RAISE 'no row 120' USING ERRCODE = '23514', DETAIL = 'It is too much.'; END IF});
my $of_120 = $stand->query('SELECT shardkit.slot_of(\'orders\', user_id) FROM orders WHERE id = 120');
is_undone('a row that the target refuses', $of_120, '23514', 'on server "s2": no row 120');
each_row(q{NEW.note := 'as the target likes it'});
is_undone('rows that the target changes', 0, '22000', 'the target holds other rows of table public.orders');
$target->safe_psql('postgres', 'DROP EVENT TRIGGER plant');

# What is taken away under the move.
$move = $stand->start_paused('settle', 0, 'n2');
$stand->query('DROP FOREIGN TABLE ' . $stand->query("SELECT format('%I.%I', new_schema, fresh_name) FROM shardkit.server_move ORDER BY id DESC LIMIT 1"));
$stand->open_gate;
is_undone('the new table is gone', 0, '42P01', 'is gone', $move);
$move = $stand->start_paused('fence', 0, 'n2');
$stand->query("$away; CREATE FOREIGN TABLE n1.other PARTITION OF orders $bound SERVER s1 OPTIONS (table_name 'orders_0')");
$stand->open_gate;
my ($code, $err) = $stand->finish($move);
like($err, qr/40001: slot 0 of map "orders" has changed under the move/, 'another partition stands there now');
$stand->query("DROP FOREIGN TABLE n1.other; $back");
is($stand->orphans, '', 'nothing is left behind');

# One broken move whose partition is gone, and one that can be undone.
sub break_move {
	my ($step, $slot) = @_;
	my $broken = $stand->start_paused($step, $slot, 'n2');
	$stand->query("SELECT pg_terminate_backend($broken->{pid}, 5000)");
	$stand->open_gate;
	$stand->finish($broken);
	return $stand->query("SELECT format('%I.%I', new_schema, fresh_name) FROM shardkit.server_move ORDER BY id DESC LIMIT 1");
}
my $states = 'SELECT string_agg(slot || state, \' \' ORDER BY slot) FROM shardkit.move_log WHERE finished_at IS NULL';
break_move('swap', 1);
break_move('fence', 2);
$stand->query('ALTER TABLE orders DETACH PARTITION n2.orders_1');
($code, $out, $err) = $stand->try("CALL shardkit.resume_moves('orders')");
is($code, 0, 'a move that cannot be finished does not end resume_moves');
like($err, qr/WARNING:  the move of slot 1 .* cannot be finished or undone yet\nDETAIL:  partition n2\.orders_1 is gone/, 'but is warned of');
is($stand->query($states), '1swapped', 'and the others are undone');
($code, $out, $err) = $stand->try("CALL shardkit.move_server_slot('orders', 1, 'n1')");
like($err, qr/has no partition with modulus 4 and remainder 1/, 'nor does it move again');
$stand->query('ALTER TABLE orders ATTACH PARTITION n2.orders_1 FOR VALUES WITH (modulus 4, remainder 1)');

# Old rows that somebody still looks at by a foreign table of his own.
my $old = $stand->query("SELECT format('schema_name %L, table_name %L', from_schema, from_table) FROM shardkit.server_move JOIN shardkit.move_log USING (id) WHERE state = 'swapped'");
$stand->query("CREATE TABLE archive (LIKE orders) PARTITION BY LIST (hits); CREATE FOREIGN TABLE archive_1 PARTITION OF archive DEFAULT SERVER s1 OPTIONS ($old)");
($code, $out, $err) = $stand->try("CALL shardkit.resume_moves('orders')");
like($err, qr/WARNING:  the old rows of slot 1 .* stay/, 'old rows for which a partition stands stay');
is($stand->query('SELECT error FROM shardkit.move_log WHERE finished_at IS NULL'), 'a foreign table still stands for the old rows', 'as the log says');
$stand->query('DROP TABLE archive');
($code, $out, $err) = $stand->try("CALL shardkit.move_server_slot('orders', 1, 'n1')");
like($err, qr/an earlier move of slot 1 .* is not finished\nHINT:  CALL shardkit\.resume_moves\('orders'\) first/, 'the slot does not move before that is finished');
is($stand->query($states) . $stand->orphans, '', 'which the refused call has seen to');

# What a broken move has made, put to use by hand, is not dropped.
my $fresh = break_move('copy', 0);
$stand->query("$away; ALTER TABLE orders ATTACH PARTITION $fresh $bound");
($code, $out, $err) = $stand->try("CALL shardkit.resume_moves('orders')");
like($err, qr/WARNING: .* not undone yet\nDETAIL:  table \Q$fresh\E is a partition although its move was not finished/, 'a table attached by hand stays');
is($stand->query('SELECT count(*) FROM orders'), 200, 'with its rows');
$stand->query("ALTER TABLE orders DETACH PARTITION $fresh; $back; ALTER FOREIGN TABLE $fresh RENAME TO mine; "
	  . 'CREATE TABLE archive (LIKE orders) PARTITION BY LIST (hits); ALTER TABLE archive ATTACH PARTITION n2.mine DEFAULT');
($code, $out, $err) = $stand->try("CALL shardkit.resume_moves('orders')");
like($err, qr/WARNING: .* not undone yet\nDETAIL:  a partition stands for table \Q$fresh\E of server "s2"/, 'under another name too');
$stand->query('DROP TABLE archive');
$stand->query("CALL shardkit.resume_moves('orders')");
is($stand->query($states) . $stand->orphans, '', 'taken out of use it goes');
is($stand->query("SELECT string_agg(v::text, '; ') FROM shardkit.verify_map('orders') AS v"), '', 'verify_map is empty');
is($stand->query('SELECT count(*) FROM orders'), 200, 'and all rows are there');
done_testing();
