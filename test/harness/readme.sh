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
# Every name in the table of functions is a function, or a view, of the extension.
sed -n '/^## Functions/,/^The tables/p' README.md | grep '^|' | cut -d '|' -f 3 | grep -oE '`[a-z0-9_]+`' | tr -d '`' |
	while read -r name; do
		[ "$name" = postgres_fdw ] || [ "$(psql -XAtd readme -c "
			SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = 'shardkit'::regnamespace AND proname = '$name')
				+ (SELECT count(*) FROM pg_class WHERE relnamespace = 'shardkit'::regnamespace AND relname = '$name')")" != 0 ] ||
			echo "README.md: shardkit has no $name"
	done
exit 0
