#!/bin/bash
# source.sh BUILD PROGRAM LEVEL... - what cannot have run, against what ran as it is written: gcc builds the program without
# inlining or any other optimization and counts its lines (gcov). No line that gcov counts may be called "cannot have run" in
# LCOV, and no function that has such a line. PROGRAM: a file of this folder, or the seed of a random program (program.sh).
# KEEP=1 keeps the folder. At the end, how many of the lines that did not run are said to be so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
program=$2
shift 2
waymark=$build/waymark
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
# shellcheck source=tests/activity/program.sh
. "$here/program.sh"
work=$(mktemp -d) || exit 1
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0

if [ -f "$here/$program" ]; then
	cp "$here/$program" .
	source=$program compiler=cc
	[ "${source%.cpp}" = "$source" ] || compiler=c++
else
	make_program "$build" "$program"
fi
language=gcc
[ $compiler = cc ] || language=g++
cat >dump.h <<'END'
#include <unistd.h>
#ifdef __cplusplus
extern "C"
#endif
void __gcov_dump(void);
END
$language -w -g -O0 -fno-inline --coverage -include dump.h '-DFAULT=(__gcov_dump(), _exit(0))' "$source" -o plain -pthread >gcc.log 2>&1 || {
	cat gcc.log
	exit 1
}
./plain >/dev/null || exit 1
gcov -t -m -o . plain-*.gcda 2>/dev/null | grep -F "$source" -A100000 >counts.txt || gcov -t -o . ./*.gcda >counts.txt 2>gcov.log

for level; do
	for scheme in fc stmt cc+pt stmt+pt; do
		"$waymark" $compiler -w "--wm=trace=*=$scheme" -g "-$level" "$source" -o program -pthread 2>build.txt || {
			cat build.txt
			exit 1
		}
		core_of core ./program || exit 1
		"$waymark" core --format=lcov ./program core >lcov.txt || exit 1
		awk -v what="$program -$level, $scheme" -v source="$source" -F '[:,]' '
			function fail(text) { if (bad++ < 10) print "FAIL: " what ": " text }
			FNR == NR {
				count = $1; sub(/^ */, "", count); sub(/\*$/, "", count); line = $2 + 0
				if (count ~ /^[0-9]+$/) ran[line] = 1
				else if (count ~ /^[#=%$]+$/) { if (!(line in ran)) idle[line] = 1 }
				next
			}
			$1 == "SF" { is_ours = $0 ~ ("/" source "$") }
			!is_ours { next }
			$1 == "FN" { at[$3] = $2 }
			$1 == "FNDA" && $2 == 0 && (at[$3] in ran) { fail("function " $3 " ran, but is said not to have") }
			$1 == "DA" && $3 == 0 && ($2 in ran) { fail("line " $2 " ran, but is said not to have") }
			$1 == "DA" && $3 == 0 && ($2 in idle) { no++ }
			END {
				for (line in idle)
					all++
				printf "%s: %d lines did not run, %d no\n", what, all, no
				if (!all)
					print "FAIL: " what ": no counts"
				exit bad || !all
			}
		' counts.txt lcov.txt || status=1
	done
done
exit $status
