#!/usr/bin/env bash
# The longer campaigns, each with a short form in make test: the crash hunt under the sanitizers, the
# fuzzers, and the tests that read SOAK=1 (many kills, long fuzzing, thousands of samples).
# SOAKS="hunt fuzz unit pgtap tap" narrows it; HUNT_SECONDS and FUZZ_SECONDS are ten minutes each.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

failed=0
soak() {
	local name=$1 began=$SECONDS
	shift
	[[ " ${SOAKS:-hunt fuzz unit pgtap tap} " == *" $name "* ]] || return 0
	echo "--- $name"
	"$@" || failed=1
	echo "--- $name: $((SECONDS - began)) s"
}

hunt() {
	HUNT_SECONDS=${HUNT_SECONDS:-600} HUNT_SEED=${HUNT_SEED:-$RANDOM} ASAN_TARGET=hunt SANITIZERS=asan test/harness/sanitize.sh
}

fuzz() {
	FUZZ_SECONDS=${FUZZ_SECONDS:-600} SANITIZERS=fuzz test/harness/sanitize.sh
}

suite() {
	SOAK=1 SUITES=$1 SUITE_SECONDS=7200 test/harness/stand.sh test/harness/suites.sh
}

soak hunt hunt
soak fuzz fuzz
soak unit suite unit
soak pgtap suite pgtap
soak tap suite tap
exit "$failed"
