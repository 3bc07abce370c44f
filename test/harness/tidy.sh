#!/usr/bin/env bash
# clang-tidy 14 with the checked-in configuration over every source; any warning is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

PG_CONFIG=$(test/harness/packages.sh --if-offered clang-tidy-14)
if ! command -v clang-tidy-14 >/dev/null; then
	echo 'clang-tidy: this distribution has no version 14, and other versions judge otherwise: not run'
	exit 0
fi
include=$("$PG_CONFIG" --includedir-server)
libpq=$("$PG_CONFIG" --includedir)
export include libpq
# shellcheck disable=SC2016
find src -name '*.cpp' -print0 | xargs -0 -n 2 -P "$(nproc)" sh -c 'clang-tidy-14 --quiet "$@" -- \
	-std=c++20 -DUSE_ASSERT_CHECKING -fno-exceptions -fno-rtti -Isrc -isystem "$include" -isystem "$libpq" 2>/dev/null' tidy
echo "clang-tidy: $(find src -name '*.cpp' | wc -l) sources, no warning"
