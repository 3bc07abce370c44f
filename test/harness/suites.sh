#!/usr/bin/env bash
# Runs every suite inside a stand (see stand.sh) and ends with one line: N passed, N failed.
set -uo pipefail

passed=0
failed=0
pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")
bindir=$(dirname "$(command -v postgres)")

count() {
	passed=$((passed + $1))
	failed=$((failed + $2))
	printf '%-12s %5d passed, %d failed\n' "$3" "$1" "$2"
}

# A suite's output is shown only where something failed; one that ran nothing has failed.
finish() {
	local name=$1 status=$2 good=$3 bad=$4 log=$5
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		bad=1
	fi
	if [ "$good" = 0 ] && [ "$bad" = 0 ]; then
		bad=1
	fi
	[ "$bad" = 0 ] || cat "$log"
	count "$good" "$bad" "$name"
}

# usage: tap_suite NAME COMMAND ...   (a prove command line, run with --verbose)
tap_suite() {
	local name=$1 log=$STAND/$1.log status=0
	shift
	"$@" > "$log" 2>&1 || status=$?
	finish "$name" "$status" "$(grep -cE '^ok ' "$log")" "$(grep -cE '^not ok ' "$log")" "$log"
}

# pg_regress 15 prints "test NAME ... ok", 16 and later "ok 1 - NAME".
regress_suite() {
	local name=$1 log=$STAND/$1.log status=0
	shift
	"$@" > "$log" 2>&1 || status=$?
	[ "$status" = 0 ] || cat results/*.diffs ./*.diffs "$STAND/$name"/*.diffs >> "$log" 2>/dev/null
	finish "$name" "$status" "$(grep -cE '^ok |\.\.\. ok( |$)' "$log")" \
		"$(grep -cE '^not ok |\.\.\. FAILED' "$log")" "$log"
}

list_of() {
	make -s -p -n PG_CONFIG="$PG_CONFIG" 2>/dev/null | sed -nE "s/^$1 :?= *//p" | head -n 1
}

wants() {
	[ -z "${SUITES:-}" ] || [[ " $SUITES " == *" $1 "* ]]
}

if wants boundary; then
	log=$STAND/boundary.log
	status=0
	test/harness/symcheck.sh shardkit.so > "$log" 2>&1 || status=1
	finish boundary "$status" $((1 - status)) "$status" "$log"
fi

if wants unit; then
	tap_suite unit prove --verbose --exec '' build/unit/*_test
fi

if wants regress; then
	regress_suite regress "$pgxs/../test/regress/pg_regress" --inputdir=. --bindir="$bindir" \
		--outputdir="$STAND/regress" --dbname=shardkit_regress ${REGRESS:-$(list_of REGRESS)}
fi

if wants pgtap; then
	createdb pgtap
	PGDATABASE=pgtap tap_suite pgtap prove --verbose ${PGTAP_PROVE_FLAGS:-} \
		-e 'psql -XAtq -v ON_ERROR_STOP=1 -f' ${PGTAP:-test/pgtap/*.sql}
fi

if wants isolation && [ -n "$(list_of ISOLATION)" ]; then
	regress_suite isolation "$pgxs/../test/isolation/pg_isolation_regress" \
		--inputdir=test/isolation --bindir="$bindir" --outputdir="$STAND/isolation" \
		--dbname=shardkit_isolation ${ISOLATION:-$(list_of ISOLATION)}
fi

if wants tap && compgen -G 'test/t/*.pl' >/dev/null; then
	PG_REGRESS="$pgxs/../test/regress/pg_regress" TESTDIR="$STAND" TESTDATADIR="$STAND/tmp_check" \
		tap_suite tap prove --verbose -I "$pgxs/../test/perl" -I test/t ${TAP:-test/t/*.pl}
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
