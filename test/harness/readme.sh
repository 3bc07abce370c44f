#!/usr/bin/env bash
# Prints what of README.md is not true: SQL that fails in a fresh database, links to nothing.
set -uo pipefail
createdb readme && cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
sed -n '/^```sql$/,/^```$/{/^```/!p}' README.md > "$STAND/readme.sql"
psql -Xqd readme -v ON_ERROR_STOP=1 -f "$STAND/readme.sql" 2>&1 >/dev/null
grep -oE '\]\([^)#:]+[)#]' README.md doc/*.md 2>/dev/null | sed -E 's/^(README.md|doc\/[^:]*):\]\(/\1 /; s/[)#]$//' |
	while read -r from link; do
		[ -e "$(dirname "$from")/$link" ] || echo "$from: $link does not exist"
	done
exit 0
