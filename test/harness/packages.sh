#!/usr/bin/env bash
# Installs what is missing to build and test shardkit with the PostgreSQL that PG_CONFIG names,
# or else with the distribution's. Prints the path of that PostgreSQL's pg_config.
#
# usage: packages.sh [--index] [PACKAGE ...] [--if-offered PACKAGE ...]
#   --index: the distribution's package index is needed too
#   --if-offered: those that follow only where the distribution has them
#
# What is there already is left alone: where nothing is missing no root and no network is needed.
set -euo pipefail

pg_config=${PG_CONFIG:-pg_config}
wants_index=
if [ "${1:-}" = --index ]; then
	wants_index=1
	shift
fi

have() {
	command -v "$1" >/dev/null
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		echo "shardkit: only root can do this, and there is no sudo: $*" >&2
		return 1
	fi
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The major version: what pg_config says, else what the distribution's metapackage depends on.
major_version() {
	if have "$pg_config"; then
		"$pg_config" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/'
		return
	fi
	apt-cache show postgresql >/dev/null 2>&1 || update_lists
	apt-cache depends postgresql | sed -nE 's/.*Depends: postgresql-([0-9]+)$/\1/p' | head -n 1
}

has_server() {
	have "$pg_config" && [ -x "$("$pg_config" --bindir)/initdb" ]
}

has_headers() {
	have "$pg_config" && [ -f "$("$pg_config" --pgxs)" ] &&
		[ -f "$("$pg_config" --includedir-server)/postgres.h" ]
}

has_pgtap() {
	have "$pg_config" && [ -f "$("$pg_config" --sharedir)/extension/pgtap.control" ]
}

update_lists() {
	as_root apt-get update -qq -o Dpkg::Use-Pty=0 >&2
}

# A throw-away cluster is wanted, not one in /var/lib/postgresql: a setting says so while
# PostgreSQL's packages are set up for the first time.
install_now() {
	# shellcheck disable=SC2016
	as_root env DEBIAN_FRONTEND=noninteractive sh -c '
		setting=/etc/postgresql-common/createcluster.d/shardkit.conf
		if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
			trap "rm -f $setting" EXIT
			mkdir -p "${setting%/*}"
			echo "create_main_cluster = false" > "$setting"
		fi
		apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
	' sh "$@" >&2
}

# Lists may be missing, as in a fresh container, or name versions that the mirror no longer has.
install_missing() {
	local missing=() package
	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	echo "installing: ${missing[*]}" >&2
	apt-cache show "${missing[@]}" >/dev/null 2>&1 || update_lists
	install_now "${missing[@]}" || { update_lists && install_now "${missing[@]}"; }
}

if ! have dpkg-query; then
	if ! has_server || ! has_headers; then
		echo "shardkit: install PostgreSQL with its server headers, a C++20 compiler, libxxhash," \
			"libb2, IPC::Run and pgTAP, or set PG_CONFIG" >&2
		exit 1
	fi
	command -v "$pg_config"
	exit 0
fi

packages=(make g++ libxxhash-dev libb2-dev perl libipc-run-perl
	libtap-parser-sourcehandler-pgtap-perl)
while [ $# -gt 0 ] && [ "$1" != --if-offered ]; do
	packages+=("$1")
	shift
done
if [ $# -gt 0 ]; then
	shift
	for package in "$@"; do
		is_installed "$package" && continue
		apt-cache show make >/dev/null 2>&1 || update_lists
		! apt-cache show "$package" >/dev/null 2>&1 || packages+=("$package")
	done
fi

# A PostgreSQL from packages gets its missing ones; one built by hand keeps to itself.
if ! has_server || [[ "$(readlink -f "$("$pg_config" --bindir)")" == /usr/lib/postgresql/* ]]; then
	version=$(major_version)
	[ -n "$version" ] || { echo "shardkit: no PostgreSQL is installed or offered" >&2; exit 1; }
	# The server's own pg_config: the one in /usr/bin speaks for libpq alone.
	pg_config=/usr/lib/postgresql/$version/bin/pg_config
	packages+=(libpq-dev)
	has_server || packages+=("postgresql-$version")
	has_headers || packages+=("postgresql-server-dev-$version")
	has_pgtap || packages+=("postgresql-$version-pgtap")
fi

install_missing "${packages[@]}"
if [ -n "$wants_index" ] && [ -z "$(apt-cache dumpavail | head -n 1)" ]; then
	update_lists
fi
command -v "$pg_config"
