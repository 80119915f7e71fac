#!/bin/bash
# walking.sh BUILD JDK SOURCES - clients that walk the stack: the stack of each event is the one that Java itself has for it, and nothing of
# the program is changed.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Walked

# run CLIENT TIMES OPTION...: what Walked says in out.txt, what was recorded in chains.txt
run() {
	client=$1 times=$2
	shift 2
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "$@" "-agentpath:$agent=$client" -cp classes Walked "${client%%=*}" "$times" >out.txt \
		2>err.txt || fail "$client $*: status $?"
	[ -s err.txt ] && { cat err.txt; fail "$client $*: standard error"; }
	"$waymark" report --top all --metric "$metric" run.wmk >report.txt || fail "$client $*: report"
	awk -f "$sources/walked.awk" report.txt >chains.txt
}

# same WHAT LEAST: out.txt and found.txt have the same lines, and at least so many
same() {
	LC_ALL=C sort out.txt >wanted.txt
	LC_ALL=C sort found.txt | diff wanted.txt - >diff.txt || { cut -c 1-400 diff.txt | head -20; fail "$1"; }
	[ "$(wc -l <wanted.txt)" -ge "$2" ] || fail "$1: only $(wc -l <wanted.txt) stacks"
}

for mode in -Xmixed -Xint; do
	# An allocation of 4 MB is sampled for sure. What note() allocates is there, too, and what is small; neither is compared.
	metric=alloc
	run alloc=65536 30 $mode
	awk -v bytes=$((4 << 20)) '$1 ~ /Walked[.$A-Za-z0-9<>:]*$/ && $1 !~ /Walked.note|allocateDeep/ && $3 >= bytes {
		size = $1 ~ /lambda\$allocateAll\$[0-9]:[0-9]*$/ ? 4 * bytes : bytes; print $1, int($3 / size) }' chains.txt >found.txt
	same "alloc $mode" 10
	"$waymark" report --format folded --metric alloc:sum run.wmk | awk -F ';' '/allocateDeep/ && NF > 300 { n++ } END { exit n != 2 }' ||
		fail "alloc $mode: deep"
	metric=exception
	run exceptions 200 $mode -XX:-OmitStackTraceInFastThrow
	awk '/Walked/ { print $1, $2 }' chains.txt >found.txt
	same "exceptions $mode" 42
	metric=contention
	run contention 20 $mode
	awk '$1 ~ /Walked[.$A-Za-z]*:[0-9]*$/ && $1 !~ /Walked.note/ && $3 > 0 { print $1, $2 }' chains.txt >found.txt
	same "contention $mode" 4
done

# All of it from the command line, and other options keep words.
timeout -k 1 60 "$waymark" run --alloc --contention --exceptions -q -o all.wmk "$jdk/bin/java" -XX:+UseZGC -cp classes Walked alloc 3 >out.txt 2>err.txt ||
	fail "run: status"
[ -s err.txt ] && { cat err.txt; fail "run: standard error"; }
"$waymark" report --format folded --metric alloc:sum all.wmk >folded.txt
grep -q '^Walked.main;Walked.allocateAll;Walked.allocate;\[byte\[]] [0-9]*$' folded.txt || { cat folded.txt; fail "run: walked"; }
timeout -k 1 60 "$waymark" run --alloc --encode -q -o words.wmk "$jdk/bin/java" -cp classes Walked alloc 3 >out.txt 2>err.txt || fail "--encode: status"
"$waymark" report --format folded --metric alloc:sum words.wmk | grep -q 'java.util.stream' && fail "--encode: walked"

# Of objects of 1 MB, each is sampled; those are left that are kept.
compiled Leaking
for words in '' --encode; do
	rm -f live.wmk
	timeout -k 1 60 "$waymark" run --live=4096 --alloc=65536 $words -q -o live.wmk "$jdk/bin/java" -Xmx256m -cp classes Leaking 50 >out.txt 2>err.txt ||
		fail "live $words: status"
	[ -s err.txt ] && { cat err.txt; fail "live $words: standard error"; }
	"$waymark" report --format folded --metric retained live.wmk | sed 's/;\[byte\[\]\]//' | grep '^Leaking.main;Leaking.[kd]' | grep -v 'List.add' >folded.txt # the list's own array
	[ "$(cat folded.txt)" = 'Leaking.main;Leaking.keep 50' ] || { cat folded.txt; fail "live $words"; }
done

# The program's own events are walked, too, with the agent's copy of Waymark alone.
compiled Events
timeout -k 1 60 "$waymark" run --contention -q -o events.wmk "$jdk/bin/java" -cp classes Events >out.txt 2>err.txt
[ $? = 3 ] && [ ! -s err.txt ] || { cat err.txt; fail "events: status"; }
[ "$("$waymark" report --format folded --metric sum events.wmk)" = 'Events.main;Events.sum;Events.sum;Events.sum;Events.sum 1' ] || fail "events"
[ "$failures" = 0 ]
