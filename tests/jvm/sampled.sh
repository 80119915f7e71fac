#!/bin/bash
# sampled.sh BUILD JDK SOURCES [MS POINTS] - samples by walks, of code that is hard to walk, on each collector: no stack that the program cannot have or that is of another
# part than it says, and next to none unknown. By command: tests/jvm/sampled.sh BUILD JDK SOURCES 10000 1.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Sampled
for collector in Serial Parallel G1 Z Shenandoah; do
	"$jdk/bin/java" "-XX:+Use${collector}GC" -version >/dev/null 2>&1 || continue
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 500 "$jdk/bin/java" "-XX:+Use${collector}GC" -Xmx256m "-agentpath:$agent=cpu=9973" -cp classes Sampled classes \
		"${4:-500}" >out.txt 2>err.txt || { cat err.txt; fail "$collector: status $?"; }
	[ -s err.txt ] && { cat err.txt; fail "$collector: standard error"; }
	"$waymark" report --format folded --metric cpu run.wmk >folded.txt || fail "$collector: report"
	# Names and lines come behind the samples.
	"$waymark" report --top all --metric cpu run.wmk >report.txt || fail "$collector: report"
	grep -q 'Sampled.main at Sampled.java:[1-9]' report.txt || fail "$collector: lines"
	awk -f "$sources/sampled.awk" out.txt folded.txt || fail "$collector: samples"
	"$waymark" report --format events run.wmk >events.txt || fail "$collector: report"
	python3 -B "$sources/sampled.py" out.txt events.txt run.wmk "${5:-10}" >parts.txt || fail "$collector: parts"
	sed "s/^/$collector: /" parts.txt
done

# Barriers of ZGC are leaf functions of the virtual machine, called by stubs.
compiled Copied
if "$jdk/bin/java" -XX:+UseZGC -version >/dev/null 2>&1; then
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" -XX:+UseZGC -Xmx256m "-agentpath:$agent=cpu=9973" -cp classes Copied 1500 || fail "copied: status $?"
	"$waymark" report --format folded --metric cpu run.wmk >folded.txt || fail "copied: report"
	awk '/^Copied.main;Copied.copies/ { known += $NF } /^\[(not_walkable|unknown)_Java\] / { unknown += $NF }
		END { if (known < 9 * unknown || !known) { print "copied: " known + 0 ", without a stack: " unknown + 0; exit 1 } }' folded.txt ||
		fail "copied: samples"
fi
[ "$failures" = 0 ]
