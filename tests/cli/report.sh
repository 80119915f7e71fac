#!/bin/sh
# report.sh BUILD - reports of real recordings: formats, filters, sorting, merging, several runs.
. "$(dirname "$0")/lib.sh"
cc_program prog

expect 0 "$waymark" run --events -o one.wmk ./prog
has err.txt "waymark run: wrote one.wmk"
./prog >/dev/null
mv waymark-prog-*.wmk two.wmk

expect 0 "$waymark" report one.wmk
has out.txt "compare:sum"
has out.txt "[qsort]"
expect 0 "$waymark" report --format=folded --metric=compare one.wmk
echo "main;work;sort;[qsort];compare 1" >want.txt
cmp out.txt want.txt || fail "folded: $(cat out.txt)"
expect 0 "$waymark" report --format=folded --metric=compare:sum one.wmk two.wmk
echo "main;work;sort;[qsort];compare 4" >want.txt
cmp out.txt want.txt || fail "two files: $(cat out.txt)"
expect 0 "$waymark" report --format=folded --metric=sorted --function 'so*' one.wmk
echo "main;work;sort 1" >want.txt
cmp out.txt want.txt || fail "--function: $(cat out.txt)"
expect 0 "$waymark" report --format=folded --metric=sorted --function compare one.wmk
[ ! -s out.txt ] || fail "--function keeps what does not match"
expect 0 "$waymark" report --format=events two.wmk one.wmk
cut -d ' ' -f 3- out.txt >events.txt
cat >want.txt <<'END'
compare 2 main;work;sort;[qsort];compare
sorted 1 main;work;sort
compare 2 main;work;sort;[qsort];compare
sorted 1 main;work;sort
END
cmp events.txt want.txt || fail "events: $(cat out.txt)"
sort -c out.txt || fail "events are not in the order of time"
expect 0 "$waymark" report --format=events --function compare one.wmk
[ "$(wc -l <out.txt)" -eq 1 ] || fail "events of a function: $(cat out.txt)"
for format in json speedscope; do
	expect 0 "$waymark" report --format=$format -o out.$format one.wmk two.wmk
	python3 -m json.tool out.$format >/dev/null || fail "$format is no JSON"
done
expect 0 "$waymark" report --format=svg -o out.svg one.wmk
has out.svg "</svg>"
for file in out.json.* out.svg.*; do
	[ ! -e "$file" ] || fail "$file was left"
done
refused 1 "nothing recorded is called nope; there is: " "$waymark" report --metric nope one.wmk
refused 1 "nothing recorded is called nope; there is: " "$waymark" report --sort nope one.wmk
refused 1 "--function so: no function has this name" "$waymark" report --function so one.wmk
head -c 4096 one.wmk >none.wmk
for metric in nope bytes; do
	refused 1 "nothing recorded is called $metric; there is: nothing" "$waymark" report --metric $metric none.wmk
done
refused 1 "--function main: no function has this name" "$waymark" report --function main none.wmk
expect 1 "$waymark" report --metric nope -o keep.txt one.wmk
[ ! -e keep.txt ] || fail "an output file after an error"
refused 1 "no/such/dir/out.svg: cannot be written: No such file or directory" \
	"$waymark" report -o no/such/dir/out.svg one.wmk
refused 1 ".: is a directory, a file is needed" "$waymark" report -o . one.wmk
expect 1 sh -c '"$0" report one.wmk >/dev/full' "$waymark"
has err.txt "No space left on device"
cp one.wmk keep.wmk
expect 0 "$waymark" report -o /dev/null one.wmk
[ -c /dev/null ] || fail "/dev/null was replaced"

# Without a file: the newest run. Of a directory: all.
mkdir some none
cp one.wmk two.wmk some/
echo text >some/text.wmk
mkdir some/dir.wmk
refused 1 "none: no recording (*.wmk) is in this directory" "$waymark" report none
expect 0 "$waymark" report --format=folded --metric=compare:sum some
echo "main;work;sort;[qsort];compare 4" >want.txt
cmp out.txt want.txt || fail "a directory: $(cat out.txt)"
echo "waymark report: some/text.wmk is left out: it is no recording of this version" >want.txt
cmp err.txt want.txt || fail "a directory: $(cat err.txt)"
(cd none && refused 1 "a .wmk file is needed: the working directory has no recording" "$waymark" report
	"$waymark" run --events -q -o b.wmk ../prog event 1 && "$waymark" run --events -q -o c.wmk ../prog event 2 &&
		"$waymark" run --events -q -o a.wmk ../prog event 3) >/dev/null || fail "three runs"
