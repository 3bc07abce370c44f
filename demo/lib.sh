# What the parts of the demo share: say a sentence, show a statement and its result, hold a fact.

say() {
	printf '\n%s\n' "$*" | fold -s -w 96
}

title() {
	printf '\n%s\n%s\n' "$*" "$(printf '%*s' "${#1}" '' | tr ' ' '=')"
}

# Answers the bare value of a query.
value() {
	psql -XAtq -v ON_ERROR_STOP=1 -c "$1"
}

# Runs without showing: what any PostgreSQL user knows how to write.
quiet() {
	psql -Xq -v ON_ERROR_STOP=1 -c "$1"
}

# Shows the statement, runs it, shows the result.
show() {
	printf '\n    %s\n\n' "${1//$'\n'/$'\n'    }"
	psql -X -v ON_ERROR_STOP=1 -P footer=off -P border=1 -c "$1" | sed -e '/^$/d' -e 's/^/      /'
}

# usage: hold SENTENCE ACTUAL EXPECTED     ends the demo when the two differ
hold() {
	if [ "$2" = "$3" ]; then
		printf '  [holds] %s: %s\n' "$1" "$2"
	else
		printf '  [DOES NOT HOLD] %s: %s, expected %s\n' "$1" "$2" "$3"
		exit 1
	fi
}

# Deals every row of a table to the schema of the node that owns it by the map.
# usage: deal MAP TABLE KEY
deal() {
	local node
	for node in $(value "SELECT name FROM shardkit.node WHERE map = '$1' ORDER BY name"); do
		quiet "INSERT INTO $node.$2 SELECT * FROM public.$2
			WHERE shardkit.node_of('$1', $3) = '$node'"
	done
}

# Counts the rows of all nodes again and again, in a session of its own, until stop_counting.
# usage: start_counting VIEW
start_counting() {
	counts=$STAND/counts
	printf 'SELECT count(*) FROM %s \\watch 0.02\n' "$1" | psql -XAtq > "$counts" 2>&1 &
	counter=$!
	sleep 0.3
	counted_before=$(counts_seen | wc -l)
}

counts_seen() {
	grep -E '^[0-9]+$' "$counts" || true
}

stop_counting() {
	counted_during=$(($(counts_seen | wc -l) - counted_before))
	sleep 0.2
	kill "$counter" 2>/dev/null || true
	wait "$counter" 2>/dev/null || true
}
