# Part two: data that nobody made up, the list of packages that this machine could install. Its
# figures differ from mirror to mirror, so only identities are held.

load_packages() {
	quiet "CREATE TABLE packages (name text NOT NULL, maintainer text NOT NULL, section text NOT NULL,
			installed_kb bigint NOT NULL) PARTITION BY HASH (maintainer)"
	for part in 0 1 2 3 4 5 6 7; do
		quiet "CREATE TABLE packages_$part PARTITION OF packages FOR VALUES WITH (MODULUS 8, REMAINDER $part)"
	done
	apt-cache dumpavail | awk -v OFS='\t' '
		/^Package: / { name = substr($0, 10) }
		/^Maintainer: / { maintainer = substr($0, 13) }
		/^Section: / { section = $2 }
		/^Installed-Size: / { size = $2 }
		/^$/ && name != "" {
			gsub(/[\\\t]/, " ", maintainer)
			print name, maintainer, section, size + 0
			name = maintainer = section = size = ""
		}' > "$STAND/packages.tsv"
	psql -Xq -v ON_ERROR_STOP=1 -c '\copy packages from pstdin' < "$STAND/packages.tsv"
	quiet 'ANALYZE packages'
}

packages() {
	local table=packages key=maintainer key_type=text map=packages prefix=site rows
	title 'Packages: the index of this distribution, sharded by maintainer'
	load_packages
	rows=$(value 'SELECT count(*) FROM packages')
	[ "$rows" -gt 1000 ] || { echo "apt knows only $rows packages: run apt-get update"; exit 1; }
	show "SELECT count(*) AS packages, count(DISTINCT maintainer) AS maintainers,
       pg_size_pretty(1024 * sum(installed_kb)) AS installed
FROM packages"
	say 'A key as people have them: a few maintainers hold very much. Before any layout: who is too big' \
		'for a node of eight? (over_average_node is the part of an average node that this key alone fills)'
	show "SELECT left(key, 44) AS maintainer, rows, round(share::numeric, 3) AS share,
       round(over_average_node::numeric, 2) AS over_average_node
FROM shardkit.hot_keys('packages', 'maintainer', top => 4)"
	hold 'rows of the largest key, and by plain SQL' \
		"$(value "SELECT max(rows) FROM shardkit.hot_keys('packages', 'maintainer', top => 4)")" \
		"$(value 'SELECT max(n) FROM (SELECT count(*) AS n FROM packages GROUP BY maintainer) AS k')"
	predict
	build_map
	plan
	move
	prove
}