cd none || exit 1
expect 0 "$waymark" report --format=folded --metric=number:sum
echo "main 3" | cmp - out.txt || fail "the newest: $(cat out.txt)"
echo "waymark report: the newest recording is a.wmk" | cmp - err.txt || fail "the newest: $(cat err.txt)"
if [ -f "$build/src/agent/libwaymark-agent.so" ]; then # a run of a shell needs it
	expect 0 "$waymark" run --events -q sh -c '../prog event 10 && ../prog event 20'
	expect 0 "$waymark" report --format=folded --metric=number:sum
	echo "main 30" | cmp - out.txt || fail "the newest run: $(cat out.txt)"
	grep -qE '^waymark report: the newest run has [0-9]+ recordings: waymark-.*wmk to waymark-.*wmk$' err.txt ||
		fail "the newest run: $(cat err.txt)"
fi
cd ..

# Tables: the same numbers as folded contexts have.
for by in function line module image thread; do
	expect 0 "$waymark" report --by=$by --metric=compare:sum one.wmk two.wmk
	has out.txt "s by self compare:sum: "
	expect 0 "$waymark" report --by=$by --sort=total --top=1 one.wmk
	has out.txt "s by total compare"
	expect 0 "$waymark" report --by=$by --sort=name --format=json -o table.json one.wmk
	python3 -m json.tool table.json >/dev/null || fail "--by=$by is no JSON"
done
for metric in compare:sum sorted; do
	"$waymark" report --by=function --metric=$metric --format=json one.wmk two.wmk >table.json &&
		"$waymark" report --format=folded --metric=$metric one.wmk two.wmk >table.folded &&
		python3 "$here/report_tables.py" table.folded table.json || fail "--by=function --metric=$metric"
done
refused 2 "--format=svg has no tables and no trees; use text or json" "$waymark" report --by=line --format=svg one.wmk
refused 1 "--sort bytes: a table is sorted by self, total or name" "$waymark" report --by=line --sort=bytes one.wmk
refused 2 "--by nope" "$waymark" report --by=nope one.wmk

# Trees.
cat >rows.py <<'END'
"""rows.py TREE.json: a line for each function, its way and its numbers."""
import json
import sys

ways = []
for node in json.load(open(sys.argv[1], encoding="utf-8"))["nodes"]:
    ways.append((ways[node["parent"]] + ";" if node["parent"] is not None else "") + node["name"])
    print(ways[-1], node["total"], node["self"])
END
# tree WANTED OPTION...: of two compares that are 4 in all
tree() {
	ways=$1
	shift
	expect 0 "$waymark" report "$@" --format=json --metric=compare:sum -o tree.json one.wmk two.wmk
	got=$(python3 rows.py tree.json | paste -sd ' ')
	[ "$got" = "$ways" ] || fail "$*: $got, not $ways"
	expect 0 "$waymark" report "$@" --metric=compare:sum one.wmk two.wmk
	grep -qE '^ +4 +100.0 % +[04] +(0|100).0 %   *compare$' out.txt || fail "$*: $(cat out.txt)"
}
tree "main 4 0 main;work 4 0 main;work;sort 4 0 main;work;sort;[qsort] 4 0 main;work;sort;[qsort];compare 4 4" --tree
tree "compare 4 0 compare;[qsort] 4 0 compare;[qsort];sort 4 0 compare;[qsort];sort;work 4 0 compare;[qsort];sort;work;main 4 4" \
	--inverted
tree "sort 4 0 sort;[qsort] 4 0 sort;[qsort];compare 4 4" --callees=sort
tree "compare 4 0 compare;[qsort] 4 0 compare;[qsort];sort 4 0 compare;[qsort];sort;work 4 0 compare;[qsort];sort;work;main 4 4" \
	--callers='/^comp/'
refused 1 "nothing: no context has a function of this name" "$waymark" report --callers=nothing one.wmk
refused 2 "give one of --by, --tree, --inverted, --callers, --callees, --timeline, --sizes and --lifetimes" "$waymark" report --tree --by=line one.wmk
refused 2 "--top: a tree is limited by --min" "$waymark" report --tree --top=3 one.wmk
refused 2 "--callers /(/: " "$waymark" report --callers='/(/' one.wmk

