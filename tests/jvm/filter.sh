#!/bin/bash
# filter.sh BUILD JDK SOURCES - which classes are instrumented: what is left out is not in contexts, and the others are as the stack has
# them; classes of the JDK that are asked for are in them, those that were loaded before the agent too.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Filtered

# filtered OPTIONS WANTED: the folded stack of the three events
filtered() {
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=check,$1" -cp classes Filtered \
		2>err.txt || fail "$1: status $?"
	[ "$(cat err.txt)" = 'waymark: 3 captures agreed with the stack, 0 differed' ] || { cat err.txt; fail "$1: check"; }
	"$waymark" report --format folded --metric called run.wmk >folded.txt || fail "$1: report"
	[ "$(cat folded.txt)" = "$2 3" ] || { cat folded.txt; fail "$1"; }
}
for encoder in fast lucce; do
	filtered "encoder=$encoder" \
		'Filtered.main;Filtered.lambda$main$0;Filtered$Other.through;Filtered$Other.lambda$through$0;Filtered.called'
	filtered "encoder=$encoder,exclude=*Other" 'Filtered.main;Filtered.lambda$main$0;Filtered.called'
	filtered "encoder=$encoder,include=Filtered" 'Filtered.main;Filtered.lambda$main$0;Filtered.called'
	filtered "encoder=$encoder,include=Filt*:nothing,exclude=*\$O*:x" 'Filtered.main;Filtered.lambda$main$0;Filtered.called'
	filtered "encoder=$encoder,jdk=java.util.*" "$(echo 'Filtered.main;java.util.ArrayList.forEach;Filtered.lambda$main$0;Filtered$Other.through;
		java.util.TreeMap.computeIfAbsent;java.util.TreeMap.callMappingFunctionWithCheck;Filtered$Other.lambda$through$0;Filtered.called' | tr -d '\n\t')"
done
# The same by the environment.
rm -f run.wmk
WAYMARK_JVM="check,exclude=*Other" timeout -k 1 60 "$waymark" run --events -q -o run.wmk "$jdk/bin/java" -cp classes Filtered \
	2>err.txt || fail "WAYMARK_JVM: status $?"
[ "$(cat err.txt)" = 'waymark: 3 captures agreed with the stack, 0 differed' ] || { cat err.txt; fail "WAYMARK_JVM: check"; }
[ "$("$waymark" report --format folded --metric called run.wmk)" = 'Filtered.main;Filtered.lambda$main$0;Filtered.called 3' ] || fail "WAYMARK_JVM"
[ "$failures" = 0 ]
