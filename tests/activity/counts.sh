# shellcheck shell=bash
# counts.sh - what ran of a program as it is written: gcc builds it without inlining or any other optimization and counts its
# lines (gcov).

# count_source SOURCE FAULT: counts.txt of one run. FAULT: what stands for the program's fault.
count_source() {
	local language=gcc
	[ "${1%.cpp}" = "$1" ] || language=g++
	cat >dump.h <<'END'
#include <unistd.h>
#ifdef __cplusplus
extern "C"
#endif
void __gcov_dump(void);
END
	$language -w -g -O0 -fno-inline --coverage -include dump.h "-DFAULT=$2" "$1" -o plain -pthread >gcc.log 2>&1 || {
		cat gcc.log
		return 1
	}
	./plain >/dev/null || return 1
	gcov -t -m -o . plain-*.gcda 2>/dev/null | grep -F "$1" -A100000 >counts.txt || gcov -t -o . ./*.gcda >counts.txt 2>gcov.log
}

# compare_source SOURCE WHAT LCOV: no line that ran has the count 0, and no function that has such a line. At the end, how many of
# the lines that did not run are said to be so.
compare_source() {
	awk -v what="$2" -v source="$1" -F '[:,]' '
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
	' counts.txt "$3"
}
