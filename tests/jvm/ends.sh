#!/bin/bash
# ends.sh BUILD JDK SOURCES - however a program ends, what it has recorded is there: all events of all threads, with their contexts.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
ulimit -c 0

compiled Ends
"${CC:-cc}" -shared -fPIC -I "$jdk/include" -I "$jdk/include/linux" -o libends.so "$sources/ends.c" || exit 1
# Quiet about crashes: a file of the virtual machine goes into the scratch folder.
java=("$jdk/bin/java" "-Dlibrary=$dir/libends.so" -XX:ErrorFile=crash.log -cp classes)

# 199 calls of itself
tail=$(printf ';Ends.record%.0s' {1..199})

# is_whole WHAT EVENTS: the report has so many of them
is_whole() {
	"$waymark" report --format folded --metric kept run.wmk >folded.txt 2>err.txt || fail "$1: report"
	[ "$(awk '{ sum += $NF } END { print sum + 0 }' folded.txt)" = "$2" ] || { tail -n 3 folded.txt err.txt | cut -c1-300; fail "$1: events"; }
	# The deepest one of each thread.
	awk -v first="Ends.main;Ends.record$tail 1" -v start='Ends.main;[thread];' -v other=";Ends.work;Ends.record$tail 3" '
		$0 == first { mains++ }
		index($0, start) == 1 && substr($0, length($0) - length(other) + 1) == other { others++ }
		END { exit !(mains && others) }' folded.txt || fail "$1: the deepest contexts of main and of threads"
}

# ends HOW STATUS EVENTS
ends() {
	rm -f run.wmk
	{
		WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "${java[@]}" "-agentpath:$agent=encoder=$encoder" Ends "$1" >out.txt 2>err.txt
		status=$?
	} 2>/dev/null # of the shell: that it was aborted
	[ "$status" = "$2" ] || { head -n 5 err.txt; fail "$encoder $1: status $status"; }
	is_whole "$encoder $1" "$3"
}

# Killed at the point that it announces.
killed() {
	rm -f run.wmk ready
	mkfifo ready
	WAYMARK_OUT=$dir/run.wmk "${java[@]}" "-agentpath:$agent=encoder=$encoder" Ends kill >ready 2>err.txt &
	victim=$!
	while read -r -t 60 line; do
		[ "$line" = kill ] && break
	done <ready
	kill -KILL "$victim"
	wait "$victim" 2>/dev/null
	[ "${line:-}" = kill ] || fail "$encoder kill: it was not ready"
	is_whole "$encoder kill" 801
}

for encoder in fast lucce; do
	ends exit 3 801
	ends halt 4 800
	ends throw 1 800
	ends return 0 800
	ends abort 134 800
	killed
done
[ "$failures" = 0 ]
