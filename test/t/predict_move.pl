# What was predicted is what moves: the plan's rows, predict_churn between the two slot layouts, and
# the move log afterwards are the same numbers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('predict_move');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
sub ask { return $node->safe_psql('postgres', shift) }

my $nodes = join ', ', map { "'p$_'" } 0 .. 7;
ask(qq{CREATE EXTENSION shardkit;
	CREATE TABLE shape (id bigint, user_id bigint NOT NULL);
	SELECT shardkit.create_map('orders', 72, ARRAY[$nodes]);
	SELECT shardkit.add_table('orders', 'orders', 'user_id', template => 'shape');
	CREATE TABLE flat AS SELECT i::bigint AS id, 1 + i % 20000 AS user_id FROM generate_series(0, 199999) AS i});
ask("INSERT INTO p$_.orders SELECT * FROM flat WHERE shardkit.node_of('orders', user_id) = 'p$_'") for 0 .. 7;
ask(q{SELECT shardkit.add_node('orders', 'p8')});

# The map's assignment as a layout; what a plan makes of it.
sub layout_of
{
	my $owners = shift;
	return ask(qq{SELECT format('slots(%s; slots=72)', string_agg(format('%s[%s]', node, slots), ', ' ORDER BY node))
		FROM (SELECT node, string_agg(slot::text, ',' ORDER BY slot) AS slots FROM ($owners) AS o GROUP BY node) AS n});
}
my $old = layout_of(q{SELECT slot, node FROM shardkit.slot_map WHERE map = 'orders'});
my $new = layout_of(q{SELECT s.slot, coalesce(p.to_node, s.node) AS node FROM shardkit.slot_map AS s
	LEFT JOIN shardkit.plan_rebalance('orders') AS p USING (slot) WHERE s.map = 'orders'});

is(ask(q{SELECT count(*), count(DISTINCT from_node) FROM shardkit.plan_rebalance('orders')}), '8|8', 'eight slots, one from each node');
my $planned = ask(q{SELECT sum(rows) FROM shardkit.plan_rebalance('orders')});
my $flows = qq{SELECT from_node, to_node, rows FROM shardkit.predict_flows('flat', 'user_id', '$old', '$new') WHERE from_node <> to_node ORDER BY 1};
my $predicted = ask($flows);
is(ask("SELECT rows_moved FROM shardkit.predict_churn('flat', 'user_id', '$old', '$new')"), $planned, 'predicted = planned');
ask(q{CALL shardkit.rebalance('orders')});
is(ask(q{SELECT sum(rows) FROM shardkit.move_log}), $planned, 'moved = planned');
is(ask(q{SELECT from_node, to_node, sum(rows) FROM shardkit.move_log GROUP BY 1, 2 ORDER BY 1}), $predicted, 'moved = predicted, node by node');
is(layout_of(q{SELECT slot, node FROM shardkit.slot_map WHERE map = 'orders'}), $new, 'the map is the layout that was asked about');
is(ask(q{SELECT count(*) FROM p8.orders}), $planned, 'and the new node holds these rows');

done_testing();
