#!/bin/bash
# run.sh BUILD JDK SOURCES - `waymark run java`: the agent for Java programs comes in, arguments, output and exit status stay as they are,
# and the program that is started by a link is the same; --check compares, --no-agent keeps it away.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Events
ln -s "$jdk/bin/java" java
for program in "$jdk/bin/java" ./java; do
	rm -f run.wmk
	timeout -k 1 60 "$waymark" run --events -q -o run.wmk "$program" -cp classes Events >out.txt 2>err.txt
	[ $? = 3 ] || { cat err.txt; fail "$program: status"; }
	[ -s out.txt ] || [ -s err.txt ] && { cat out.txt err.txt; fail "$program: output"; }
	[ "$("$waymark" report --format folded --metric sum run.wmk)" = 'Events.main;Events.sum;Events.sum;Events.sum;Events.sum 1' ] ||
		fail "$program: report"
done

timeout -k 1 60 "$waymark" run --check -q -o check.wmk ./java -cp classes Events >out.txt 2>err.txt
[ $? = 3 ] || fail "--check: status"
# 3 captures, 4 comparisons, the sum and the thread
[ "$(cat err.txt)" = 'waymark: 9 captures agreed with the stack, 0 differed' ] || { cat err.txt; fail "--check"; }

timeout -k 1 60 "$waymark" run --no-agent -q -o none.wmk ./java -cp "classes:$jar" Events >out.txt 2>err.txt
[ $? = 1 ] || fail "--no-agent: status"
grep -q AssertionError err.txt || { cat err.txt; fail "--no-agent: instrumented"; }
[ -e none.wmk ] && fail "--no-agent: recorded"
# Clients: each is there, and nothing else.
compiled Exceptions
client() {
	rm -f client.wmk
	timeout -k 1 60 "$waymark" run --events "$1" -q -o client.wmk ./java -Dline=1 -cp classes Exceptions 3 >out.txt 2>err.txt || fail "$1: status"
	[ -s err.txt ] && { cat err.txt; fail "$1: standard error"; }
	"$waymark" report --format json client.wmk | sed -n 's/.*{"name": "\([^"]*\)", "unit".*/\1/p' | tr '\n' ' ' >metrics.txt
	[ "$(cat metrics.txt)" = "$2 " ] || { cat metrics.txt; fail "$1: metrics"; }
}
client --heap 'alloc alloc:sum'
client --alloc=0 'alloc alloc:sum'
client --exceptions 'exception exception:sum'
client --sample=997 'samples cpu'
for bytes in x 1x 2147483648 99999999999 ''; do
	timeout -k 1 60 "$waymark" run --alloc="$bytes" ./java 2>err.txt && fail "--alloc=$bytes: status"
	grep -q 'a number from 0 to 2147483647 is needed' err.txt || { cat err.txt; fail "--alloc=$bytes: message"; }
done
timeout -k 1 60 "$waymark" run --contention true 2>err.txt || fail "--contention: status"
grep -q 'true recorded nothing: it ran no Java program' err.txt || { cat err.txt; fail "--contention: message"; }
timeout -k 1 60 "$waymark" run --contention --no-agent true 2>err.txt && fail "--contention --no-agent: status"
grep -q 'which --no-agent keeps away' err.txt || { cat err.txt; fail "--contention --no-agent: message"; }

# A profile is written, and used.
for run in first second; do
	timeout -k 1 60 "$waymark" run --profile=run.profile -q -o "$run.wmk" ./java -cp classes Events >out.txt 2>err.txt
	[ $? = 3 ] && [ ! -s err.txt ] || { cat err.txt; fail "--profile: $run"; }
	[ "$(head -n 1 run.profile)" = 'waymark-jvm-profile 1' ] || fail "--profile: $run: file"
done
timeout -k 1 60 "$waymark" run --profile=a,b ./java 2>err.txt && fail "--profile=a,b: status"
grep -q 'without commas' err.txt || { cat err.txt; fail "--profile=a,b: message"; }
[ "$failures" = 0 ]
