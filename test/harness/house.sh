#!/usr/bin/env bash
# Checks of the house itself, as TAP: what the library imports, how the code is formatted, whether
# the metadata agree, whether every test file is run and every function is documented.
# usage: test/harness/house.sh     (in the root of a built tree)
set -uo pipefail

number=0
status=0

# usage: check NAME COMMAND ...     COMMAND prints what is wrong, and fails or prints nothing
check() {
	local name=$1 said
	shift
	number=$((number + 1))
	if said=$("$@" 2>&1) && [ -z "$said" ]; then
		echo "ok $number - $name"
	else
		status=1
		echo "not ok $number - $name"
		head -n 30 <<< "$said" | sed 's/^/# /'
	fi
}

symbols() {
	test/harness/symcheck.sh shardkit.so >/dev/null
}

sources() {
	find src test -name '*.cpp' -o -name '*.hpp' | sort
}

# Formatters differ from version to version: only this one judges.
formatter() {
	local program
	for program in clang-format-14 clang-format; do
		if "$program" --version 2>/dev/null | grep -q 'version 14\.'; then
			echo "$program"
			return
		fi
	done
}

format() {
	sources | xargs "$(formatter)" --dry-run -Werror
}

line_limit() {
	find src sql/install test -name '*.?pp' -o -path 'sql/install/*.sql' -o -name '*.sh' |
		xargs wc -l | awk '$2 != "total" && $1 > 300 { print $2 ": " $1 " lines, at most 300" }'
}

# In a plain literal a backslash means another thing where standard_conforming_strings is off.
backslashes() {
	sed -E "/^--/d; s/\bE'([^']|'')*'//g" sql/install/[1-9]*.sql | grep -F '\' || true
}

# The server's own quoting depends on the session's quote_all_identifiers.
quoting() {
	grep -rnE '\bquote_(qualified_)?identifier\(' src --include='*.?pp' | grep -v '^src/pg/quote\.cpp:' || true
}

# A test that nobody runs, and a name without a file.
listed() {
	local variable=$1 folder=$2 suffix=$3 names files
	names=$(make -s --no-print-directory PG_CONFIG="$PG_CONFIG" "print-$variable" |
		tr ' ' '\n' | sed '/^$/d' | sort)
	files=$(find "$folder" -maxdepth 1 -name "*.$suffix" ! -name '*--*' -printf '%f\n' 2>/dev/null |
		sed "s/\.$suffix\$//" | sort)
	[ "$names" = "$files" ] || printf '%s: %s\nfiles: %s\n' "$variable" "${names//$'\n'/ }" "${files//$'\n'/ }"
}

schemas="IN ('shardkit'::regnamespace, 'shardkit_internal'::regnamespace)"

commented() {
	psql -XAtq -v ON_ERROR_STOP=1 -c "
		SELECT f.oid::regprocedure || ': no COMMENT ON' FROM pg_proc AS f
		WHERE f.pronamespace $schemas AND obj_description(f.oid, 'pg_proc') IS NULL
			AND has_function_privilege('house_public', f.oid, 'EXECUTE')
		UNION ALL
		SELECT c.oid::regclass || ': no COMMENT ON' FROM pg_class AS c
		WHERE c.relnamespace $schemas AND c.relkind IN ('r', 'v')
			AND obj_description(c.oid, 'pg_class') IS NULL"
}

pinned() {
	psql -XAtq -v ON_ERROR_STOP=1 -c "
		SELECT f.oid::regprocedure || ': SECURITY DEFINER without search_path' FROM pg_proc AS f
		WHERE f.pronamespace $schemas AND f.prosecdef
			AND NOT coalesce(f.proconfig::text, '') LIKE '%search_path=%'"
}

# Functions that users call, one name a line: not those behind a type and its operators.
public_functions() {
	psql -XAtq -v ON_ERROR_STOP=1 -c "
		SELECT DISTINCT f.proname FROM pg_proc AS f WHERE f.pronamespace = 'shardkit'::regnamespace
			AND f.oid NOT IN (SELECT unnest(ARRAY[t.typinput, t.typoutput, t.typreceive, t.typsend]) FROM pg_type AS t
				UNION SELECT o.oprcode FROM pg_operator AS o UNION SELECT a.amproc FROM pg_amproc AS a)
		ORDER BY 1"
}

# A name in the text of the reference, as code: alone in backquotes, or with its arguments.
named_in() {
	local name=$1
	shift
	grep -qE "(\`|\bshardkit\.)$name(\(|\`)" "$@"
}

documented() {
	local name
	[ "$(public_functions | wc -l)" -gt 50 ] || echo 'public functions were not found'
	for name in $(public_functions); do
		named_in "$name" doc/*.md || echo "$name: no word in doc/, so its place is shardkit_internal"
	done
	for name in $(psql -XAtq -c "SELECT DISTINCT proname FROM pg_proc
			WHERE pronamespace = 'shardkit_internal'::regnamespace"); do
		! named_in "$name" README.md doc/*.md || echo "$name: the documents offer it, but it is in shardkit_internal"
	done
}

check 'the library imports nothing of the C++ runtime' symbols
if [ -n "$(formatter)" ]; then
	check 'clang-format 14 would change nothing' format
fi
if [ -f "$STAND/clang.log" ]; then
	check 'clang takes every source without a warning' cat "$STAND/clang.log"
fi
check 'no file is over 300 lines' line_limit
check 'SQL means the same without standard_conforming_strings' backslashes
check 'names become SQL text in one way' quoting
check 'META.json, control file and CHANGELOG agree' perl test/harness/metacheck.pl
check 'every sql/NAME.sql is a regression test' listed REGRESS sql sql
check 'every isolation spec is run' listed ISOLATION test/isolation/specs spec
createdb house
psql -Xqd house -c 'CREATE EXTENSION shardkit' -c 'CREATE ROLE house_public'
export PGDATABASE=house
check 'every object has a comment' commented
check 'what doc/ names is public, and the other way round' documented
check 'security definer functions pin their search path' pinned
check 'README.md: its SQL runs, its links lead somewhere' test/harness/readme.sh
echo "1..$number"
exit "$status"
