#!/usr/bin/env bash
# Runs every suite inside a stand (see stand.sh) and ends with one line: N passed, N failed.
#
# SUITES="unit regress" narrows it to these; UNIT, REGRESS, ISOLATION, PGTAP and TAP narrow a suite.
set -uo pipefail

passed=0
failed=0
pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")
bindir=$(dirname "$(command -v postgres)")
suite_seconds=${SUITE_SECONDS:-1200}
echo "server version $(psql -XAtc 'SHOW server_version' | cut -d ' ' -f 1)"

# A suite's output is shown only where something failed; one that ran nothing has failed.
finish() {
	local name=$1 status=$2 good=$3 bad=$4 log=$5
	if [ "$bad" = 0 ] && { [ "$status" != 0 ] || [ "$good" = 0 ]; }; then
		bad=1
	fi
	if [ "$bad" != 0 ]; then
		cat "$log"
		[ "$status" != 124 ] || echo "$name: stopped after $suite_seconds seconds"
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	printf '%-12s %5d passed, %d failed, %d s\n' "$name" "$good" "$bad" \
		$((SECONDS - suite_began))
}

# usage: run_suite LOG COMMAND ...
run_suite() {
	local log=$1
	shift
	suite_began=$SECONDS
	timeout --kill-after=10 "$suite_seconds" "$@" > "$log" 2>&1
}

# usage: tap_suite NAME COMMAND ...   (COMMAND prints TAP, or is prove --verbose)
# A file that skips all its tests ("1..0") has tested nothing: that counts as a failure.
tap_suite() {
	local name=$1 log=$STAND/$1.log status=0
	shift
	run_suite "$log" "$@" || status=$?
	finish "$name" "$status" "$(grep -cE '^ok ' "$log")" "$(grep -cE '^not ok |^1\.\.0' "$log")" "$log"
}

# pg_regress 15 prints "test NAME ... ok", 16 and later "ok 1 - NAME".
regress_suite() {
	local name=$1 log=$STAND/$1.log status=0
	shift
	run_suite "$log" "$@" || status=$?
	[ "$status" = 0 ] || cat "$STAND/$name"/*.diffs >> "$log" 2>/dev/null
	finish "$name" "$status" "$(grep -cE '^ok |\.\.\. ok( |$)' "$log")" \
		"$(grep -cE '^not ok |\.\.\. FAILED' "$log")" "$log"
}

list_of() {
	make -s --no-print-directory PG_CONFIG="$PG_CONFIG" "print-$1"
}

wants() {
	[ -z "${SUITES:-}" ] || [[ " $SUITES " == *" $1 "* ]]
}

if wants house; then
	tap_suite house test/harness/house.sh
fi

if wants unit; then
	tap_suite unit prove --verbose --exec '' ${UNIT:-build/unit/*_test}
fi

# Where clang and its fuzzer are; FUZZ_SECONDS=0 leaves it out.
can_fuzz() {
	echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }' |
		"$(command -v clang++-14 || command -v clang++ || echo false)" -fsanitize=fuzzer -x c++ -o /dev/null - 2>/dev/null
}
if wants fuzz && [ "${FUZZ_SECONDS:-30}" != 0 ] && can_fuzz; then
	tap_suite fuzz test/harness/fuzz.sh
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
		TESTLOGDIR="$STAND/tmp_check/log" \
		tap_suite tap prove --verbose -I "$pgxs/../test/perl" -I test/t ${TAP:-test/t/*.pl}
fi

# No suite may have brought the server down, whatever it printed itself.
crashes() {
	if grep -hE 'terminated by signal|PANIC:|TRAP:|runtime error:|ERROR: AddressSanitizer' \
		"$STAND/server.log" "$STAND"/*.san.* 2>/dev/null; then
		echo 'not ok 1 - the server met no crash and no sanitizer finding'
	else
		echo 'ok 1 - the server met no crash and no sanitizer finding'
	fi
}
export -f crashes
tap_suite server bash -c crashes

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
