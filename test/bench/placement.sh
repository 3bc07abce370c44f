# Placement: what a function costs a row, over the same query without it.
nodes="'{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'"
weights="'{1,1,1,1,1,2,2,2,2}'"

# usage: counted CALL     the same plan for all: one aggregate over one call on every row's hash
counted() {
	echo "SELECT count($1) FROM bench"
}

settle -c max_parallel_workers_per_gather=0
measure count "SELECT count(*) FROM bench" \
	floor "$(counted 'hashint8extended(id, 0)')" \
	jump "$(counted 'jump(hashint8extended(id, 0), 9)')" \
	ring "$(counted "ring(hashint8extended(id, 0), $nodes)")" \
	rendezvous "$(counted "rendezvous(hashint8extended(id, 0), $nodes)")" \
	weighted "$(counted "rendezvous(hashint8extended(id, 0), $nodes, $weights)")" \
	slots "$(counted "place('slots(9)', hashint8extended(id, 0))")" \
	modulo "$(counted 'modulo(hashint8extended(id, 0), 9)')"
report 'count(*) / count of the hash alone, ns a row' '' '' \
	"$(calculate 1 "${median[count]} * 1e6 / rows") / $(calculate 1 "${median[floor]} * 1e6 / rows")"
report 'modulo(h, 9), ns a row over the same query without it' '' '' "+$(nanoseconds modulo floor)"
report 'jump(h, 9)' '+35' '+25' "+$(nanoseconds jump floor)"
report 'ring of 9 x 128, constant arguments' '+15' '+8' "+$(nanoseconds ring floor)"
report 'rendezvous of 9, constant arguments' '+15' '+8' "+$(nanoseconds rendezvous floor)"
report 'rendezvous of 9 with two different weights' '' '' "+$(nanoseconds weighted floor)"
report "place('slots(9)', h)" '' '' "+$(nanoseconds slots floor)"

measure spread 'SELECT ring_spread(4, 256, 20000)' compile 'SELECT ring(1, $$'"${nodes//\'/}"'$$)'
report 'ring_spread(4, 256, 20000), seconds' '10' '3' "$(calculate 2 "${median[spread]} / 1000")"
report 'compiling a ring of 9 x 128, once a statement, ms' '' '' "$(calculate 2 "${median[compile]}")"
