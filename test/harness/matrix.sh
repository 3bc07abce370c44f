#!/usr/bin/env bash
# Every suite against PostgreSQL 15, 17 and 18, each in a chroot of its own (see chroot.sh).
# Prints one table. MATRIX="17 18" narrows it. Where no chroot can be made the run says so; with
# CI=true that is a failure.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ "$(id -u)" = 0 ] && ! command -v mmdebstrap >/dev/null; then
	test/harness/packages.sh --index mmdebstrap >/dev/null
fi

logs=$(mktemp -d "${TMPDIR:-/tmp}/shardkit-matrix.XXXXXX")
trap 'rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM HUP

# usage: row VERSION STATUS SECONDS
row() {
	local log=$logs/$1 status=$2 last suites
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	suites=$(grep -cE '^[a-z]+ +[0-9]+ passed, [0-9]+ failed, [0-9]+ s$' "$log")
	if [ "$status" = 75 ]; then
		printf '%-10s %s\n' "$1" "no chroot: $(grep '^no chroot' "$log" | sed 's/^[^:]*: //')"
	else
		[ -n "$last" ] || last='0 passed, 1 failed'
		printf '%-10s %6d %8d %8d %8d\n' "$(grep -m 1 -oE '^server version .*' "$log" | sed 's/.* //')" \
			"$suites" "${last%% passed*}" "$(sed -E 's/.*, ([0-9]+) failed/\1/' <<< "$last")" "$3"
	fi
}

table=$(printf '%-10s %6s %8s %8s %8s' PostgreSQL suites passed failed seconds)
worst=0
for version in ${MATRIX:-15 17 18}; do
	began=$SECONDS
	status=0
	WERROR=${WERROR--Werror} test/harness/chroot.sh "$version" make test > "$logs/$version" 2>&1 || status=$?
	if [ "$status" = 75 ]; then
		[ "${CI:-}" != true ] || worst=1
	elif [ "$status" != 0 ]; then
		worst=1
		echo "--- PostgreSQL $version"
		grep -vE '^ok ' "$logs/$version" | tail -n 150
	fi
	table+=$'\n'$(row "$version" "$status" $((SECONDS - began)))
done
echo "$table"
awk 'NR > 1 && $3 ~ /^[0-9]+$/ { passed += $3; failed += $4 } END { printf "%d passed, %d failed\n", passed, failed }' <<< "$table"
exit "$worst"
