# What verify_map says of tables on servers that are not as their partitioned table: each damage is
# found, and what it says cures it.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Servers;

my $stand = Servers->new(servers => 2, slots => 4, rows => 200, owners => 2);
my ($home, $s1, $s2) = ($stand->coordinator, $stand->server(1), $stand->server(2));
my $sum = 'SELECT count(*), sum(hits), shardkit.fingerprint((o.id, o.user_id, o.note, o.at)) FROM orders o';
my $sound = $stand->query($sum);

sub found {
	return $stand->query("SELECT kind || ' | ' || object || ' | ' || problem FROM shardkit.verify_map('orders') ORDER BY 1");
}

# Runs what verify_map prints until it prints nothing, each statement in a transaction of its own.
sub cure {
	for my $round (1 .. 4) {
		last if found() eq '';
		my ($code, $out, $err) = $stand->try("SELECT fix FROM shardkit.verify_map('orders') \\gexec");
		is($code, 0, "round $round runs") or diag $err;
	}
	return found();
}

sub is_found {
	my ($name, $node, $plant, $expected) = @_;
	$node->safe_psql('postgres', $plant);
	is(found(), $expected, "$name: found");
	is(cure(), '', "$name: cured");
	is($stand->query($sum), $sound, "$name: all rows are there");
	return;
}

is(found(), '', 'nothing is wrong at first');
my $t = 'n1.orders_0 on server s1';
is_found('extra column', $s1, 'ALTER TABLE n1.orders_0 ADD COLUMN "Extra" int NOT NULL DEFAULT 7',
	qq(shape | $t | column "Extra" is missing in public.orders));
is($stand->query('SELECT count(*) FROM orders WHERE "Extra" = 7'), $s1->safe_psql('postgres', 'SELECT count(*) FROM n1.orders_0'),
	'and what it held is seen here');
is_found('dropped column', $s2, 'ALTER TABLE n2.orders_1 DROP COLUMN "Extra"', 'shape | n2.orders_1 on server s2 | column "Extra" is missing');
is_found('renamed column', $s1, 'ALTER TABLE n1.orders_0 RENAME COLUMN note TO remark',
	"shape | $t | column note is missing; remark may be it");
is_found('another type', $s1, 'ALTER TABLE n1.orders_0 ALTER note TYPE varchar(90)',
	"shape | $t | column note is of type character varying(90), not text");
is_found('nulls', $s1, 'ALTER TABLE n1.orders_0 ALTER user_id DROP NOT NULL, ALTER note SET NOT NULL',
	"shape | $t | column note does not accept null\nshape | $t | column user_id accepts null");
is_found('missing key', $s1, 'ALTER TABLE n1.orders_0 DROP CONSTRAINT orders_0_pkey',
	"rule | $t | constraint is missing: PRIMARY KEY (id)");
is_found('another key', $s1, 'ALTER TABLE n1.orders_0 DROP CONSTRAINT orders_0_pkey, ADD CONSTRAINT "My key" PRIMARY KEY (id, user_id)',
	"rule | $t | constraint is missing: PRIMARY KEY (id)");
is_found('trigger', $s1,
	'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; '
	  . 'CREATE TRIGGER "my trigger" BEFORE INSERT ON n1.orders_0 FOR EACH ROW EXECUTE FUNCTION f()',
	"rule | $t | it has the trigger my trigger");
is_found('rule', $s1, 'CREATE RULE r AS ON DELETE TO n1.orders_0 DO ALSO NOTHING', "rule | $t | it has the rule r");
is_found('foreign key', $s1, 'CREATE TABLE public.lines (id bigint REFERENCES n1.orders_0)',
	"rule | $t | a foreign key ties it to another table");
is_found('children', $s1, 'CREATE TABLE public.child () INHERITS (n1.orders_0); CREATE TABLE public."Other child" () INHERITS (n1.orders_0)',
	"shape | $t | other tables inherit from it\nshape | $t | other tables inherit from it");
is_found('row security', $s1, 'ALTER TABLE n1.orders_0 ENABLE ROW LEVEL SECURITY', "rule | $t | row level security is on");
is_found('several at once', $s1, 'ALTER TABLE n1.orders_0 DROP CONSTRAINT orders_0_pkey, DROP CONSTRAINT shardkit_slot; '
	  . 'ALTER TABLE n1.orders_2 ENABLE ROW LEVEL SECURITY',
	"check | $t | the check that keeps rows of other slots out is missing or another\n"
	  . "rule | $t | constraint is missing: PRIMARY KEY (id)\nrule | n1.orders_2 on server s1 | row level security is on");

# What a local partition has counts too; what lies under another name is no difference.
$stand->try("CALL shardkit.move_rows('orders', ARRAY[2], 'home')");
is(found(), '', 'a slot here, the others there');
$s1->safe_psql('postgres', 'ALTER TABLE n1.orders_0 RENAME note TO remark');
$stand->query("ALTER FOREIGN TABLE n1.orders_0 ALTER note OPTIONS (ADD column_name 'remark')");
is(found(), '', 'a column under another name');

# What another role has to do is told in words.
$s1->safe_psql('postgres', 'CREATE ROLE clerk LOGIN; GRANT USAGE ON SCHEMA n1 TO clerk; GRANT SELECT ON ALL TABLES IN SCHEMA n1 TO clerk');
$stand->query("ALTER USER MAPPING FOR CURRENT_USER SERVER s1 OPTIONS (ADD user 'clerk')");
is($stand->query("SELECT kind || ' | ' || object || ' | ' || problem || ' | ' || fix FROM shardkit.verify_map('orders')"),
	"rule | $t | it belongs to postgres | on that server: ALTER TABLE n1.orders_0 OWNER TO clerk", 'a table of another role');
$stand->query('ALTER USER MAPPING FOR CURRENT_USER SERVER s1 OPTIONS (DROP user)');

# A server that is down is one row, and the others are still looked at.
$s2->stop('immediate');
$s1->safe_psql('postgres', 'ALTER TABLE n1.orders_0 ENABLE ROW LEVEL SECURITY');
is($stand->query("SELECT string_agg(kind || ' ' || object, ', ' ORDER BY kind) FROM shardkit.verify_map('orders') WHERE kind <> 'rows'"),
	"rule $t, server s2", 'a server that does not answer is one row');
$s2->start;
is(cure(), '', 'up again, all is cured');
done_testing();
