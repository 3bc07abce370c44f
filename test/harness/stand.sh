#!/usr/bin/env bash
# Runs a command beside a throw-away PostgreSQL cluster that has shardkit, and removes both after.
#
# usage: test/harness/stand.sh COMMAND [ARG ...]       (COMMAND: a path below the source tree)
#
# Installs missing packages, builds, and copies the server, the extension and the tree into one
# temporary folder: PostgreSQL finds its files relative to its binary, so nothing on the machine
# changes. As root it hands the run over to an unprivileged user, since initdb refuses root.
# The command sees PATH, PGHOST, PGPORT, PGUSER, PGDATABASE and STAND (the temporary folder), and
# runs in the copy of the tree.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# --- second half, as the user that owns the folder ----------------------------------------

start_cluster() {
	initdb --pgdata="$STAND/data" --auth=trust --no-sync --locale=C.UTF-8 --encoding=UTF8 \
		--username=postgres > "$STAND/initdb.log"
	cat >> "$STAND/data/postgresql.conf" <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$STAND'
		fsync = off
		max_connections = 60
		max_prepared_transactions = 10
		log_line_prefix = '%m [%p] %q%a '
		shared_buffers = '${STAND_SHARED_BUFFERS:-128MB}'
	CONF
	pg_ctl --pgdata="$STAND/data" --log="$STAND/server.log" --silent --wait start
}

stop_cluster() {
	[ ! -f "$STAND/data/postmaster.pid" ] ||
		pg_ctl --pgdata="$STAND/data" --mode=immediate --silent --wait stop || true
}

if [ "${1:-}" = --in-stand ]; then
	shift
	trap stop_cluster EXIT
	trap 'exit 130' INT TERM HUP
	start_cluster
	cd "$STAND/tree"
	set +e
	"$@" &
	wait $!
	exit $?
fi

# --- first half, as whoever called --------------------------------------------------------

PG_CONFIG=$("$tree/test/harness/packages.sh")
make -s -C "$tree" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" WERROR="${WERROR:-}" all build/unit >&2

STAND=$(mktemp -d "${TMPDIR:-/tmp}/shardkit.XXXXXX")
chmod 755 "$STAND"
cleanup() {
	trap '' INT TERM HUP
	if [ -n "${child:-}" ]; then
		kill -TERM "$child" 2>/dev/null || true
		wait "$child" 2>/dev/null || true
	fi
	[ -n "${STAND_KEEP:-}" ] && echo "kept: $STAND" >&2 || rm -rf "$STAND"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# The server, relocated; then the extension into it.
bindir=$("$PG_CONFIG" --bindir)
for folder in "$bindir" "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)"; do
	mkdir -p "$STAND/server$folder"
	cp -aL "$folder/." "$STAND/server$folder/"
done
rm -rf "$STAND/server$("$PG_CONFIG" --pkglibdir)/bitcode"
make -s -C "$tree" PG_CONFIG="$PG_CONFIG" install DESTDIR="$STAND/server" >/dev/null

mkdir "$STAND/tree"
tar -C "$tree" --exclude=./.git -cf - . | tar -C "$STAND/tree" -xf -

export STAND PG_CONFIG
export PATH="$STAND/server$bindir:$PATH"
export PGHOST="$STAND" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
unset PGOPTIONS PGSERVICE PGPASSFILE PGAPPNAME
hand_over=()
if [ "$(id -u)" = 0 ]; then
	user=postgres
	id "$user" >/dev/null 2>&1 || user=nobody
	chown -R "$user" "$STAND"
	hand_over=(setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups)
	export HOME="$STAND"
fi
"${hand_over[@]}" "$STAND/tree/test/harness/stand.sh" --in-stand "$@" &
child=$!
status=0
wait "$child" || status=$?
child=
if [ -n "${ACCEPT:-}" ]; then
	# A developer who has read the differences takes them over.
	cp "$STAND"/regress/results/*.out "$tree/expected/" 2>/dev/null || true
	cp "$STAND"/isolation/results/*.out "$tree/test/isolation/expected/" 2>/dev/null || true
fi
exit "$status"
