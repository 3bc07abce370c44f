#!/usr/bin/env bash
# Measures what is fast, each figure beside PostgreSQL's own floor in the same run.
# usage: test/bench/run.sh      (inside a stand; BENCH="placement" runs test/bench/placement.sh only)
#
# A topic is a file test/bench/NAME.sh that this one sources. It has the table bench (id bigint,
# BENCH_ROWS rows, 1 ..) and the functions below.
set -euo pipefail

rows=${BENCH_ROWS:-10000000}
rounds=${BENCH_ROUNDS:-5}
declare -A median
export PGDATABASE=bench

# usage: settle OPTIONS ...   options for the sessions that follow, as in PGOPTIONS
settle() {
	export PGOPTIONS="-c jit=off -c search_path=shardkit,public $*"
}

# usage: milliseconds SQL
milliseconds() {
	printf '%s\n' '\timing on' "$1" | psql -XAtq -v ON_ERROR_STOP=1 | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' | tail -n 1
}

# usage: measure NAME SQL [NAME SQL ...]
# Runs all statements in turn, once to warm up and then BENCH_ROUNDS times, so that whatever else
# the machine does falls on all of them; keeps each one's median in milliseconds in median[NAME].
measure() {
	local round i name folder
	folder=$(mktemp -d)
	for ((round = 0; round <= rounds; ++round)); do
		for ((i = 1; i < $#; i += 2)); do
			name=${!i}
			local sql=$((i + 1))
			milliseconds "${!sql}" >> "$folder/$name"
		done
	done
	for ((i = 1; i < $#; i += 2)); do
		name=${!i}
		median[$name]=$(tail -n +2 "$folder/$name" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
	done
	rm -r "$folder"
}

calculate() {
	awk -v rows="$rows" "BEGIN { printf \"%.$1f\", $2 }"
}

# usage: ratio NAME FLOOR          how many times the floor
ratio() {
	calculate 2 "${median[$1]} / ${median[$2]}"
}

# usage: nanoseconds NAME FLOOR    a row, on top of the floor
nanoseconds() {
	calculate 1 "(${median[$1]} - ${median[$2]}) * 1e6 / rows"
}

# usage: report WHAT BAR BEYOND MEASURED
report() {
	printf '%-58s %-14s %-12s %s\n' "$@"
}

createdb bench
psql -Xq -c 'CREATE EXTENSION shardkit' -c "CREATE UNLOGGED TABLE bench AS
	SELECT i AS id FROM generate_series(1, $rows::bigint) AS i" -c 'VACUUM ANALYZE bench'
settle
echo "$(psql -XAtqc 'SHOW server_version'), $(nproc) processors, $rows rows, median of $rounds rounds"
report what bar beyond measured
for topic in ${BENCH:-$(cd test/bench && ls -- *.sh | grep -vx run.sh | sed 's/\.sh$//')}; do
	# shellcheck source=/dev/null
	. "test/bench/$topic.sh"
done