# Filters.
expect 0 "$waymark" report --format=folded --metric=sorted --function '/^so/' --module '*rogram.c' one.wmk
echo "main;work;sort 1" | cmp - out.txt || fail "--module: $(cat out.txt)"
refused 1 "--module nope: no such function is of this module" "$waymark" report --function sort --module nope one.wmk
refused 1 "--module nope: no function is of this module" "$waymark" report --module nope one.wmk
expect 0 "$waymark" report --format=folded --metric=compare:sum --module "$PWD/prog" one.wmk
echo "main;work;sort;[qsort];compare 2" | cmp - out.txt || fail "--module of an image: $(cat out.txt)"
expect 0 "$waymark" report --metric=compare --time=0..1h one.wmk
lacks out.txt "left out"
expect 0 "$waymark" report --format=folded --metric=compare --time=1h.. one.wmk
[ ! -s out.txt ] || fail "--time: $(cat out.txt)"
echo "waymark report: 2 events are left out (--time, --thread)" | cmp - err.txt || fail "--time: $(cat err.txt)"
thread=$("$waymark" report --format=events one.wmk | awk 'NR == 1 { print $2 }')
expect 0 "$waymark" report --format=folded --metric=compare --thread="$thread" one.wmk
echo "main;work;sort;[qsort];compare 1" | cmp - out.txt || fail "--thread: $(cat out.txt)"
expect 0 "$waymark" report --format=folded --metric=compare --thread="x$thread" one.wmk
[ ! -s out.txt ] || fail "--thread: $(cat out.txt)"
for wrong in 1 2..1 ..x 1e3.. -1.. inf..; do
	refused 2 "--time $wrong: FROM..TO is needed" "$waymark" report --time "$wrong" one.wmk
done
refused 2 "--min 101: must be a percentage" "$waymark" report --min=101 one.wmk
refused 2 "--function /[/: " "$waymark" report --function '/[/' one.wmk

if [ -e "$build/src/runtime/libwaymark-heap.so" ]; then
	expect 0 "$waymark" run --heap -o heap.wmk ./prog
	expect 0 "$waymark" report --format=folded --metric=leaked --function keep heap.wmk
	echo "main;work;keep;[malloc] 1000" >want.txt
	cmp out.txt want.txt || fail "leaked: $(cat out.txt)"
	expect 0 "$waymark" report --format=folded --metric=bytes --function keep heap.wmk
	echo "main;work;keep;[malloc] 1500" >want.txt
	cmp out.txt want.txt || fail "bytes: $(cat out.txt)"
	expect 0 "$waymark" report --format=folded --metric=bytes --min=60% heap.wmk
	[ "$(wc -l <out.txt)" -eq 1 ] || fail "--min: $(cat out.txt)"
	grep -qE '^waymark report: [0-9]+ contexts? (is|are) left out, each with less than 60 % \(--min\)$' err.txt ||
		fail "--min is not told: $(cat err.txt)"
	expect 0 "$waymark" report --time=0.. heap.wmk
	has out.txt "heap.wmk: its heap has no times and no threads: --time and --thread leave it out"
	expect 0 "$waymark" report --callers=malloc --function=keep --min=0 --metric=bytes --format=json -o tree.json heap.wmk
	got=$(python3 rows.py tree.json | paste -sd ' ')
	[ "$got" = "[malloc] 1500 0 [malloc];keep 1500 0 [malloc];keep;work 1500 0 [malloc];keep;work;main 1500 1500" ] ||
		fail "--callers=malloc: $got"
	"$waymark" report --by=function --format=json heap.wmk >table.json &&
		"$waymark" report --format=folded heap.wmk >table.folded &&
		python3 "$here/report_tables.py" table.folded table.json '[malloc]' '[calloc]' '[realloc]' ||
		fail "--by=function of the heap"

	# Suppressions: what is left out is told, whatever is shown of the rest.
	printf 'leak:^keep\n' >lsan.supp
	printf '{\n  known\n  Memcheck:Leak\n  fun:malloc\n  ...\n  fun:work\n}\n' >valgrind.supp
	for file in lsan valgrind; do
		expect 0 "$waymark" report --format=folded --metric=leaked --suppressions $file.supp heap.wmk
		lacks out.txt "keep"
		grep -qE '^waymark report: [12] contexts? (is|are) left out \(--suppressions\), with 1000 of leaked$' err.txt ||
			fail "$file: $(cat err.txt)"
	done
	refused 1 "prog.supp:1: race:x: no suppression of valgrind or LeakSanitizer" sh -c \
		'echo race:x >prog.supp; exec "$0" report --suppressions prog.supp heap.wmk' "$waymark"

	expect 0 "$waymark" report heap.wmk
	has out.txt "Functions by self bytes"
	has out.txt "Contexts by bytes"

	# printf has a buffer, which is the library's: live, and no leak. The same where the agent sees into the library.
	grep -qE '^ +1,000  leaked$' out.txt || fail "leaked: $(grep leaked out.txt)"
	cat >stream.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	volatile char *p = malloc(77);
	*p = 1;
	printf("%d\n", 1);
	return 0;
}
END
	for how in "$waymark cc" gcc; do
		if command -v gcc >/dev/null && $how -O0 -g stream.c -o stream 2>err.txt && "$waymark" run -q --heap -o stream.wmk ./stream >/dev/null 2>err.txt; then
			expect 0 "$waymark" report --metric=leaked stream.wmk
			grep -qE '^ +77  leaked$' out.txt || fail "$how: leaked: $(grep leaked out.txt)"
			rm -f stream.wmk
		fi
	done
	# What was live at the peak adds up to it: also by walks of the stack, of samples, and where an agent encodes calls.
	for how in --heap --heap=200 '--heap --encode'; do
		[ -x stream ] && [ -e "$build/src/sampler/libwaymark-sample.so" ] || break # a sanitizer build has no sampler
		expect 0 "$waymark" run -q $how -o at_peak.wmk ./stream
		[ "$("$waymark" report --metric=peak --format=folded at_peak.wmk 2>/dev/null | awk '{ sum += $NF } END { print sum + 0 }')" = \
			"$("$waymark" report --format=json at_peak.wmk |
				python3 -c 'import json, sys; print(json.load(sys.stdin)["files"][0]["heap_peak_bytes"])')" ] ||
			fail "$how: contexts at the peak do not add up to it"
	done
	expect 0 "$waymark" report --metric=peak --format=folded heap.wmk
	[ "$(awk '{ sum += $NF } END { print sum }' out.txt)" = "$("$waymark" report --format=json heap.wmk |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["files"][0]["heap_peak_bytes"])')" ] ||
		fail "contexts at the peak: $(cat out.txt)"
	expect 0 "$waymark" report --metric=peak heap.wmk
	cp out.txt peak.txt

	# The time line ends with what is live, and its highest point is the peak, but for a 64th or a kilobyte.
	expect 0 "$waymark" report --timeline --format=json -o timeline.json heap.wmk
	python3 -c '
