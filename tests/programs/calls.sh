#!/bin/sh
# calls.sh BUILD-DIR - the call-heavy programs of bench/contexts have a capture that each mode can reach, so that their calls are
# encoded: each is run with a value that it meets. There are as many events as a native build meets the value, and in as many
# contexts as the program has ways to it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-calls.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp" || exit 1
export WAYMARK_OUT="$tmp/calls.wmk"
failed=0
calls=$here/../../bench/contexts/calls.c

"$build/waymark" cc -O2 -g "$calls" -o calls || exit 1
clang-19 -O2 -idirafter "$here/../../include" "$calls" -o native || exit 1
# meets MODE SIZE VALUE CONTEXTS FUNCTION: events in so many contexts, each with the function in it
meets() {
	rm -f calls.wmk
	./calls "$1" "$2" "$3" >out 2>err
	./native "$1" "$2" "$3" >native.out 2>native.err
	cmp -s out native.out && cmp -s err native.err || { echo "FAIL $1: prints something else than natively"; failed=1; }
	events=$(grep -c '^met' native.err)
	[ "$events" -gt 0 ] || { echo "FAIL $1: does not meet $3"; failed=1; }
	"$build/waymark" report --format=folded --metric=met --top=all calls.wmk >folded || failed=1
	got=$(awk -v name="$5" '{ events += $NF; with_name += index($0, ";" name ";") > 0 } END { print events + 0, NR, with_name + 0 }' folded)
	[ "$got" = "$events $4 $4" ] || { echo "FAIL $1: events, contexts, contexts with $5: $got, not $events $4 $4"; failed=1; }
	rm -f calls.wmk
	./calls "$1" "$2" >out 2>err # as when it is measured
	[ ! -e calls.wmk ] && [ ! -s err ] || { echo "FAIL $1: meets something without a value"; failed=1; }
}
# A level of the tree calls the next one with n + 1 and with n ^ 5: the values of its leaves.
leaves=0
for _ in a b c d e; do
	leaves=$(for n in $leaves; do echo $((n + 1)) $((n ^ 5)); done)
done
ways=$(for n in $leaves; do echo "$n"; done | grep -cx 1)
meets fib 5 1 3 fib # of five: the optimizer made a loop of the second call
meets tak 6 2 2 tak
meets mutual 1 9 2 factor # two digits
meets tree 1 1 "$ways" leaf
meets leaf 4 0 1 leaf # two call sites of one line
meets indirect 9 3 2 leaf
meets sort 1 3967065 1 compare # the first number
exit $failed
