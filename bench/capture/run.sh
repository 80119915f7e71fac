#!/bin/bash
# What a captured context costs: ns per wm_capture at several depths beside backtrace() and libunwind, then ns per malloc and
# free under the heap client beside heaptrack (when installed).
#
#   bench/capture/run.sh [-b BUILD-DIR] [-i]     -i: the instructions alone, which valgrind counts
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
only_instructions=
while getopts b:i option; do
	case $option in
	b) build=$OPTARG ;;
	i) only_instructions=1 ;;
	*) exit 2 ;;
	esac
done
build=$(cd "$build" && pwd)
waymark=$build/waymark
work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
export WAYMARK_OUT=$work
cd "$work"
pin="taskset -c $(($(nproc) - 1))"

if [ -z "$only_instructions" ]; then
	"$waymark" cc -O2 -g "$here/capture.c" -ldl -o capture
	$pin ./capture
fi

# The same in instructions, which do not depend on the load: the difference of 20,000 and 10,000 times, without the loop's own. Debian's
# valgrind cannot read clang's debug information, so there is none.
instructions() { # WHAT N
	valgrind --tool=callgrind --callgrind-out-file=/dev/null ./capture-only only "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
each() { echo $((($(instructions "$1" 20000) - $(instructions "$1" 10000)) / 100)); } # hundredths
if command -v valgrind >/dev/null; then
	"$waymark" cc -O2 "$here/capture.c" -ldl -o capture-only
	echo
	nothing=$(each nothing)
	for what in capture push task task-capture; do
		awk -v what="$what" -v n=$(($(each "$what") - nothing)) 'BEGIN { printf "%-13s %7.1f instructions\n", what, n / 100 }'
	done
fi
[ -z "$only_instructions" ] || exit 0

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
