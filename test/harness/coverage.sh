#!/usr/bin/env bash
# Which lines the suites reach: builds with gcov's counters in a copy of the tree, runs every suite,
# prints a table of files and the total. COVERAGE_MISSED=1 prints every line that was not reached.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ "${1:-}" != --in-stand ]; then
	STAND_BUILD=copy SANITIZE='--coverage -O0' WERROR='' \
		exec test/harness/stand.sh test/harness/coverage.sh --in-stand
fi

# The house judges what is shipped: counters need a runtime of their own.
SUITES=${SUITES:-unit regress pgtap isolation tap} test/harness/suites.sh || exit 1
# An object has counters of its own in the library and in the unit tests: a line counts if either
# reached it. Templates make gcov name a line several times.
find src build/src -name '*.gcda' -exec gcov --stdout --preserve-paths --relative-only {} + 2>/dev/null | awk -v missed="${COVERAGE_MISSED:-}" '
	{
		split($0, part, ":")
		count = part[1]; line = part[2]; gsub(/ /, "", count); gsub(/ /, "", line)
	}
	line == 0 { if (part[3] == "Source") { file = part[4]; sub(/^.*src\//, "src/", file) } next }
	file !~ /^src\// || count == "-" || line !~ /^[0-9]+$/ { next }
	{
		key = file SUBSEP line
		if (!(key in seen)) { seen[key] = 0; text[key] = $0; sub(/^[^:]*:[^:]*:/, "", text[key]) }
		if (count !~ /^[#=]/) seen[key] = 1
	}
	END {
		for (key in seen) {
			split(key, where, SUBSEP)
			lines[where[1]]++; all++
			if (seen[key]) { reached[where[1]]++; good++ }
			else if (missed) print where[1] ":" where[2] ":" text[key] | "sort -t: -k1,1 -k2,2n"
		}
		close("sort -t: -k1,1 -k2,2n")
		for (file in lines) printf "%-36s %5d lines %6.1f %%\n", file, lines[file], 100 * reached[file] / lines[file] | "sort"
		close("sort")
		printf "total: %d of %d lines, %.1f %%\n", good, all, 100 * good / all
	}'
