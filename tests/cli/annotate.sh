#!/bin/sh
# annotate.sh BUILD - source lines with their numbers: those that the contexts of `waymark report --format=json` add up to, line by line.
. "$(dirname "$0")/lib.sh"

mkdir source
cat >source/prog.c <<'EOF'
#include <stdlib.h>
#include <waymark.h>

__attribute__((noinline)) static void leaf(int n)
{
	wm_event("work", (unsigned int)n); /* 6 */
}

__attribute__((noinline)) static void again(int n)
{
	if (n > 0)
		again(n - 1); /* 12 */
	wm_event("work", 1); /* 13 */
	leaf(n); /* 14 */
}



__attribute__((noinline)) static void far(void) /* <19> */
{


	wm_event("work", 100); /* 23 */








	leaf(3); /* 32 */
}

int main(void)
{
	again(2);
	far();
}
EOF
"$waymark" cc -O1 -g source/prog.c -o prog || exit 1
expect 0 "$waymark" run --events -q -o run.wmk ./prog

cat >oracle.py <<'EOF'
"""oracle.py REPORT.json ANNOTATE.json FUNCTION METRIC"""
import json
import sys

report, annotate = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:3])
metric = [m["name"] for m in report["metrics"]].index(sys.argv[4])
want = {}
for context in report["contexts"]:
    value = context["values"][metric]
    frames = [report["frames"][i] for i in context["frames"]]
    lines = [(f["file"], f["line"]) if f["name"] == sys.argv[3] else None for f in frames]
    for line in set(lines) - {None}:
        want.setdefault(line, [0, 0])[1] += value
    if lines[-1]:
        want[lines[-1]][0] += value
got = {(line["file"], line["line"]): [line["self"], line["total"]] for line in annotate["lines"]}
want = {line: numbers for line, numbers in want.items() if numbers[1]}
if got != want or not got:
    sys.exit(f"lines: {got}, not {want}")
EOF
for metric in work work:sum; do
	expect 0 "$waymark" report --format=json -o report.json run.wmk
	for function in leaf again far main; do
		expect 0 "$waymark" annotate --metric=$metric --format=json $function run.wmk
		python3 oracle.py report.json out.txt $function $metric || fail "$function, $metric"
	done
done

expect 0 "$waymark" annotate --metric=work:sum again run.wmk
has out.txt "again: work:sum 3 (2.8 %) in it, 6 (5.5 %) in it and what it calls; percentages of 109"
grep -qE '^ +3 +12 .*again\(n - 1\)' out.txt || fail "line 12: $(cat out.txt)"
grep -qE '^ +3 +2\.8 % +3 +13 .*wm_event' out.txt || fail "line 13: $(cat out.txt)"
# From three lines before to three behind, and where more are between, a gap.
expect 0 "$waymark" annotate --metric=work:sum far run.wmk
sed -E '1,4d; s/^ +100 +91\.7 % +100 /  /; s/^ +3 +32/  32/' out.txt | awk '{ print $1 }' | paste -sd ' ' >lines.txt
echo "20 21 22 23 24 25 26 ... 29 30 31 32 33 34 35" | cmp - lines.txt || fail "lines around: $(cat out.txt)"
expect 0 "$waymark" annotate --metric=work:sum '/^(far|leaf)$/' run.wmk
grep -qE '^ +6 +5\.5 % +6 +6 ' out.txt || fail "leaf: $(cat out.txt)"
expect 0 "$waymark" annotate --metric=work:sum --format=html -o page.html far run.wmk
has page.html "<td class=\"n\">23</td>"
has page.html "wm_event(&quot;work&quot;, 100); /* 23 */"
expect 0 "$waymark" annotate --metric=work:sum --format=html -o page.html again run.wmk
has page.html "if (n &gt; 0)"

# Without its source: the numbers, and why.
mv source hidden
expect 0 "$waymark" annotate --metric=work:sum far run.wmk
has out.txt ": its text is not shown: "
grep -qE '^ +100 +91\.7 % +100 +23$' out.txt || fail "without source: $(cat out.txt)"
expect 0 "$waymark" annotate --metric=work:sum --source-dir="source=$PWD/hidden" far run.wmk
has out.txt 'wm_event("work", 100); /* 23 */'

# Without a file: the newest; filters; what is wrong.
expect 0 "$waymark" annotate --function=main --metric=work leaf
has err.txt "waymark annotate: the newest recording is run.wmk"
refused 1 "nothing: no function has this name" "$waymark" annotate nothing run.wmk
refused 2 "the name of a function is needed" "$waymark" annotate
finish
