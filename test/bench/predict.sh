# Predictions: whole statements over count(*) of the same table, in the same run and parallelism.
for workers in 0 2; do
	settle -c "max_parallel_workers_per_gather=$workers"
	measure count 'SELECT count(*) FROM bench' \
		key 'SELECT count(id) FROM bench' \
		modulus "SELECT predict_modulus_change('bench', 'id', 8, 9)" \
		churn "SELECT predict_churn('bench', 'id', 'ring(9)', 'ring(12)')" \
		strategies "SELECT compare_strategies('bench', 'id', 8, 9)" \
		hot "SELECT hot_keys('bench', 'id')" \
		sample "SELECT predict_churn('bench', 'id', 'ring(9)', 'ring(12)', sample_percent => 2)"
	with="$workers workers"
	report "count(id), times count(*), $with" '' '' "$(ratio key count)"
	report "predict_modulus_change, $with" '2.0' '1.3' "$(ratio modulus count)"
	report "predict_churn of two rings, $with" '' '' "$(ratio churn count)"
	report "compare_strategies, all seven, $with" '5' '3' "$(ratio strategies count)"
	report "hot_keys, $with" '3' '2' "$(ratio hot count)"
	report "predict_churn of a 2 % sample, $with" '' '' "$(ratio sample count)"
done

# What the process holds for itself once a prediction of 9 -> 12 nodes has run.
private=$(psql -XAtq -c 'SET max_parallel_workers_per_gather = 0' -c "SELECT predict_churn('bench', 'id', 'ring(9)', 'ring(12)')" \
	-c "SELECT substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)')" | tail -n 1)
report 'memory of a prediction, 9 -> 12 nodes, MB' '64' 'flat' "$(calculate 1 "$private / 1024")"
