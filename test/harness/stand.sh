#!/usr/bin/env bash
# Runs a command beside a throw-away PostgreSQL cluster that has shardkit, and removes both after.
#
# usage: test/harness/stand.sh [--index] COMMAND [ARG ...]   (COMMAND: a path below the source tree)
#
# Installs missing packages, builds, and copies the server, the extension and the tree into one
# temporary folder: PostgreSQL finds its files relative to its binary, so nothing on the machine
# changes. As root it hands the run over to an unprivileged user, since initdb refuses root.
# The command sees PATH, PGHOST, PGPORT, PGUSER, PGDATABASE and STAND (the temporary folder), and
# runs in the copy of the tree. STAND_KEEP=1 keeps the folder; STAND_BUILD=copy builds in the copy;
# STAND_SERVER_WITH='env A=b' or 'valgrind ...' starts every server under that command.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# --- second half, as the user that owns the folder ----------------------------------------

start_cluster() {
	initdb --pgdata="$STAND/data" --auth=trust --no-sync --locale=C.UTF-8 --encoding=UTF8 \
		--username=postgres > "$STAND/initdb.log" 2>&1 || { cat "$STAND/initdb.log" >&2; return 1; }
	cat >> "$STAND/data/postgresql.conf" <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$STAND'
		fsync = off
		max_connections = 60
		max_prepared_transactions = 10
		log_line_prefix = '%m [%p] %q%a '
		shared_buffers = '${STAND_SHARED_BUFFERS:-128MB}'
	CONF
	pg_ctl --pgdata="$STAND/data" --log="$STAND/server.log" --silent --wait start ||
		{ cat "$STAND/server.log" >&2; return 1; }
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
	"$@" <&0 &
	wait $!
	exit $?
fi

# --- first half, as whoever called --------------------------------------------------------

unset MAKEFLAGS MAKELEVEL MFLAGS
export LC_ALL=C.UTF-8
package_options=()
if [ "${1:-}" = --index ]; then
	package_options=(--index)
	shift
fi
# Who develops may do without the second compiler's formatter and fuzzer; CI may not.
if [ "${CI:-}" = true ] && [ "${1:-}" = test/harness/suites.sh ]; then
	package_options+=(--if-offered clang-format-14 libclang-rt-14-dev)
fi
PG_CONFIG=$("$tree/test/harness/packages.sh" "${package_options[@]}")

# A socket's path may have 107 characters, and pg_regress knows no blanks in it.
base=${TMPDIR:-/tmp}
[[ "$base" =~ ^[A-Za-z0-9/._-]{1,60}$ ]] || base=/tmp
STAND=$(mktemp -d "$base/shardkit.XXXXXX")
chmod 755 "$STAND"

# Processes of this run: their program or working directory lies in its folder.
processes() {
	local process
	for process in /proc/[0-9]*; do
		case "$(readlink "$process/exe") $(readlink "$process/cwd")" in
		*"$STAND"/*) echo "${process#/proc/}" ;;
		esac
	done 2>/dev/null
}

# Servers are asked to stop at once first, which frees their shared memory.
cleanup() {
	local attempt
	trap '' INT TERM HUP
	cd /
	if [ -n "${child:-}" ]; then
		kill -TERM -- "-$child" 2>/dev/null || true
		wait "$child" 2>/dev/null || true
	fi
	find "$STAND" -name postmaster.pid -exec head -q -n 1 {} + 2>/dev/null |
		xargs --no-run-if-empty kill -QUIT 2>/dev/null || true
	for attempt in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$(processes)" ] || break
		[ "$attempt" -lt 8 ] || kill -KILL $(processes) 2>/dev/null || true
		sleep 0.3
	done
	if [ -n "${STAND_KEEP:-}" ]; then echo "kept: $STAND" >&2; else rm -rf "$STAND"; fi
}
child=
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

copy_tree() {
	local objects=()
	[ "${STAND_BUILD:-}" != copy ] || objects=(--exclude=./build --exclude='*.[od]' --exclude='*.so')
	mkdir -p "$STAND/tree"
	tar -C "$tree" --exclude=./.git "${objects[@]}" -cf - . | tar -C "$STAND/tree" --no-same-owner -xf -
}

# Built in the tree, so that the next run has less to do; in the copy where the tree is read-only.
if [ -w "$tree" ] && [ "${STAND_BUILD:-}" != copy ]; then
	work=$tree
else
	copy_tree
	work=$STAND/tree
fi
in_tree() {
	make -s -C "$work" PG_CONFIG="$PG_CONFIG" WERROR="${WERROR:-}" SANITIZE="${SANITIZE:-}" "$@"
}
echo 'building shardkit ...' >&2
# Only the suites want the unit tests and what the second compiler says.
if [[ "${1:-}" == test/harness/* ]]; then
	in_tree -j"$(nproc)" all build/unit >&2
	if [[ -z "${SANITIZE:-}" && " ${SUITES:-house} " == *" house "* ]] && command -v clang++-14 clang++ >/dev/null; then
		in_tree -k -j"$(nproc)" clangcheck > "$STAND/clang.log" 2>&1 || echo 'clang found something' >> "$STAND/clang.log"
	fi
else
	in_tree -j"$(nproc)" all >&2
fi

# The server, relocated; then the extension into it.
bindir=$("$PG_CONFIG" --bindir)
pkglibdir=$("$PG_CONFIG" --pkglibdir)
sharedir=$("$PG_CONFIG" --sharedir)
mkdir -p "$STAND/server$bindir" "$STAND/server$pkglibdir" "$STAND/server$sharedir"
for program in initdb postgres psql 'pg_*' '*db' '*user'; do
	(cd "$bindir" && compgen -G "$program") || true
done | sort -u | while read -r program; do
	cp -L "$bindir/$program" "$STAND/server$bindir/"
done
cp -aL "$sharedir/." "$STAND/server$sharedir/"
(cd "$pkglibdir" && tar --dereference --exclude=./bitcode --exclude=./pgxs -cf - .) |
	tar -C "$STAND/server$pkglibdir" --no-same-owner -xf -
if [ -n "${STAND_SERVER_WITH:-}" ]; then
	postgres=$STAND/server$bindir/postgres
	mv "$postgres" "$postgres.bin"
	printf '#!/bin/sh\nexec %s "%s.bin" "$@"\n' "${STAND_SERVER_WITH//%STAND/$STAND}" "$postgres" > "$postgres"
	chmod 755 "$postgres"
fi
in_tree install DESTDIR="$STAND/server" >/dev/null
[ "$work" != "$tree" ] || copy_tree

# pgTAP is SQL alone: a server built by hand borrows the distribution's, unpacked, not installed.
if [ ! -f "$STAND/server$sharedir/extension/pgtap.control" ] && command -v apt-get >/dev/null; then
	mkdir "$STAND/pgtap"
	package=$(apt-cache search --names-only '^postgresql-[0-9]+-pgtap$' | cut -d ' ' -f 1 | tail -n 1)
	if (cd "$STAND/pgtap" && apt-get -qq download "$package" && dpkg-deb -x ./*.deb .) >/dev/null 2>&1; then
		find "$STAND/pgtap" -path '*/extension/*' -type f \
			-exec cp -t "$STAND/server$sharedir/extension" {} +
	else
		echo "shardkit: this server has no pgTAP: the suite pgtap will fail" >&2
	fi
fi

for variable in "${!PG@}"; do
	case $variable in PG_CONFIG | PGTAP*) ;; *) unset "$variable" ;; esac
done
export STAND PG_CONFIG
export PATH="$STAND/server$bindir:$PATH"
export PGHOST="$STAND" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
hand_over=()
if [ "$(id -u)" = 0 ]; then
	user=postgres
	id "$user" >/dev/null 2>&1 || user=nobody
	chown -R "$user" "$STAND"
	hand_over=(setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups)
	export HOME="$STAND"
fi
# In a session of its own, so that all of it can be told to end.
cd "$STAND"
setsid "${hand_over[@]}" "$STAND/tree/test/harness/stand.sh" --in-stand "$@" <&0 &
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
