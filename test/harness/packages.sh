#!/usr/bin/env bash
# Installs what is missing to build and test shardkit with the PostgreSQL that PG_CONFIG names,
# or else with the distribution's. Prints the path of that PostgreSQL's pg_config.
set -euo pipefail

pg_config=${PG_CONFIG:-pg_config}

# The major version: what pg_config says, else what the distribution's metapackage depends on.
major_version() {
	if command -v "$pg_config" >/dev/null; then
		"$pg_config" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/'
	else
		apt-cache depends postgresql | sed -nE 's/.*Depends: postgresql-([0-9]+)$/\1/p' | head -n 1
	fi
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_missing() {
	local missing=() package
	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	echo "installing: ${missing[*]}" >&2
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o Dpkg::Use-Pty=0 "${missing[@]}" >&2
}

# Is the PostgreSQL that pg_config names complete without any package (built by hand, say)?
is_complete() {
	command -v "$pg_config" >/dev/null &&
		[ -f "$("$pg_config" --pgxs)" ] && [ -x "$("$pg_config" --bindir)/initdb" ] &&
		[ -f "$("$pg_config" --includedir-server)/postgres.h" ]
}

if ! command -v dpkg-query >/dev/null; then
	is_complete || { echo "shardkit: install PostgreSQL with its server headers, g++," \
		"libxxhash, libb2 and IPC::Run, or set PG_CONFIG" >&2; exit 1; }
	command -v "$pg_config"
	exit 0
fi

# A fresh machine has no package lists yet.
if ! apt-cache show postgresql >/dev/null 2>&1; then
	as_root apt-get update -qq >&2
fi

version=$(major_version)
packages=(make g++ libxxhash-dev libb2-dev libpq-dev perl libipc-run-perl
	libtap-parser-sourcehandler-pgtap-perl)
# A PostgreSQL from packages gets its missing ones; one built by hand keeps to itself.
if ! is_complete || [[ "$(readlink -f "$("$pg_config" --bindir)")" == /usr/lib/postgresql/* ]]; then
	packages+=("postgresql-$version" "postgresql-server-dev-$version" "postgresql-$version-pgtap")
	pg_config=/usr/lib/postgresql/$version/bin/pg_config
fi

# A throw-away cluster is wanted, not one in /var/lib/postgresql.
if [ ! -e /etc/postgresql-common/createcluster.conf ] && [ "$(id -u)" = 0 ]; then
	mkdir -p /etc/postgresql-common/createcluster.d
	echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/shardkit.conf
	trap 'rm -f /etc/postgresql-common/createcluster.d/shardkit.conf' EXIT
fi
install_missing "${packages[@]}"
command -v "$pg_config"
