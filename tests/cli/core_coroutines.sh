#!/bin/bash
# core_coroutines.sh BUILD - the context of a thread that stopped on a coroutine's stack, in a core: the one that was recorded just
# before, in a file that the core does not have.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

# "a;b;b 1" -> "a;b (2 times)"
fold() {
	sed 's/ [0-9]*$//' | awk -F';' '{
		for (i = 1; i <= NF; i = end) {
			for (end = i + 1; end <= NF && $end == $i; end++)
				;
			printf "%s%s%s", (i > 1 ? ";" : ""), $i, (end - i > 1 ? " (" (end - i) " times)" : "")
		}
		print ""
	}'
}

for flags in -O0 -O2 '-O2 -static'; do
	# shellcheck disable=SC2086
	"$waymark" cc --wm=contexts -g $flags "$here/core_coroutines.c" -o coroutines -pthread || exit 1
	for way in plain nested thread elsewhere signal; do
		rm -f run.wmk
		WAYMARK_OUT=$tmp/run.wmk core_of stop.core ./coroutines $way || exit 1
		# The core has what a handler interrupted as frames of its own.
		"$waymark" report --format=folded run.wmk | fold | sed 's/.*\[interrupted\];//' >want.txt
		[ "$(grep -c 'inner$' want.txt)" = 1 ] || fail "$flags $way: recorded: $(cat want.txt)"
		rm -f run.wmk
		expect 0 "$waymark" core --frames 8 ./coroutines stop.core
		grep -qxF "      context $(cat want.txt)" out.txt ||
			fail "$flags $way: not $(cat want.txt): $(grep -E '^      context|decoded' out.txt)"
	done
done
finish
