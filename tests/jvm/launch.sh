#!/bin/bash
# launch.sh BUILD JDK SOURCES - `waymark run` of what starts virtual machines: a script, env, a virtual machine, a compiler, a program that
# creates one itself. Each has the agent for Java programs and a file, prints what it prints without, and has no agent for machine code.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Starts
"${CC:-cc}" -I "$jdk/include" -I "$jdk/include/linux" -o embeds "$sources/embeds.c" || exit 1
printf '#!/bin/sh\n"%s/bin/java" %s -cp "%s" "$@"\n' "$jdk" "${quick[*]}" "$dir/classes:$jar" >app
printf '#!/bin/sh\nexec "%s/bin/java" %s -cp "%s" "$@"\n' "$jdk" "${quick[*]}" "$dir/classes:$jar" >last
chmod +x app last

# records WANTED COMMAND...: the events of all recordings of Java, a line each; out.txt and err.txt are as without waymark
records() {
	wanted=$1
	shift
	rm -rf out && mkdir out
	"$@" >plain_out.txt 2>plain_err.txt
	status=$?
	timeout -k 1 120 "$waymark" run --events -q -o out/%e-%p.wmk "$@" >out.txt 2>err.txt
	[ $? = $status ] || { cat err.txt; fail "$*: status"; }
	cmp -s plain_out.txt out.txt || { diff plain_out.txt out.txt; fail "$*: output"; }
	cmp -s plain_err.txt err.txt || { diff plain_err.txt err.txt; fail "$*: standard error"; }
	for file in out/*.wmk; do
		"$waymark" report --format folded --metric a "$file" 2>/dev/null
	done | sed 's/ .*//' | sort >found.txt
	[ "$(tr '\n' ' ' <found.txt)" = "$wanted" ] || { cat found.txt; ls out; fail "$*: events"; }
}

java=("$jdk/bin/java" -cp "$dir/classes:$jar" Starts)
records 'Starts.main;Starts.mark ' ./app Starts a
records 'Starts.main;Starts.mark ' ./last Starts a
records 'Starts.main;Starts.mark ' env X=1 "${java[@]}" a
# Children and theirs, a file each.
records 'Starts.main;Starts.mark Starts.main;Starts.mark Starts.main;Starts.mark ' "${java[@]}" a ./app Starts a sh -c "${java[*]} a"
[ "$(ls out | wc -l)" = 3 ] || { ls out; fail "children: files"; }
# What the user gives the virtual machine stays, and no line of its own comes with the agent.
export JAVA_TOOL_OPTIONS=-Dof.tools=1 JDK_JAVA_OPTIONS=-Dof.launcher=2
records 'Starts.main;Starts.mark ' ./app Starts a
grep -qx 'a 1 2' out.txt || { cat out.txt; fail "the user's variables"; }
unset JDK_JAVA_OPTIONS
# One agent, the one that is there already: this one would take exceptions, and unknown options would be said.
export JAVA_TOOL_OPTIONS="-agentpath:$agent"
rm -rf out && mkdir out
timeout -k 1 60 "$waymark" run --exceptions -q -o out/%e-%p.wmk ./app Starts a >out.txt 2>err.txt || fail "agent of the user: status"
[ "$(grep -vc '^Picked up' err.txt)" = 0 ] || { cat err.txt; fail "agent of the user: standard error"; }
[ "$("$waymark" report --format json out/*.wmk | grep -c '"name": "exception"')" = 0 ] || fail "agent of the user: is not the only one"
unset JAVA_TOOL_OPTIONS

# A virtual machine that would not start with the agent starts without.
timeout -k 1 60 "$waymark" run --events -q -o out/%e-%p.wmk ./app -Xshare:on Starts a >out.txt 2>err.txt || fail "-Xshare:on: status"
grep -qx 'a null null' out.txt || { cat out.txt; fail "-Xshare:on: output"; }
grep -qx 'waymark: process [0-9]*: its Java methods are not recorded: -Xshare:on .*' err.txt || { cat err.txt; fail "-Xshare:on: line"; }

