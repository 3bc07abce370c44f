#!/bin/sh
# Fails when the library imports what only throwing, allocating or unwinding C++ needs.
# usage: symcheck.sh LIBRARY
set -eu
bad=$(nm -D --undefined-only "$1" |
	grep -E ' (_Zn[wa]|_Zd[la]|__cxa_|_ZSt[0-9]+__throw_|_ZNSt|_Unwind_|__gxx_personality)' |
	grep -v ' __cxa_finalize' || true)
if [ -n "$bad" ]; then
	echo "symcheck: $1 needs the C++ runtime:" >&2
	echo "$bad" >&2
	exit 1
fi
echo "symcheck: $1 needs nothing of the C++ runtime"
