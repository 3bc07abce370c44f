#!/usr/bin/env bash
# Repeats published experiments and prints their figures beside ours, then one line of summary.
# usage: test/labs/run.sh      (inside a stand; LABS="ring spread" runs test/labs/ring.sql, spread.sql)
#
# A lab is an SQL script in test/labs. It has the extension and frame.sql's functions, runs in a
# database of its own, and fails by raising an error or by a figure that does not hold.
set -uo pipefail

failed=()
total=0
held=0
labs=${LABS:-$(cd test/labs && ls -- *.sql | grep -vx frame.sql | sed 's/\.sql$//')}

for lab in $labs; do
	export PGDATABASE=lab_$lab
	createdb "$PGDATABASE"
	printf '\n== %s: %s\n' "$lab" "$(sed -n '1s/^-- //p' "test/labs/$lab.sql")"
	start=$(date +%s)
	if ! { psql -Xq -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION shardkit' -f test/labs/frame.sql &&
		PGOPTIONS='-c search_path=shardkit,public -c jit=off' \
			psql -XAtq -v ON_ERROR_STOP=1 -f "test/labs/$lab.sql" >/dev/null; }; then
		failed+=("$lab")
	fi
	psql -Xq -P footer=off -c "SELECT lab, what, published, ours, grade,
		CASE WHEN holds THEN 'holds' ELSE 'DIFFERS' END AS verdict FROM lab.figures ORDER BY at"
	read -r figures good < <(psql -XAtq -F ' ' -c 'SELECT count(*), count(*) FILTER (WHERE holds) FROM lab.figures')
	echo "$good of $figures figures hold, $(($(date +%s) - start)) s"
	total=$((total + ${figures:-0}))
	held=$((held + ${good:-0}))
	[ "${figures:-0}" = "${good:-1}" ] || failed+=("$lab")
done

printf '\nlabs: %d of %d published figures hold%s\n' "$held" "$total" "${failed[*]:+; failed: ${failed[*]}}"
[ ${#failed[@]} = 0 ]
