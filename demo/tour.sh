# The main job, on the table public.$table, hash-partitioned by 8 on $key, with $rows rows.

predict() {
	say "The table lies in 8 hash partitions. Somebody proposes a ninth. With modulus 9 in place of 8," \
		"how many rows would change their partition? shardkit counts it on the rows themselves, with the" \
		"hash that PostgreSQL uses, and touches nothing:"
	show "SELECT rows, rows_moved, round(share_moved::numeric, 4) AS share_moved,
       round(expected_share::numeric, 3) AS expected_share, round(minimum_share::numeric, 3) AS minimum_share
FROM shardkit.predict_modulus_change('$table', 9)"
	hold 'every row was counted' \
		"$(value "SELECT rows FROM shardkit.predict_modulus_change('$table', 9)")" "$rows"
	predicted=$(value "SELECT rows_moved FROM shardkit.predict_modulus_change('$table', 9)")
	hold 'the prediction is what a count with both remainders says' "$predicted" \
		"$(value "SELECT count(*) FROM $table
			WHERE shardkit.partition_slot(8, $key) <> shardkit.partition_slot(9, $key)")"
	say "$(value "SELECT round(100.0 * $predicted / $rows, 2)") % of the rows would have to move, where $(value 'SELECT round(100.0 / 9, 1)') % would be enough" \
		"to fill a ninth node. That is why one does not shard by \"hash modulo number of nodes\"."
}

build_map() {
	say "Instead: 72 slots, fixed for ever, and a map that says which node owns which slot. A key never" \
		"changes its slot; a slot can change its owner. Nodes are schemas here: eight of them, 9 slots each."
	show "SELECT shardkit.create_map('$map', 72, ARRAY[$(nodes_list)])"
	show "SELECT shardkit.add_table('$map', '$table', '$key', template => 'public.$table')"
	say "(A change of the map answers its new version, the epoch.) Every node's schema now has an empty" \
		"table $table, which refuses rows of other nodes' slots. Each row is copied to its owner; a view shows all:"
	deal "$map" "$table" "$key"
	show "SELECT shardkit.create_view('$map', '$table', 'public.all_$table')"
	hold 'rows over all nodes' "$(value "SELECT count(*) FROM all_$table")" "$rows"
	hold 'rows that lie where the map does not say' \
		"$(value "SELECT count(*) FROM shardkit.misplaced_rows('$map')")" 0
	sample=$(value "SELECT mode() WITHIN GROUP (ORDER BY $key) FROM $table")
	say 'A router asks where a key lives:'
	show "SELECT shardkit.slot_of('$map', $(literal)) AS slot, shardkit.node_of('$map', $(literal)) AS node"
}

literal() {
	value "SELECT CASE '$key_type' WHEN 'text' THEN quote_literal('${sample//\'/\'\'}')
		ELSE '${sample//\'/\'\'}::$key_type' END"
}

nodes_list() {
	value "SELECT string_agg(quote_literal('$prefix' || n), ', ' ORDER BY n) FROM generate_series(0, 7) AS n"
}

plan() {
	say 'A ninth node joins. It owns nothing yet, and nothing has moved:'
	show "SELECT shardkit.add_node('$map', '${prefix}8')"
	value "SELECT shardkit.create_view('$map', '$table', 'public.all_$table')" >/dev/null
	say 'What should move so that all nine are even? The fewest slots that can do it, and the rows in them:'
	show "SELECT slot, from_node, to_node, rows FROM shardkit.plan_rebalance('$map') ORDER BY from_node"
	quiet "CREATE TABLE plan_$table AS SELECT * FROM shardkit.plan_rebalance('$map')"
	hold 'slots that the plan moves' "$(value "SELECT count(*) FROM plan_$table")" 8
	hold 'nodes that give one slot each' "$(value "SELECT count(DISTINCT from_node) FROM plan_$table")" 8
	planned=$(value "SELECT sum(rows) FROM plan_$table")
	say "So $planned of $rows rows ($(value "SELECT round(100.0 * $planned / $rows, 1)") %) will move."
}

move() {
	say 'Do it. Meanwhile a second session counts the rows of all nodes over and over:'
	start_counting "all_$table"
	show "CALL shardkit.rebalance('$map')"
	stop_counting
	say "The second session counted $counted_during times while the rows moved."
	hold 'it counted while they moved' "$([ "$counted_during" -gt 0 ] && echo yes)" yes
	hold 'different counts it saw' "$(counts_seen | sort -u | tr '\n' ' ')" "$rows "
	hold 'counts after the move' "$(value "SELECT count(*) FROM all_$table")" "$rows"
}

prove() {
	say 'Every move left a certificate: the rows that left the old owner and the rows that the new owner' \
		'stored, counted and fingerprinted apart.'
	show "SELECT slot, from_node, to_node, rows, left(fingerprint_from, 12) || '..' AS left_there,
       left(fingerprint_to, 12) || '..' AS stored_here
FROM shardkit.move_log WHERE map = '$map' AND state = 'done' ORDER BY from_node"
	hold 'rows moved, as the log says, and as the plan said' \
		"$(value "SELECT sum(rows) FROM shardkit.move_log WHERE map = '$map'")" "$planned"
	hold 'slots in which plan and log differ' "$(value "
		SELECT count(*) FROM plan_$table AS p
		FULL JOIN (SELECT * FROM shardkit.move_log WHERE map = '$map') AS l USING (slot)
		WHERE p.rows IS DISTINCT FROM l.rows OR p.from_node IS DISTINCT FROM l.from_node
			OR p.to_node IS DISTINCT FROM l.to_node")" 0
	hold 'moves whose fingerprints differ' "$(value "
		SELECT count(*) FROM shardkit.move_log
		WHERE map = '$map' AND fingerprint_from IS DISTINCT FROM fingerprint_to")" 0
	hold 'rows that lie where the map does not say' \
		"$(value "SELECT count(*) FROM shardkit.misplaced_rows('$map')")" 0
	hold 'rows that were changed, lost or doubled' "$(value "
		SELECT count(*) FROM ((TABLE $table EXCEPT ALL TABLE all_$table)
			UNION ALL (TABLE all_$table EXCEPT ALL TABLE $table)) AS d")" 0
}
