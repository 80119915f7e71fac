#!/bin/bash
# clients.sh BUILD JDK SOURCES - events of the virtual machine: each is at the context, and as often, as the program itself has counted, and
# the contexts agree with a walk of the stack.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

# run "PROGRAM ARGUMENT..." OPTION...: its output in out.txt, its recording in run.wmk
run() {
	read -ra words <<<"$1"
	program=${words[0]}
	shift
	rm -f run.wmk
	[ -f "classes/$program.class" ] || compiled "$program"
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "$@" -cp classes "${words[@]}" >out.txt 2>err.txt ||
		fail "$program $*: status $?"
	[ -f run.wmk ] || return
	"$waymark" report --top all --metric "$metric" run.wmk >report.txt || fail "$program $*: report"
	awk -f "$sources/chains.awk" report.txt >chains.txt
}

# agrees WHAT: the lines of out.txt are those of wanted.txt, in any order
agrees() {
	sort "$2" >sorted.txt
	sort out.txt | diff - sorted.txt >diff.txt || { head -20 diff.txt; fail "$1"; }
	[ "$(wc -l <out.txt)" -gt "$3" ] || fail "$1: only $(wc -l <out.txt) contexts"
}

# checked WHAT LEAST: at least so many comparisons, and no difference
checked() {
	[ "$(sed -n 's/^waymark: \([0-9]*\) captures agreed with the stack, 0 differed$/\1/p' err.txt)" -ge "$2" ] 2>/dev/null ||
		{ cat err.txt; fail "$1: check"; }
	[ "$(wc -l <err.txt)" = 1 ] || fail "$1: more on standard error"
}

# What the program says of `measured`: but for what its own counting allocates, and what is in foreign calls that it does not count.
allocations() {
	grep measured chains.txt | grep -v 'Allocations\.a[td][:d]' | grep -v '\[java\.\(util\|lang\.S\|lang\.Ill\)\|\[indirect' |
		cut -d ' ' -f 1,2
}
metric=alloc
# A call that makes the virtual machine compile the method for C2 also allocates what string constants of its class are not resolved yet
# (CompileBroker::compile_method): 26 objects of Integer, in the call of Integer.valueOf that happens to be the one. So that is not compiled.
interpreted="-XX:CompileCommand=quiet -XX:CompileCommand=exclude,java.lang.Integer::valueOf"
# Often enough for C2, and in the interpreter as often as is needed for each count.
for mode in "-Xmixed 3000" "-Xint 100"; do
	times=${mode#* } mode=${mode% *}
	# shellcheck disable=SC2086
	run "Allocations $times" $mode $interpreted "-agentpath:$agent=alloc=0"
	[ -s err.txt ] && { cat err.txt; fail "alloc=0 $mode: standard error"; }
	large=$(grep -c large out.txt)
	grep -v large out.txt >measured.txt && mv measured.txt out.txt
	allocations >wanted.txt
	agrees "alloc=0 $mode" wanted.txt 50
	[ "$large" = 1 ] || fail "alloc=0 $mode: no large one"
	# an array of 1,000 bytes with its header
	awk -v place="Allocations.arrays:$(grep -n 'new byte.1000.' "$sources/Allocations.java" | cut -d : -f 1) " \
		'index($0, "measured") && index($0, place) { found += $3 >= $2 * 1000 && $3 <= $2 * 1032 } END { exit found != 3 }' chains.txt ||
		fail "alloc=0 $mode: bytes"
done
for encoder in fast lucce; do
	run "Allocations 20" "${quick[@]}" "-agentpath:$agent=alloc=0,check,encoder=$encoder"
	checked "alloc=0 $encoder" 10000
done
run "Allocations 50" "-agentpath:$agent=alloc,encode"
[ "$(sed -n 's/^Allocations.main:[0-9]*;Allocations.large:[0-9]* //p' chains.txt)" = "1 $(((64 << 20) + 16))" ] ||
	{ cat chains.txt; fail "alloc: the large one"; }
metric=contention
for mode in -Xmixed -Xint; do
	run "Contention 30" $mode "-agentpath:$agent=contention,encode"
	[ -s err.txt ] && { cat err.txt; fail "contention $mode: standard error"; }
	# Of main there may be waits for threads that end: it does not count them.
	grep -v '^Contention.main' chains.txt | sort >waits.txt
	sort out.txt | awk -v most=waits.txt '{ getline got <most; split(got, w, " "); if (w[1] != $1 || w[2] != $2 || w[3] > $3 || w[3] <= 0) {
		print "expected " $0 ", is " got; bad++ } } END { exit bad || NR != 5 || (getline got <most) > 0 }' ||
		fail "contention $mode: $(wc -l <out.txt) contexts, $(wc -l <waits.txt) recorded"
done
for encoder in fast lucce; do
	run "Contention 10" "${quick[@]}" "-agentpath:$agent=contention,check,encoder=$encoder"
	checked "contention $encoder" 50
done
metric=exception
line=-Dline=$(grep -n 'int withoutCall' "$sources/Exceptions.java" | cut -d : -f 1)
for mode in "-Xmixed 300" "-Xint 30"; do
	times=${mode#* } mode=${mode% *}
	run "Exceptions $times" $mode "$line" "-agentpath:$agent=exceptions,encode"
	[ -s err.txt ] && { cat err.txt; fail "exceptions $mode: standard error"; }
	grep -v overflow chains.txt | cut -d ' ' -f 1,2 >wanted.txt
	agrees "exceptions $mode" wanted.txt 40
done
for encoder in fast lucce; do
	run "Exceptions 30" "${quick[@]}" "$line" "-agentpath:$agent=exceptions,check,encoder=$encoder"
	checked "exceptions $encoder" 1000
done

# How many samples there are depends on the machine; whose they are, and that no time is counted twice, does not.
metric=cpu
for mode in -Xmixed -Xint; do
	run Spinning $mode "-agentpath:$agent=cpu=997,encode"
	[ -s err.txt ] && { cat err.txt; fail "cpu $mode: standard error"; }
	"$waymark" report --format folded --metric cpu run.wmk >folded.txt || fail "cpu $mode: report"
	awk -f "$sources/samples.awk" out.txt folded.txt || fail "cpu $mode: samples"
done
run Spinning "-agentpath:$agent=cpu=997,check"
checked cpu 10
run Spinning "${quick[@]}" "-agentpath:$agent=cpu,encoder=lucce"
[ "$(cat err.txt)" = 'waymark: cpu works with encoder=fast only; nothing is instrumented' ] || { cat err.txt; fail "cpu: lucce"; }

# All together, on each hazard. Each of thousands of allocations below a deep recursion is a walk of all of it: not as deep as elsewhere.
metric=alloc
compiled Hazards
for encoder in fast lucce; do
	machine=() cpu=
	[ $encoder = lucce ] || machine=(-XX:+UseZGC) cpu=,cpu=997
	run Hazards "${machine[@]}" -Ddeep=300 "-agentpath:$agent=alloc=0,exceptions,contention,check,encoder=$encoder$cpu"
	checked "hazards $encoder" 50000
done
[ "$failures" = 0 ]
