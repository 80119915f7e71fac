#!/bin/bash
# What a captured context costs: ns per wm_capture at several depths beside backtrace() and libunwind, then ns per malloc and
# free under the heap client beside heaptrack (when installed).
#
#   bench/capture/run.sh [-b BUILD-DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
[ "${1:-}" = -b ] && build=$2
build=$(cd "$build" && pwd)
waymark=$build/waymark
work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
export WAYMARK_OUT=$work
cd "$work"
pin="taskset -c $(($(nproc) - 1))"

"$waymark" cc -O2 -g "$here/capture.c" -ldl -o capture
$pin ./capture

"$waymark" cc -O2 -g "$here/heap.c" -o heap
clang-19 -O2 -g "$here/heap.c" -o heap-native
median() { sort -n | sed -n 5p; }
measure() { # LABEL COMMAND...
	local label=$1
	shift
	printf '%-28s %6s ns per malloc and free (20 frames)\n' "$label" \
		"$(for _ in 1 2 3 4 5 6 7 8 9; do $pin "$@" 2>/dev/null | grep -E '^[0-9]+$'; done | median)"
}
echo
measure native ./heap-native 300000 20
measure 'built with waymark cc' ./heap 300000 20
measure 'waymark run --heap' "$waymark" run --heap ./heap 300000 20
if command -v heaptrack >/dev/null; then
	measure heaptrack heaptrack -o "$work/heaptrack" ./heap-native 300000 20
else
	echo 'heaptrack                    not installed'
fi
