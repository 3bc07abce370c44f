# A relay in front of a server's socket, whose connections can be cut.
package Relay;

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ();

# Listens as a server of that port in that folder would, and hands on to the real one.
sub start {
	my ($class, $folder, $node) = @_;
	my $self = bless { path => "$folder/.s.PGSQL." . $node->port,
		target => $node->host . '/.s.PGSQL.' . $node->port }, $class;
	return $self->run;
}

sub run {
	my ($self) = @_;
	unlink $self->{path};
	my $listener = IO::Socket::UNIX->new(Local => $self->{path}, Listen => 20)
	  or die "relay: $!";
	my $pid = fork;
	die "relay: $!" unless defined $pid;
	if ($pid == 0) {
		setpgrp;
		$SIG{CHLD} = 'IGNORE';
		$SIG{TERM} = 'DEFAULT';
		while (my $client = $listener->accept) {
			next if fork;
			hand_on($client, $self->{target});
			POSIX::_exit(0);
		}
		POSIX::_exit(0);
	}
	$self->{pid} = $pid;
	return $self;
}

sub hand_on {
	my ($client, $path) = @_;
	my $server = IO::Socket::UNIX->new(Peer => $path) or return;
	my $both = IO::Select->new($client, $server);
	while (my @ready = $both->can_read) {
		for my $from (@ready) {
			my $to = $from == $client ? $server : $client;
			my $got = sysread $from, my $bytes, 65536;
			return unless $got;
			for (my $done = 0; $done < $got;) {
				my $written = syswrite $to, $bytes, $got - $done, $done;
				return unless defined $written;
				$done += $written;
			}
		}
	}
	return;
}

# All its connections end at once; new ones are refused until mend.
sub cut {
	my ($self) = @_;
	return unless $self->{pid};
	kill 'KILL', -$self->{pid};
	kill 'KILL', $self->{pid};
	waitpid $self->{pid}, 0;
	delete $self->{pid};
	return;
}

sub mend {
	my ($self) = @_;
	$self->run unless $self->{pid};
	return;
}

sub DESTROY { my ($self) = @_; local $?; $self->cut; return }

1;
