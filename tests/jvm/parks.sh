#!/bin/bash
# parks.sh BUILD JDK SOURCES - waits of java.util.concurrent: as often and as long as the program has seen, from the start and by attach.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Parks

# compare WHAT: out.txt with run.wmk
compare() {
	for metric in contention parked; do
		"$waymark" report --format folded --metric $metric run.wmk >$metric.txt || fail "$1: report of $metric"
		"$waymark" report --format folded --metric $metric:sum run.wmk >$metric-sum.txt || fail "$1: report of $metric:sum"
	done
	awk -f "$sources/parks.awk" out.txt value=count metric=contention contention.txt metric=parked parked.txt \
		value=sum metric=contention contention-sum.txt metric=parked parked-sum.txt || fail "$1"
}

for mode in -Xmixed -Xcheck:jni; do
	rm -f run.wmk
	echo -n x | "$waymark" run --contention -q -o run.wmk "$jdk/bin/java" $mode -cp classes Parks >out.txt 2>err.txt || fail "$mode: status $?"
	[ -s err.txt ] && { cat err.txt; fail "$mode: standard error"; }
	[ "$(wc -l <out.txt)" = 10 ] || { cat out.txt; fail "$mode: standard output"; } # the virtual machine would warn there
	compare "$mode"
done

# A virtual machine that runs, twice; what parks between the two is no event.
mkfifo in
"$jdk/bin/java" -XX:+UseZGC -cp classes Parks <in >all.txt 2>err.txt &
pid=$!
exec 3>in
# until_lines WORD COUNT
until_lines() {
	until [ "$(grep -c "$1" all.txt)" = "$2" ]; do kill -0 $pid 2>/dev/null || { cat err.txt; fail "attach: the program"; exit 1; }; sleep 0.1; done
}
until_lines ready 1
for turn in 1 2; do
	rm -f run.wmk
	"$waymark" attach -q --contention -o "$dir/run.wmk" $pid || fail "attach $turn"
	echo -n x >&3
	until_lines 'done' $((2 * turn - 1))
	"$waymark" attach -q --detach $pid || fail "detach $turn"
	tail -n 9 all.txt >out.txt
	compare "attach $turn"
	echo -n x >&3
	until_lines 'done' $((2 * turn))
done
exec 3>&-
wait $pid || fail "attach: status $?"
grep -v '^WARNING' err.txt && fail "attach: standard error"
[ "$(wc -l <all.txt)" = 37 ] || { cat all.txt; fail "attach: standard output"; }
[ "$failures" = 0 ]
