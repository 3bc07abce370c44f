# A coordinator and its servers, each a cluster of its own, with orders in partitions on them.
package Servers;

use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Relay;
use Time::HiRes qw(sleep time);

# The advisory locks of src/pg/server/server_pause.cpp.
my $pause_class = 0x736b6974;

# The first cluster is made by initdb; the others are copies of it from before its first start.
my $template;

sub start_cluster {
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	if ($template) {
		system('cp', '-a', $template, $node->data_dir) == 0 or die 'no copy of the template';
		mkdir $_ for $node->backup_dir, $node->archive_dir;
		$node->append_conf('postgresql.conf', 'port = ' . $node->port);
	}
	else {
		$node->init(allows_streaming => 1, extra => [ '--no-sync' ]);
		$template = PostgreSQL::Test::Utils::tempdir() . '/template';
		system('cp', '-a', $node->data_dir, $template) == 0 or die 'no template';
	}
	$node->append_conf('postgresql.conf', <<"CONF");
fsync = off
max_connections = 60
max_prepared_transactions = 5
shared_buffers = 32MB
log_min_messages = warning
@{[ $options{conf} // '' ]}
CONF
	$node->start;
	return $node;
}

# servers: how many; slots; rows; owners: how many of the servers own slots at first.
sub new {
	my ($class, %options) = @_;
	my $self = bless { slots => $options{slots} // 8, rows => $options{rows} // 2000 }, $class;
	$self->{coordinator} = start_cluster($options{name} // 'coordinator', conf => $options{conf});
	my $first = $options{name} // 'server';
	$self->{servers} = [ map { start_cluster("$first$_") } 1 .. $options{servers} ];
	my $sql = "CREATE EXTENSION postgres_fdw; CREATE EXTENSION shardkit;\n";
	my $number = 0;
	for my $server (@{ $self->{servers} }) {
		$number++;
		my ($host, $port) = ($server->host, $server->port);
		if ($options{relays}) {
			$host = PostgreSQL::Test::Utils::tempdir_short();
			$self->{relays}[$number] = Relay->start($host, $server);
		}
		$sql .= <<"SQL";
CREATE SERVER s$number FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'postgres', use_remote_estimate 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER s$number;
SQL
	}
	$self->{coordinator}->safe_psql('postgres', $sql);
	$self->make_orders($options{owners} // $options{servers} - 1);
	return $self;
}

# All that a user would do: nodes on servers, slots, a table from a template. The last servers own
# nothing at first.
sub make_orders {
	my ($self, $owners) = @_;
	my ($slots, $rows) = ($self->{slots}, $self->{rows});
	my $all = @{ $self->{servers} };
	my $sql = "SELECT shardkit.create_map('orders', $slots);\n";
	for my $node (1 .. $all) {
		$sql .= "SELECT shardkit.add_node('orders', 'n$node', server => 's$node');\n";
		$sql .= "SELECT shardkit.assign_slots('orders', (SELECT array_agg(s) FROM "
		  . "generate_series(0, $slots - 1) AS s WHERE 1 + s % $owners = $node), 'n$node');\n"
		  if $node <= $owners;
		$sql .= "ALTER SERVER s$node OPTIONS (ADD batch_size '1000', ADD async_capable 'true');\n";
	}
	$sql .= "SELECT shardkit.add_node('orders', 'home');\n";
	$sql .= 'CREATE TABLE order_template (id bigint PRIMARY KEY, user_id bigint NOT NULL, note text, '
	  . "at timestamptz DEFAULT now(), hits int DEFAULT 0);\n"
	  . "CREATE INDEX ON order_template (user_id);\n"
	  . "SELECT shardkit.add_table('orders', 'public.orders', 'user_id', 'per_slot', 'order_template');\n"
	  . "INSERT INTO orders SELECT g, g / 10, 'order ' || g FROM generate_series(1, $rows) g;\n";
	$self->{coordinator}->safe_psql('postgres', $sql);
	return;
}

sub coordinator { return $_[0]{coordinator} }
sub server { return $_[0]{servers}[ $_[1] - 1 ] }

sub query { return $_[0]{coordinator}->safe_psql('postgres', $_[1]) }

# Answers (exit code, output, errors): for what may fail.
sub try {
	my ($self, $sql, %options) = @_;
	my ($out, $err) = ('', '');
	my $code = $self->{coordinator}->psql('postgres', $sql, stdout => \$out, stderr => \$err,
		timeout => 60, on_error_stop => 1, %options);
	return ($code, $out, $err);
}

sub relay { return $_[0]{relays}[ $_[1] ] }

sub owner { return $_[0]->query("SELECT shardkit.slot_node('orders', $_[1])") }

# Tables of moves on any server that no partition stands for.
sub orphans {
	my ($self) = @_;
	my %known = map { $_ => 1 } split /\n/, $self->query(
		"SELECT s.srvname || ' ' || coalesce((SELECT option_value FROM pg_options_to_table("
		  . "f.ftoptions) WHERE option_name = 'schema_name'), n.nspname) || '.' || coalesce((SELECT "
		  . "option_value FROM pg_options_to_table(f.ftoptions) WHERE option_name = 'table_name'), "
		  . "c.relname) FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver "
		  . "JOIN pg_class c ON c.oid = f.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
		  . 'WHERE c.relispartition');
	my @orphans;
	for my $number (1 .. @{ $self->{servers} }) {
		my $tables = $self->server($number)->safe_psql('postgres',
			"SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname ~ '^n[0-9]+\$' "
			  . "AND tablename !~ '^shardkit_'");
		push @orphans, grep { !$known{$_} } map { "s$number $_" } split /\n/, $tables;
	}
	push @orphans, split /\n/, $self->query(
		"SELECT 'coordinator ' || c.oid::regclass FROM pg_class c WHERE c.relkind IN ('r', 'f') "
		  . "AND NOT c.relispartition AND (c.relname ~ '^orders_' OR c.relname ~ 'moved')");
	push @orphans, split /\n/, $self->query(
		"SELECT 'fence ' || tgrelid::regclass FROM pg_trigger WHERE tgname ~ '^shardkit_'");
	return join ', ', @orphans;
}

# A psql of its own that runs one statement; finish waits for it and answers (exit code, errors).
sub start {
	my ($self, $sql) = @_;
	my %run = (out => '', err => '');
	$run{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $self->{coordinator}->connstr('postgres'),
			map { ('-c', $_) } ref $sql ? @$sql : $sql ],
		'>', \$run{out}, '2>', \$run{err}, IPC::Run::timeout(120));
	return \%run;
}

sub finish {
	my ($self, $run) = @_;
	$run->{handle}->finish;
	return ($run->{handle}->result(0), $run->{err}, $run->{out});
}

# A move that stands still after a step, and the process that stands there.
sub start_paused {
	my ($self, $step, $slot, $node) = @_;
	$self->close_gate;
	my $run = $self->start([ "SET shardkit.pause_after = '$step'",
		"CALL shardkit.move_server_slot('orders', $slot, '$node', '10 seconds')" ]);
	$run->{pid} = $self->wait_at_gate;
	return $run;
}

# Closes the gate at which the next move with shardkit.pause_after stands still.
sub close_gate {
	my ($self) = @_;
	$self->{gate} = $self->{coordinator}->background_psql('postgres', on_error_die => 1);
	$self->{gate}->query_safe("SELECT pg_advisory_lock($pause_class, 2)");
	return;
}

sub open_gate {
	my ($self) = @_;
	eval { $self->{gate}->quit } if $self->{gate};
	delete $self->{gate};
	return;
}

# The mover's process, once it stands at the gate.
sub wait_at_gate {
	my ($self) = @_;
	my $until = time + 30;
	while (time < $until) {
		my $pid = $self->query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' "
			  . "AND classid = $pause_class AND objid = 1 LIMIT 1");
		return $pid if $pid ne '';
		sleep 0.02;
	}
	die 'no move came to the gate';
}

1;
