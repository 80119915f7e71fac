#!/bin/bash
# cache.sh BUILD JDK SOURCES - runs that keep rewritten classes and runs that take them: contexts are exact, the rewriter is not needed any
# more, and a class, an option or an agent that is another one is seen. What is no cache is left as it is; damage costs time alone.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
export WAYMARK_OUT=$dir/run.wmk

# run OPTIONS WORD...: under the agent. The virtual machine is as machine says.
machine=("${quick[@]}")
run() {
	local options=$1
	shift
	rm -f run.wmk
	timeout -k 1 120 "$jdk/bin/java" "${machine[@]}" -Xlog:class+load:file=loaded.txt "-agentpath:$agent=$options" -cp classes "$@" >out.txt 2>err.txt ||
		fail "$options: status $?"
}

# rewriting yes|no WHAT: was the rewriter at work?
rewriting() {
	local is=no
	grep -q '^.*dev\.waymark\.asm\.' loaded.txt && is=yes
	[ $is = "$1" ] || fail "$2: rewriting: $is"
}

# events WANTED WHAT: the folded stack of the events
folded='Filtered.main;Filtered.lambda$main$0;Filtered$Other.through;Filtered$Other.lambda$through$0;Filtered.called'
events() {
	"$waymark" report --format folded --metric called run.wmk >folded.txt || fail "$2: report"
	[ "$(cat folded.txt)" = "$1 3" ] || { cat folded.txt; fail "$2: stacks"; }
}

compiled Hazards Filtered Hot Beside

# Each class is there the second time, by both encoders: the file is that of the last one.
for encoder in fast lucce fast; do
	for turn in first second; do
		run "check,cache=run.cache,encoder=$encoder" Filtered
		agreed "$encoder, $turn"
		events "$folded" "$encoder, $turn"
		rewriting "$([ $turn = first ] && echo yes || echo no)" "$encoder, $turn"
	done
done
# Other options, which make other code.
run "check,cache=run.cache,exclude=*Other" Filtered
events 'Filtered.main;Filtered.lambda$main$0;Filtered.called' "other options"
rewriting yes "other options"

# All hazards, with what is added at entries and for clients, and by a profile: codes are others each time. All compilers get what the cache
# has in one run each, the last of which has ZGC.
for options in check=11 check,encoder=lucce check,alloc,exceptions,contention check,profile=hazards.profile; do
	rm -f hazards.cache
	for turn in first second third; do
		[ $turn != second ] && machine=("${quick[@]}") || machine=()
		[ "$turn $options" != "second check,profile=hazards.profile" ] || machine=(-XX:+UseZGC)
		run "$options,cache=hazards.cache" Hazards
		agreed "hazards, $options, $turn"
	done
done

# A class that has changed is rewritten, and the others are not: its line is the new one.
run check,cache=run.cache Filtered
sed 's/^public final class Filtered/\n\n&/' "$sources/Filtered.java" >Filtered.java
javac -cp "$jar" -d classes Filtered.java || exit 1
for turn in first second; do
	run check,cache=run.cache Filtered
	agreed "changed, $turn"
	events "$folded" "changed, $turn"
	rewriting "$([ $turn = first ] && echo yes || echo no)" "changed, $turn"
done
"$waymark" report --format json run.wmk >report.json || fail "changed: report"
line=$(grep -n 'Waymark\.event' Filtered.java | head -n 1 | cut -d: -f1)
grep -q "\"line\": *$line\b" report.json || { head -c 1000 report.json; fail "changed: line $line"; }

# Beside another agent classes have more sites, so the cache is not used, and stays.
cp run.cache before.cache
asm=/usr/share/java/asm.jar commons=/usr/share/java/asm-commons.jar
javac -cp "$jar:$asm:$commons" -d timing "$sources"/{Timing,TimingAgent}.java || exit 1
printf 'Premain-Class: TimingAgent\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\nClass-Path: %s %s\n' "$asm" "$commons" \
	>manifest.txt
"$jdk/bin/jar" cfm timing.jar manifest.txt -C timing . || exit 1
run check=7,cache=run.cache -javaagent:timing.jar=plain Beside
agreed "another agent"
rewriting yes "another agent"
cmp run.cache before.cache || fail "another agent: the cache has changed"

# However the file is damaged: contexts are exact, and what is refused stays.
size=$(stat -c %s run.cache)
for part in 0 5 17 28 40 60 75 90; do
	cp before.cache run.cache
	printf '\x55\xaa' | dd of=run.cache bs=1 seek=$((size * part / 100)) conv=notrunc status=none
	run check,cache=run.cache Filtered
	grep -v 'not a cache of classes' err.txt >others.txt
	mv others.txt err.txt
	agreed "damaged at $part %"
	events "$folded" "damaged at $part %"
done
# refused WHAT LINE: the program runs, and the file is as it was
refused() {
	cp bad.cache before.bad
	run check,cache=bad.cache Filtered
	[ "$(head -n 1 err.txt)" = "waymark: bad.cache: $2" ] || { head -n 3 err.txt; fail "$1: message"; }
	sed -i 1d err.txt
	agreed "$1"
	cmp bad.cache before.bad || fail "$1: written"
}
unknown='not a cache of classes that this agent knows: it is left as it is, and each class is rewritten'
echo 'some text, long enough for a header of one' >bad.cache
refused "a text" "$unknown"
head -c $((size / 2)) before.cache >bad.cache
refused "half a file" "$unknown"
: >run.cache
run check,cache=run.cache Filtered
agreed "an empty file"
run check,cache=run.cache Filtered
rewriting no "an empty file"
run cache=/proc/none/run.cache Filtered
[ "$(cat err.txt)" = "waymark: /proc/none/run.cache: the cache cannot be written" ] || { cat err.txt; fail "not writable"; }
run cache=. Filtered
[ "$(cat err.txt)" = "waymark: .: cannot be read: each class is rewritten" ] || { cat err.txt; fail "a folder"; }

# Processes that write one file at a time: each of them leaves a whole one.
rm -f run.cache
for i in 1 2 3 4; do
	WAYMARK_OUT=$dir/run$i.wmk timeout -k 1 120 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=cache=run.cache" -cp classes Filtered 2>err$i.txt &
done
wait
cat err[1-4].txt >err.txt
[ ! -s err.txt ] || { cat err.txt; fail "four at once"; }
run check,cache=run.cache Filtered
agreed "four at once"
rewriting no "four at once"

# By the command line.
rm -f run.cache
for turn in first second; do
	rm -f run.wmk
	"$waymark" run -q --cache=run.cache -o run.wmk "$jdk/bin/java" -Xlog:class+load:file=loaded.txt -cp classes Filtered || fail "--cache: status $?"
	events "$folded" "--cache, $turn"
done
rewriting no "--cache"
"$waymark" run --cache=a,b "$jdk/bin/java" 2>err.txt && fail "--cache=a,b: status"
grep -q 'without commas' err.txt || { cat err.txt; fail "--cache=a,b: message"; }
ls ./*.new* 2>/dev/null && fail "a file that was not finished is left"
[ "$failures" = 0 ]
