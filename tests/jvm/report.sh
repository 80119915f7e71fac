#!/bin/bash
# report.sh BUILD JDK SOURCES - what `waymark report` shows of a recorded Java program: methods, files and lines, foreign calls, threads;
# of one that ends by halt. And the agent's messages: each is one line, and the program runs.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Events
WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" "-agentpath:$agent" -cp classes Events 2>err.txt
[ $? = 3 ] || { cat err.txt; fail "status"; }
[ -s err.txt ] && { cat err.txt; fail "standard error is not empty"; }

# folded METRIC WANTED
folded() {
	"$waymark" report --format folded --metric "$1" run.wmk >folded.txt || fail "$1: report"
	[ "$(cat folded.txt)" = "$2" ] || { cat folded.txt; fail "$1"; }
}
folded compare 'Events.main;[java.util.Collections.sort];Events.lambda$main$0 4'
folded sum 'Events.main;Events.sum;Events.sum;Events.sum;Events.sum 1'
folded thread 'Events.main;[thread];Events.lambda$main$1 1'

"$waymark" report --metric sum run.wmk >report.txt
cat >wanted.txt <<'END'
1 sum (100.0 %)  | 3 sum:sum
    #0  Events.sum at Events.java:10
    #1  Events.sum at Events.java:13
        ... this frame 2 times more
    #4  Events.main at Events.java:25
END
sed -n '/^1 sum/,$p' report.txt | diff wanted.txt - || fail "report"

# A flame graph has the names on its boxes without packages, and whole where one points at them.
"$waymark" report --format svg --metric compare run.wmk >run.svg || fail "svg"
grep -A 1 -F ' data-label="[Collections.sort]"><title>[java.util.Collections.sort]' run.svg | grep -q '>\[Collections.sort\]</text>' ||
	{ grep '<title>' run.svg; fail "svg: labels"; }
grep -q 'data-label="[^"]*main' run.svg && fail "svg: a label that is the name"

# No site is in front of what the virtual machine resolves: what it calls there is lost, and nothing else is.
compiled Resolving
for encoder in fast lucce; do
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" -Djava.security.manager=allow "-agentpath:$agent=check,encoder=$encoder" \
		-cp classes Resolving >out.txt 2>err.txt || fail "$encoder: resolving: status $?"
	grep -qx 'waymark: 2 captures agreed with the stack, 0 differed, [1-9][0-9]* were lost' err.txt || { cat err.txt; fail "$encoder: lost"; }
	folded main 'Resolving.main 2'
	[ "$("$waymark" report --format folded --metric asked run.wmk | sed 's/ .*//')" = '[lost]' ] || fail "$encoder: asked"
done

# Where the context stack has no room the context is lost, and is there again when the calls have returned.
compiled Deep
rm -f run.wmk
WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" "-agentpath:$agent" -cp classes Deep 2>err.txt || { cat err.txt; fail "deep: status $?"; }
folded deepest '[lost] 1'
folded returned 'Deep.main;[thread];Deep.run 1'

# message OPTIONS AGENT WANTED: the agent's line, and the program runs without it
message() {
	echo 'public final class Plain { public static void main(String[] a) { System.out.println("ran"); } }' >Plain.java
	[ -f plain/Plain.class ] || javac -d plain Plain.java || exit 1
	timeout -k 1 60 "$jdk/bin/java" "-agentpath:$2$1" -cp plain Plain >out.txt 2>err.txt || fail "$1: status $?"
	[ "$(cat out.txt)" = ran ] || fail "$1: output"
	[ "$(cat err.txt)" = "$3" ] || { cat err.txt; fail "$1: message"; }
}
message '=chekc' "$agent" 'waymark: unknown option of the agent: chekc; nothing is instrumented'
cp "$agent" alone.so
message '' "$dir/alone.so" 'waymark: waymark-jvm.jar is not beside the agent, or of another version; nothing is instrumented'
# Virtual machines that are too old for it go on.
"${CC:-cc}" -I "$jdk/include" -I "$jdk/include/linux" -o old_java "$sources/old_java.c" || exit 1
for version in 1.8 11; do
	./old_java "$agent" $version 2>err.txt || fail "Java $version: status"
	[ "$(cat err.txt)" = "waymark: the agent works with Java 17 and later, this is Java $version; nothing is instrumented" ] ||
		{ cat err.txt; fail "Java $version: line"; }
done
[ "$failures" = 0 ]
