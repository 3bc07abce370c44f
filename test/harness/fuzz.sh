#!/usr/bin/env bash
# Runs every fuzzer of core, test/fuzz/NAME_fuzz.cpp, side by side under ASan and UBSan; prints TAP.
# usage: test/harness/fuzz.sh          (FUZZ_SECONDS: how long each; 30)
# Seeds lie in test/fuzz/corpus/NAME. What crashes a fuzzer is printed, to become a test.
set -uo pipefail

seconds=${FUZZ_SECONDS:-30}
compiler=$(command -v clang++-14 || command -v clang++) || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
	local name=$1
	mkdir -p "$work/$name/corpus" "test/fuzz/corpus/$name"
	"$compiler" -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc \
		-o "$work/$name/fuzzer" "test/fuzz/${name}_fuzz.cpp" src/core/*/*.cpp &&
		"$work/$name/fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix="$work/$name/" "$work/$name/corpus" "test/fuzz/corpus/$name"
}

number=0
names=()
for source in test/fuzz/*_fuzz.cpp; do
	name=$(basename "$source" _fuzz.cpp)
	names+=("$name")
	(run "$name" > "$work/$name.log" 2>&1; echo $? > "$work/$name.status") &
done
wait
for name in "${names[@]}"; do
	number=$((number + 1))
	units=$(sed -n 's/^stat::number_of_executed_units: //p' "$work/$name.log")
	if [ "$(cat "$work/$name.status")" = 0 ]; then
		echo "ok $number - $name: ${units:-0} inputs in $seconds s without a finding"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$work/$name.log" | tail -n 60
		find "$work/$name" -maxdepth 1 -name 'crash-*' -o -maxdepth 1 -name 'timeout-*' | while read -r found; do
			base64 "$found" | sed "s/^/# $(basename "$found"): /"
		done
	fi
done
echo "1..$number"
