#!/bin/bash
# lines.sh BUILD-DIR - line counts where longjmp leaves the function that called setjmp: those that the program counts itself, and those
# of gcc's coverage. (Clang's derives some counts from others, as if no call left a loop.)
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-lines.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX MALLOC_PERTURB_
cd "$tmp" || exit 1
failed=0

# same NAME: got.txt has the lines and counts of want.txt; all of them unless may_miss is set.
may_miss=
same() {
	if [ "$may_miss" ]; then
		join got.txt want.txt >both.txt
		awk '$2 != $3 { bad = 1; print "line " $1 ": " $2 ", not " $3 } END { exit bad || NR < 10 }' both.txt
	else
		diff want.txt got.txt
	fi && echo "ok   $1: $(wc -l <got.txt) lines" && return
	echo "FAIL $1: other counts of lines (< the program's own)"
	failed=1
}

# wanted: of "LINE COUNT" lines, those of want.txt, in its order.
wanted() {
	awk 'FNR == NR { want[$1]; next } $1 in want' want.txt - | LC_ALL=C sort
}

gcc -g --coverage "$here/left_lines.c" -o coverage && ./coverage | LC_ALL=C sort >want.txt || exit 1
[ "$(grep -c . want.txt)" -gt 10 ] || exit 1
gcov -t coverage-left_lines.gcda 2>gcov.err | awk -F: '{ gsub(/[ *]/, ""); print $2, $1 }' | wanted >got.txt
same "gcc's coverage"
for options in "-O0" "-O2" "-O2 --wm-path-array=0" "-O0 --wm-stage=final" "-O2 --wm-stage=final"; do
	# Branches that are selects there have no lines.
	[ "$options" != "-O2 --wm-stage=final" ] || may_miss=1
	rm -f out.wmk
	# shellcheck disable=SC2086 # words
	"$build/waymark" cc --wm=paths -g $options "$here/left_lines.c" -o prog || exit 1
	WAYMARK_OUT=out.wmk ./prog | LC_ALL=C sort >own.txt || exit 1
	cmp -s own.txt want.txt || { echo "FAIL: the program counts otherwise"; exit 1; }
	"$build/waymark" paths --format=lcov out.wmk | sed -n 's/^DA:\([0-9]*\),/\1 /p' | wanted >got.txt
	same "waymark $options"
done
exit $failed
