#!/usr/bin/env bash
# Looks for undefined behaviour and wrong memory accesses. In turn:
#   core's unit tests under ASan and UBSan; core's fuzzers under both, by clang's libFuzzer;
#   every suite with UBSan in this machine's server; every suite with ASan and UBSan in a chroot of
#   PostgreSQL 17 (Debian 12's own server hangs under ASan); the regression tests under valgrind.
# SANITIZERS="unit fuzz ubsan asan valgrind" narrows it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export WERROR=
both='-fsanitize=address,undefined -fno-wrapv -fno-omit-frame-pointer'
undefined='-fsanitize=undefined -fno-wrapv'
work=$(mktemp -d "${TMPDIR:-/tmp}/shardkit-sanitize.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
failed=0

wants() {
	[[ " ${SANITIZERS:-unit fuzz ubsan asan valgrind} " == *" $1 "* ]]
}

part() {
	local name=$1 log=$work/$1.log began=$SECONDS
	shift
	wants "$name" || return 0
	if "$@" > "$log" 2>&1; then
		printf '%-10s no finding: %s (%d s)\n' "$name" "$(tail -n 1 "$log")" $((SECONDS - began))
	else
		failed=1
		grep -vE '^(ok |#)' "$log" | tail -n 100
		grep -E '^not ok |runtime error:|ERROR: AddressSanitizer' "$log" | head -n 30
		printf '%-10s FAILED (%d s)\n' "$name" $((SECONDS - began))
	fi
}

copy_of_tree() {
	mkdir -p "$1"
	tar --exclude=./.git --exclude=./build --exclude='*.[od]' --exclude='*.so' -cf - . | tar -C "$1" -xf -
}

# A UBSan message does not end a program by itself here: it must.
unit() {
	copy_of_tree "$work/unit" &&
		make -s -C "$work/unit" -j"$(nproc)" SANITIZE="$both -fno-sanitize-recover=all" build/unit &&
		(cd "$work/unit" && prove --exec '' build/unit/*_test)
}

# test/fuzz/NAME_fuzz.cpp, each for FUZZ_SECONDS from test/fuzz/corpus/NAME.
fuzz() {
	local compiler source name count=0
	compiler=$(command -v clang++-14 || command -v clang++) || { echo 'no clang'; return 1; }
	for source in test/fuzz/*_fuzz.cpp; do
		name=$(basename "$source" _fuzz.cpp)
		"$compiler" -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc \
			-o "$work/$name" "$source" src/core/*/*.cpp || return 1
		mkdir -p "$work/corpus/$name"
		(cd "$work" && "./$name" -max_total_time="${FUZZ_SECONDS:-30}" -seed=1 -print_final_stats=1 -verbosity=0 \
			-timeout=10 "corpus/$name") || return 1
		count=$((count + 1))
	done
	echo "$count fuzzers, ${FUZZ_SECONDS:-30} s each"
	[ "$count" -gt 0 ]
}

ubsan() {
	STAND_BUILD=copy SANITIZE="$undefined" STAND_SERVER_WITH='env UBSAN_OPTIONS=print_stacktrace=1' make test
}

# Freed at exit only is fine; an abort makes the server log a crash, which suites.sh counts.
asan() {
	local options='detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0'
	SANITIZE="$both" STAND_SERVER_WITH="env LD_PRELOAD=libasan.so.8 ASAN_OPTIONS=$options" \
		test/harness/chroot.sh 17 make "${ASAN_TARGET:-test}"
}

valgrind_sample() {
	STAND_SERVER_WITH='valgrind --quiet --num-callers=30 --suppressions=%STAND/tree/test/harness/valgrind.supp --trace-children=yes --leak-check=no --log-file=%STAND/valgrind.%p' \
		test/harness/stand.sh test/harness/valgrind.sh
}

packages=(--if-offered)
! wants fuzz || packages+=(clang-14 libclang-rt-14-dev)
! wants valgrind || packages+=(valgrind)
test/harness/packages.sh "${packages[@]}" >/dev/null || exit 1

part unit unit
part fuzz fuzz
part ubsan ubsan
part asan asan
part valgrind valgrind_sample
exit "$failed"
