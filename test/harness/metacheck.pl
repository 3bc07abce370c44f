# Prints what is wrong in META.json: the PGXN meta specification 1.0.0, and agreement with the
# control file and the changelog. Prints nothing and succeeds when all is well.
use strict;
use warnings;
use JSON::PP;

my @wrong;
sub slurp { open my $in, '<:raw', $_[0] or die "$_[0]: $!\n"; local $/; return <$in> }
sub demand { push @wrong, $_[1] unless $_[0] }
sub is_text { return defined $_[0] && !ref $_[0] && length $_[0] }

my $semantic = qr/\A(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[A-Za-z][0-9A-Za-z-]*)?\z/;
my $meta = JSON::PP->new->utf8->decode(slurp('META.json'));

my %known = map { $_ => 1 } qw(name version abstract description maintainer license provides
	meta-spec release_status prereqs resources tags no_index generated_by);
demand($known{$_} || /\Ax_/i, "unknown key $_") for sort keys %$meta;
demand(is_text($meta->{$_}), "$_ is missing or empty") for qw(name version abstract);
demand(defined $meta->{$_}, "$_ is missing") for qw(maintainer license provides meta-spec);
demand(($meta->{name} // '') =~ /\A[^\s\/\\]{2,}\z/, 'name is no PGXN term');
demand(($meta->{version} // '') =~ $semantic, 'version is not semantic');
demand(($meta->{'meta-spec'}{version} // '') eq '1.0.0', 'meta-spec is not 1.0.0');
demand(($meta->{'meta-spec'}{url} // '') =~ m{\Ahttps?://pgxn\.org/meta/spec\.txt\z},
	'meta-spec names no specification');
demand(($meta->{release_status} // 'stable') =~ /\A(?:stable|testing|unstable)\z/,
	'release_status is none of the three');
demand(($meta->{license} // '') eq 'postgresql', 'license is not postgresql');

for my $extension (sort keys %{ $meta->{provides} // {} }) {
	my $what = $meta->{provides}{$extension};
	demand(is_text($what->{file}), "$extension: no file");
	demand(($what->{version} // '') =~ $semantic, "$extension: version is not semantic");
	demand(($what->{version} // '') eq $meta->{version}, "$extension: another version than META's");
	demand(!$what->{docfile} || -f $what->{docfile}, "$extension: docfile does not exist");
}
for my $phase (values %{ $meta->{prereqs} // {} }) {
	for my $need (values %$phase) {
		demand($need->{$_} =~ /\A(?:0|\d+\.\d+\.\d+)\z/, "prereqs: $_ wants a version") for sort keys %$need;
	}
}

# PGXN wants three numbers; the extension's own version is the first two.
my ($control) = slurp('shardkit.control') =~ /^default_version = '([^']+)'/m;
my ($changelog) = slurp('CHANGELOG.md') =~ /^## (\S+)/m;
my ($makefile) = slurp('Makefile') =~ /^EXTVERSION = (\S+)/m;
demand("$control.0" eq ($meta->{version} // ''), "control file says $control, META.json $meta->{version}");
demand($control eq $changelog, "control file says $control, CHANGELOG.md $changelog");
demand($control eq $makefile, "control file says $control, Makefile $makefile");
demand(($meta->{provides}{shardkit}{file} // '') eq "sql/shardkit--$control.sql",
	'META.json names another install script');

print "$_\n" for @wrong;
exit(@wrong ? 1 : 0);
