#!/usr/bin/env bash
# The main job of shardkit on a throw-away cluster, for a stranger. Run it by "make demo".
# Every figure that must hold is checked; the demo fails where one does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for part in lib tour orders packages; do
	# shellcheck source=/dev/null
	. "./$part.sh"
done

began=$SECONDS
createdb demo
export PGDATABASE=demo PGOPTIONS='-c client_min_messages=warning'
title 'shardkit: place keys, predict moves, keep a map, move rows with proof'
say "A throw-away PostgreSQL $(value "SELECT split_part(current_setting('server_version'), ' ', 1)") runs in $STAND; nothing else on this machine is touched."
show 'CREATE EXTENSION shardkit'
orders
packages
say "Everything held, in $((SECONDS - began)) seconds: what was predicted is what moved, to the row. Next: README.md."
