#!/usr/bin/env bash
# The regression tests beside a server under valgrind (see sanitize.sh): what valgrind says counts
# where our library is in the stack, not farther than what it may have called itself: all that runs
# under an SQL function of ours has it somewhere below.
set -uo pipefail
SUITES=regress SUITE_SECONDS=1500 test/harness/suites.sh || exit 1
found=$(cat "$STAND"/valgrind.* | awk -v RS='\n==[0-9]+== \n' '
	{
		depth = 0
		count = split($0, lines, "\n")
		for (i = 1; i <= count; ++i)
			if (lines[i] ~ /   (at|by) 0x/ && ++depth <= 4 && lines[i] ~ /shardkit(\.so|_|::)/) {
				print
				break
			}
	}')
if [ -n "$found" ]; then
	echo "$found"
	exit 1
fi
echo "$(find "$STAND" -maxdepth 1 -name 'valgrind.*' | wc -l) processes under valgrind, nothing of ours"
