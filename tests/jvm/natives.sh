#!/bin/bash
# natives.sh BUILD JDK SOURCES [MS POINTS] - samples by walks of native code below Java methods, against a shadow stack that the code itself keeps, and of threads of
# the virtual machine. With MS it runs so long (CPU time), and the functions' shares are within POINTS of those that are known.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
ms=${4:-700} points=${5:-}

compiled Natives
"${CC:-cc}" -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC -I "$jdk/include" -I "$jdk/include/linux" -o natives.so "$sources/natives.c" ||
	exit 1
# run MS: the samples of that much CPU time are as they are to be, or too few (3)
run() {
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 250 "$jdk/bin/java" "-XX:+Use${collector}GC" -Xmx64m "-agentpath:$agent=cpu=997" -cp classes Natives \
		"$dir/natives.so" "$1" >changes.txt 2>err.txt || { cat err.txt; fail "$collector: status $?"; }
	grep -v '^WARNING: \|^$' err.txt && fail "$collector: standard error"
	"$waymark" report --format events run.wmk >events.txt || fail "$collector: report"
	python3 -B "$sources/natives.py" changes.txt events.txt run.wmk ${points:+"$points"}
}
for collector in Serial Parallel G1; do
	status=0
	run "$ms" || status=$?
	# The kernel looks at timers of CPU time when its clock ticks: beside many processes there are fewer samples in the same time.
	for times in 8 32; do
		[ $status -eq 3 ] || break
		status=0
		run $((ms * times)) || status=$?
	done
	[ $status -eq 0 ] || fail "$collector: samples, status $status"
done
[ "$failures" = 0 ]
