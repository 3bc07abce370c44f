# A psql that stays open: statements are sent, and their answers waited for when they are wanted.
package Session;
use strict;
use warnings;
use IPC::Run qw(start timer);

my $patience = 60;

sub new {
	my ($class, $node, %options) = @_;
	my $self = bless { in => '', out => '', err => '', sent => 0 }, $class;
	my $database = $options{dbname} // 'postgres';
	my @command = ('psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($database));
	push @command, '-U', $options{user} if $options{user};
	$self->{timer} = timer($patience);
	$self->{run} =
	  start(\@command, '<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err}, $self->{timer});
	$self->query('SET client_min_messages = warning');
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	return $self;
}

# Sends statements without waiting.
sub send {
	my ($self, $sql) = @_;
	$self->{sent}++;
	$self->{in} .= "$sql;\n\\echo done-$self->{sent}\n\\warn done-$self->{sent}\n";
	$self->{run}->pump_nb;
	return $self;
}

# The output and errors of all that was sent; dies after a minute.
sub wait {
	my ($self) = @_;
	my $mark = "done-$self->{sent}";
	$self->{timer}->start($patience);
	until ($self->{out} =~ /^$mark\n/m && $self->{err} =~ /^$mark\n/m) {
		die "session waits too long: $self->{out}$self->{err}" if $self->{timer}->is_expired;
		last unless eval { $self->{run}->pump; 1 };
	}
	my ($out, $err) = ($self->{out}, $self->{err});
	$self->{out} = $self->{err} = '';
	s/^done-\d+\n//mg for $out, $err;
	$self->{errors} = $err;
	chomp $out;
	return $out . $err;
}

sub query {
	my ($self, $sql) = @_;
	return $self->send($sql)->wait;
}

# True while the last statement is not answered.
sub busy {
	my ($self) = @_;
	$self->{run}->pump_nb;
	return $self->{err} !~ /^done-$self->{sent}\n/m;
}

sub close {
	my ($self) = @_;
	$self->{in} .= "\\q\n";
	eval { $self->{run}->finish };
	return;
}

1;
