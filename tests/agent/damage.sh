#!/bin/bash
# damage.sh BUILD SOURCES - a recording that another process truncates costs its records, and never a SIGBUS of the program: under the
# agent, and built by `waymark cc`. A SIGBUS of the program's own is its own all the same.
set -u
sources=$2
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'umount "$dir/small" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
ulimit -c 0
needs gcc

# check PROGRAM STATUS MODE OPTIONS...
check() {
	program=$1 want=$2 mode=$3
	shift 3
	rm -f ./*.wmk
	(ulimit -f "${limit:-unlimited}" && exec timeout 100 "$waymark" run --events -q "$@" -o "${out:-./}" "./$program" "$mode") >out.txt 2>err.txt
	got=$?
	[ $got = "$want" ] || fail "$program $mode $*: status $got, not $want: $(head -c 300 err.txt)"
}

gcc -O1 -pthread -o plain "$sources/damage.c" || { echo "gcc cannot build"; exit 1; }
# With its allocations in contexts of walks, too.
cp plain walked
programs="plain walked"
"$waymark" cc -O1 -pthread -o built "$sources/damage.c" 2>build.txt && programs="$programs built"
for program in $programs; do
	how=(--heap)
	[ $program != plain ] || how=(--heap --encode)
	for mode in threads own suspended fork; do
		check "$program" 0 $mode "${how[@]}"
	done
	[ "$(find . -name '*.wmk' | wc -l)" = 1 ] || fail "$program: recordings that need the one that was cut: $(ls)"
	"$waymark" report ./*.wmk >report.txt 2>&1
	grep -q 'another process truncated it' report.txt || { fail "$program: the report does not say so"; cat report.txt; }
	check "$program" 135 default "${how[@]}"
	# Files may have 50 KiB (SIGXFSZ ends a process that ignores that): a header and no chunk.
	limit=50 check "$program" 0 full "${how[@]}"
	if mkdir -p small && mount -t tmpfs -o size=300k none small 2>mount.txt; then
		out=small/ check "$program" 0 full "${how[@]}"
		umount small
	fi
done
check plain 0 threads --sample --check
for options in --sample '--sample --encode'; do
	# shellcheck disable=SC2086
	check plain 0 suspended $options
done
# Attached to, with a thread that has blocked all signals before.
rm -f ./*.wmk attached
./plain attach &
pid=$!
if timeout 100 "$waymark" attach --heap -o ./ $pid >out.txt 2>err.txt; then
	touch attached
	wait $pid || fail "attached to: status $?"
else
	echo "not attached to, so not tested: $(head -c 300 err.txt)" # agent-attach tells whether it should be
	kill $pid
fi
finish
