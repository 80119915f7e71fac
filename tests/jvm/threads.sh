#!/bin/bash
# threads.sh BUILD JDK SOURCES - samples are of the thread that was sampled, by its number and its name; the CPU time of one that joins the
# virtual machine again counts once. Beside a debugger, which alone may suspend threads, there are none, and a line says so.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Threads
WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "-agentpath:$agent=cpu=997,encode" -cp classes Threads >out.txt 2>err.txt ||
	fail "status $?"
[ -s err.txt ] && { cat err.txt; fail "standard error"; }
# out.txt: NAME NS of the program's clock; TIME TID:NAME samples NS CONTEXT
"$waymark" report --format events run.wmk | grep -v '^#' >events.txt
awk '
FILENAME == "out.txt" { used[$1] = $2; next }
{ split($2, thread, ":"); name = thread[2]; sum[name] += $4; tids[name, thread[1]] = 1; of[thread[1]] += $4; last[name] = thread[1] }
END {
	if (!used["main"] || !used["the_worker"]) { print "the program has not said what it used"; exit 1 }
	for (name in used)
		if (sum[name] < used[name] / 4 || of[last[name]] > used[name] * 3 / 2) {
			print name ": used " used[name] ", in samples " sum[name] ", of its number " of[last[name]]; bad++ }
	if (last["main"] == last["the_worker"]) { print "both have the number " last["main"]; bad++ }
	exit bad
}' out.txt events.txt || fail "threads"
grep -q ' [0-9]*:main samples [0-9]* Threads.main;Threads.work' events.txt || { head -n 3 events.txt; fail "main has no sample of its own"; }
grep -q ' [0-9]*:the_worker samples [0-9]* .*Threads.work' events.txt || { head -n 3 events.txt; fail "the worker has none"; }
grep -q ':waymark_cpu ' events.txt && fail "samples of the thread that takes them"

# Before and behind the agent; the port is any one.
debugger=-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0
for order in before behind; do
	ours=-agentpath:$agent=cpu,alloc=0
	agents=("$debugger" "$ours")
	[ $order = before ] || agents=("$ours" "$debugger")
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "${agents[@]}" -cp classes Threads >out.txt 2>err.txt ||
		{ cat out.txt err.txt; fail "$order: status"; }
	grep -qx 'waymark: cpu is off: .* can_suspend, .*' err.txt && [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "$order: line"; }
	"$waymark" report --format events run.wmk >events.txt
	grep -q ':main alloc ' events.txt || { head -n 3 events.txt; fail "$order: no allocations"; }
	grep -q ' samples ' events.txt && fail "$order: samples"
done
[ "$failures" = 0 ]
