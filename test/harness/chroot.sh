#!/usr/bin/env bash
# A Debian chroot with one PostgreSQL version, made once and used again, and a command inside it.
#
# usage: test/harness/chroot.sh VERSION COMMAND [ARG ...]      (COMMAND runs in a copy of the tree)
#
# Answers 75 where no chroot can be made, after saying why. Chroots lie in SHARDKIT_CHROOTS
# (/var/tmp/shardkit-chroots). One is locked while it is used; its mounts and processes live in
# namespaces of their own and end with the run.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$1
shift
store=${SHARDKIT_CHROOTS:-/var/tmp/shardkit-chroots}
root=$store/postgresql-$version

cannot() {
	echo "no chroot for PostgreSQL $version: $*" >&2
	exit 75
}

# The Debian suites that have this version, stable ones first.
suites_of() {
	case $1 in
	15) echo bookworm ;;
	17) echo trixie ;;
	18) echo forky sid ;;
	*) cannot "no Debian suite is known to have it" ;;
	esac
}

packages="make,g++,postgresql-$version,postgresql-$version-pgtap,libpq-dev,libxxhash-dev,libb2-dev"
packages+=",libipc-run-perl,libtap-parser-sourcehandler-pgtap-perl"

# Where this machine itself gets Debian from.
mirror() {
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Identifier: Packages' |
		sed -n 's/^Debian|Debian|//p' | head -n 1
}

# Suites on a mirror can be older than their Valid-Until says. The server's headers come without
# the compiler that their package depends on (a gigabyte that a build without bitcode never runs).
debootstrap_into() {
	local suite=$1 target=$2 mirror=$3
	mmdebstrap --quiet --variant=apt --include="$packages" \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--essential-hook='mkdir -p "$1/etc/postgresql-common/createcluster.d"' \
		--essential-hook='echo "create_main_cluster = false" > "$1/etc/postgresql-common/createcluster.d/shardkit.conf"' \
		--customize-hook="chroot \"\$1\" sh -c 'cd /tmp && apt-get -qq download postgresql-server-dev-$version && dpkg-deb -x postgresql-server-dev-*.deb / && rm *.deb'" \
		"$suite" "$target" "deb $mirror $suite main"
}

make_root() {
	local mirror suite
	[ "$(id -u)" = 0 ] || cannot "only root can make one"
	command -v mmdebstrap >/dev/null || cannot "mmdebstrap is not installed"
	mirror=$(mirror)
	[ -n "$mirror" ] || cannot "this machine's apt sources name no Debian mirror"
	rm -rf "$root" "$root.new"
	for suite in $(suites_of "$version"); do
		echo "making a chroot of Debian $suite for PostgreSQL $version" >&2
		if debootstrap_into "$suite" "$root.new" "$mirror" > "$root.log" 2>&1; then
			echo "$packages" > "$root.new/.shardkit"
			mv "$root.new" "$root"
			return 0
		fi
		rm -rf "$root.new"
	done
	tail -n 20 "$root.log" >&2
	cannot "mmdebstrap failed, see $root.log"
}

mkdir -p "$store" 2>/dev/null || cannot "$store cannot be written"
exec 9> "$root.lock" || cannot "$root.lock cannot be written"
flock 9
[ "$(cat "$root/.shardkit" 2>/dev/null)" = "$packages" ] || make_root

rm -rf "$root/build"
mkdir "$root/build"
tar -C "$tree" --exclude=./.git --exclude=./build --exclude='*.[od]' --exclude='*.so' -cf - . |
	tar -C "$root/build" --no-same-owner -xf -

# In the new namespaces: /proc, shared memory and devices, then into the chroot.
status=0
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
	HOME=/root PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" WERROR="${WERROR:-}" \
	SUITES="${SUITES:-}" REGRESS="${REGRESS:-}" PGTAP="${PGTAP:-}" TAP="${TAP:-}" \
	ISOLATION="${ISOLATION:-}" SANITIZE="${SANITIZE:-}" STAND_SERVER_WITH="${STAND_SERVER_WITH:-}" \
	HUNT_SECONDS="${HUNT_SECONDS:-60}" HUNT_SEED="${HUNT_SEED:-1}" SOAK="${SOAK:-}" CHROOT_ROOT="$root" \
	unshare --mount --pid --fork --kill-child --propagation private bash -c '
		mount -t proc proc "$CHROOT_ROOT/proc"
		mount -t tmpfs -o mode=755 tmpfs "$CHROOT_ROOT/dev"
		mkdir -m 1777 "$CHROOT_ROOT/dev/shm"
		for device in null zero random urandom tty; do
			touch "$CHROOT_ROOT/dev/$device"
			mount --bind "/dev/$device" "$CHROOT_ROOT/dev/$device"
		done
		ln -s /proc/self/fd "$CHROOT_ROOT/dev/fd"
		exec chroot "$CHROOT_ROOT" sh -c "cd /build && exec \"\$@\"" sh "$@"
	' bash "$@" 9>&- || status=$?
exit "$status"
