#!/usr/bin/env bash
# The regression tests beside a server under valgrind (see sanitize.sh): what valgrind says counts
# where our library is in the stack.
set -uo pipefail
SUITES=regress SUITE_SECONDS=1500 test/harness/suites.sh || exit 1
logs=$(cat "$STAND"/valgrind.*)
found=$(awk -v RS='\n==[0-9]+== \n' '/shardkit(\.so|_|::)/' <<< "$logs")
if [ -n "$found" ]; then
	echo "$found"
	exit 1
fi
echo "$(find "$STAND" -maxdepth 1 -name 'valgrind.*' | wc -l) processes under valgrind, nothing of ours"