# The JDK's other launchers; their options of the virtual machine have another form.
printf 'class Empty { static int f(int n) { return n; } }\n' >Empty.java
rm -rf out && mkdir out
timeout -k 1 120 "$waymark" run --alloc=0 -q -o out/%e-%p.wmk sh -c "'$jdk/bin/javac' ${quick[*]/#/-J} -d . Empty.java" >out.txt 2>err.txt || fail "javac: status"
[ -s err.txt ] && { cat err.txt; fail "javac: standard error"; }
"$waymark" report --format folded --metric alloc out/javac-*.wmk | grep -q '^com.sun.tools.javac.Main.main;' || fail "javac: contexts"

# Not the agent for machine code, nor its heap client; what else the script runs has them.
rm -rf out && mkdir out
timeout -k 1 120 "$waymark" run --heap -q -o out/%e-%p.wmk ./last Starts a ./app Starts b sh -c : >out.txt 2>err.txt || fail "--heap: status"
for file in out/java-*.wmk; do
	"$waymark" report --format json "$file" >report.json
	grep -q '"name": "alloc"' report.json || fail "--heap: $file: no allocations of Java"
	grep -q '"name": "bytes"' report.json && fail "--heap: $file: allocations of machine code"
done
[ "$(ls out/java-*.wmk | wc -l)" = 2 ] || { ls out; fail "--heap: files"; }
# app and sh -c are shells below a virtual machine, by the names they were called by.
shells=(out/sh-*.wmk out/dash-*.wmk)
[ "${#shells[@]}" = 3 ] || { ls out; fail "--heap: files of shells"; }

# Nor the sampler.
rm -rf out && mkdir out
timeout -k 1 120 "$waymark" run --sample=9000 -q -o out/%e-%p.wmk sh -c "'$dir/app' Starts a; :" >out.txt 2>err.txt || fail "--sample: status"
[ -s err.txt ] && { cat err.txt; fail "--sample: standard error"; }
"$waymark" report --format folded --metric a out/java-*.wmk | grep -q '^Starts.main;Starts.mark ' || fail "--sample: contexts"

# A program that creates a virtual machine.
rm -rf out && mkdir out
timeout -k 1 60 "$waymark" run --exceptions -q -o out/run.wmk ./embeds "$jdk/lib/server/libjvm.so" "$dir/classes:$jar" >out.txt 2>err.txt ||
	fail "embeds: status $?"
[ -s err.txt ] && { cat err.txt; fail "embeds: standard error"; }
[ "$("$waymark" report --format folded --metric embedded out/run.wmk)" = 'Starts.mark 1' ] ||
	{ "$waymark" report --format folded --metric embedded out/run.wmk; fail "embeds: events"; }
rm -rf out && mkdir out
timeout -k 1 60 "$waymark" run --events -q -o out/run.wmk ./embeds "$jdk/lib/server/libjvm.so" "$dir/classes:$jar" >out.txt 2>err.txt ||
	fail "embeds in machine code: status $?"
grep -q '^waymark: process [0-9]*: its Java methods are not recorded: Waymark records its machine code' err.txt ||
	{ cat err.txt; fail "embeds in machine code: line"; }
# Under --sample it has two recordings: of walks, and of Java.
rm -rf out && mkdir out
timeout -k 1 60 "$waymark" run --sample=9000 -q -o out/run.wmk ./embeds "$jdk/lib/server/libjvm.so" "$dir/classes:$jar" >out.txt 2>err.txt ||
	fail "embeds, --sample: status $?"
[ -s err.txt ] && { cat err.txt; fail "embeds, --sample: standard error"; }
for file in out/*.wmk; do
	"$waymark" report --format folded --metric embedded "$file" 2>/dev/null | sed 's/^/java /'
	"$waymark" report --format folded --metric samples "$file" 2>/dev/null | sed -n 's/^main;.*JNI_CreateJavaVM.*/walk/p' | head -n 1
done | sort >found.txt
[ "$(cat found.txt)" = "java Starts.mark 1
walk" ] || { ls out; cat found.txt; fail "embeds, --sample: recordings"; }
[ "$failures" = 0 ]
