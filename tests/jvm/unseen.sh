#!/bin/bash
# unseen.sh BUILD JDK SOURCES - the agent is not seen where programs and tools look: reflection finds what it finds without, and -Xcheck:jni
# has nothing to say of it.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Reflected Exceptions Contention
"$jdk/bin/java" "${quick[@]}" -cp classes Reflected 'waymark$word' | sort >plain.txt
for encoder in fast lucce; do
	timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=encoder=$encoder" -cp classes Reflected 'waymark$word' 2>err.txt | sort >out.txt
	cmp plain.txt out.txt || { diff plain.txt out.txt | head; fail "$encoder: reflection"; }
	[ -s err.txt ] && { cat err.txt; fail "$encoder: standard error"; }
done
[ "$(wc -l <plain.txt)" -gt 50 ] || fail "reflection finds nothing"

# What is allocated and compared calls into Java from everywhere; classes of the JDK are changed when they have been loaded.
export WAYMARK_OUT=$dir/run.wmk
# unseen WHAT OPTIONS ARGUMENT...: the virtual machine is as machine says
machine=()
unseen() {
	rm -f run.wmk
	timeout -k 1 120 "$jdk/bin/java" "${machine[@]}" -Xcheck:jni "-agentpath:$agent=$2" -cp classes "${@:3}" >out.txt 2>err.txt || fail "$1: status $?"
	grep -A 12 -h WARNING out.txt err.txt | head -n 30 >warnings.txt
	[ -s warnings.txt ] && { cat warnings.txt; fail "$1: warnings"; }
	[ -s run.wmk ] || fail "$1: nothing was recorded"
}
unseen all "alloc=0,exceptions,contention,cpu=997,check,profile=$dir/p,cache=$dir/c" -Dline=1 Exceptions 3
machine=("${quick[@]}")
unseen again "alloc=0,exceptions,contention,cpu=997,check,profile=$dir/p,cache=$dir/c" -Dline=1 Exceptions 3
unseen lucce "exceptions,check,encoder=lucce" -Dline=1 Exceptions 3
unseen waits "contention,alloc,check" Contention 3
machine=()
unseen jdk "alloc=0,jdk=java.util.*" -Dline=1 Exceptions 3
[ "$failures" = 0 ]
