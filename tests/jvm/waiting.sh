#!/bin/bash
# waiting.sh BUILD JDK SOURCES - time by the clock, and that of waiting: of threads that wait in known ways, as long as they say, and of virtual threads
# that are carried, or wait without a thread; from the start and by attach.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Waiting

# compare WHAT: out.txt with run.wmk; prints what differs
compare() {
	for metric in wall off-cpu; do
		"$waymark" report --format folded --metric "$metric" run.wmk >"$metric.txt" || fail "$1: report of $metric"
	done
	awk -f "$sources/waiting.awk" out.txt metric=wall wall.txt metric=off-cpu off-cpu.txt
}

# Where processors are busy the look behind a wait may come late: then it is made again.
for _ in 1 2 3; do
	rm -f run.wmk
	"$waymark" run --wall --off-cpu -q -o run.wmk "$jdk/bin/java" -cp classes Waiting 1000 >out.txt 2>err.txt || fail "run: status $?"
	[ -s err.txt ] && { cat err.txt; fail "run: standard error"; }
	compare run >differs.txt && break
done
[ ! -s differs.txt ] || { cat differs.txt; fail run; }
"$waymark" report --format events run.wmk | grep -q '[0-9]:parks ' || fail "run: names of threads"
"$waymark" report --threads --format folded --metric wall run.wmk | grep -q '^.thread chief of threads.;Waiting.main;java.lang.Thread.sleep' ||
	fail "run: another name"
"$waymark" run --wall --encode "$jdk/bin/java" -version >/dev/null 2>err.txt && fail "--encode is not refused"
grep -q 'wall walks the stacks' err.txt || fail "--encode: the reason"

# Virtual threads, on a JDK that has them.
new=$(newest)
if [ "$(release "$new")" -ge 21 ]; then
	"$new/bin/javac" -d classes "$sources/VirtualWaiting.java" || exit 1
	rm -f run.wmk
	"$waymark" run --wall --off-cpu -q -o run.wmk "$new/bin/java" "${quick[@]}" -cp classes VirtualWaiting 1000 >out.txt 2>err.txt || fail "virtual: status $?"
	[ -s err.txt ] && { cat err.txt; fail "virtual: standard error"; }
	for metric in wall off-cpu; do
		"$waymark" report --format folded --metric "$metric" run.wmk >"$metric.txt" || fail "virtual: report of $metric"
	done
	awk -f "$sources/virtual_waiting.awk" out.txt metric=wall wall.txt metric=off-cpu off-cpu.txt || fail virtual
fi

# A virtual machine that runs: until each wait has been seen.
mkfifo in
"$jdk/bin/java" -XX:+UseZGC -cp classes Waiting <in >out.txt 2>err.txt &
pid=$!
exec 3>in
until grep -q ready out.txt; do kill -0 $pid 2>/dev/null || { cat err.txt; fail "attach: the program"; exit 1; }; sleep 0.1; done
for turn in 1 2; do
	rm -f run.wmk
	"$waymark" attach -q --wall --off-cpu -o "$dir/run.wmk" $pid || fail "attach $turn"
	for wait in sleeping parked waiting blocked 'waiting in native code'; do
		for _ in $(seq 100); do
			"$waymark" report --format folded --metric off-cpu run.wmk 2>report.txt | grep -q "Waiting.*\\[$wait\\] [1-9]" && continue 2
			sleep 0.1
		done
		fail "attach $turn: no $wait"
	done
	"$waymark" attach -q --detach $pid || fail "detach $turn"
	"$waymark" report --format folded --metric wall run.wmk | grep -q 'Waiting.runs [1-9]' || fail "attach $turn: what runs"
	"$waymark" report --threads --format folded run.wmk | grep -q '^.thread chief of threads.;.thread.;Waiting.main' || fail "attach $turn: names of threads"
done
echo >&3
exec 3>&-
wait $pid || fail "attach: status $?"
[ "$failures" = 0 ]