import json
line = json.load(open("timeline.json", encoding="utf-8"))["processes"][0]
times, peak = line["times"], line["peak_bytes"]
assert times == sorted(times, key=lambda time: time["ns"]) and times[-1]["ns"] >= line["peak_ns"]
assert all(time["low"] <= time["live"] <= time["high"] <= peak for time in times)
assert max(time["high"] for time in times) >= peak - max(peak // 64, 1024)
assert abs(times[-1]["live"] - line["live_bytes"]) <= max(peak // 64, 1024)' || fail "--timeline: $(cat timeline.json)"
	expect 0 "$waymark" report --timeline --top=3 heap.wmk
	[ "$(grep -cE '^ +[0-9.]+ ms +[0-9,]+ +[0-9,]+ +[0-9,]+  #*$' out.txt)" -le 3 ] || fail "--timeline: $(cat out.txt)"
	refused 2 "--format=folded has no tables and no trees" "$waymark" report --timeline --format=folded heap.wmk
	expect 0 "$waymark" report --by=context --metric=bytes --sort=total heap.wmk
	grep -qE '^ +0 +0.0 % +[0-9,]+ +[0-9.]+ %  main;work$' out.txt || fail "--by=context: $(cat out.txt)"
	grep -qE '^ +1,500 +[0-9.]+ % +1,500 +[0-9.]+ %  main;work;keep$' out.txt || fail "--by=context: $(cat out.txt)"
	mv peak.txt out.txt

	# One of each is no plural. What --top leaves out is told, and not among the contexts.
	grep -qE '^1,000 peak \([0-9.]+ %\)  \| 1,000 bytes, 1 allocation, 1,000 live, 1 live-allocation,' out.txt || fail "$(cat out.txt)"
	expect 0 "$waymark" report --format=folded --top=1 heap.wmk
	[ "$(wc -l <out.txt)" -eq 1 ] || fail "folded has more than contexts: $(cat out.txt)"
	grep -qE '^waymark report: only 1 of [0-9]+ contexts is shown' err.txt || fail "not told: $(cat err.txt)"
fi
finish
