#!/bin/bash
# agents.sh BUILD JDK SOURCES - beside agents of others, which change classes before and after this one, and while methods of them are on
# the stack: contexts are as a walk has them, and programs do the same.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

asm=/usr/share/java/asm.jar commons=/usr/share/java/asm-commons.jar
compiled Beside
javac -cp "$jar:$asm:$commons" -d timing "$sources"/{Timing,TimingAgent}.java || exit 1
printf 'Premain-Class: TimingAgent\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\nClass-Path: %s %s\n' "$asm" "$commons" \
	>manifest.txt
"$jdk/bin/jar" cfm timing.jar manifest.txt -C timing . || exit 1

timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" -cp "classes:$jar" Beside >plain.txt 2>err.txt || { cat err.txt; fail "without agents: status $?"; }

# beside WHAT OPTION...: both agents, in the order given
beside() {
	what=$1
	shift
	timeout -k 1 60 "$jdk/bin/java" "$@" -cp classes Beside >out.txt 2>err.txt || fail "$what: status $?"
	cmp -s plain.txt out.txt || { diff plain.txt out.txt | head; fail "$what: output"; }
	grep -qx 'waymark: [1-9][0-9]\{2,\} captures agreed with the stack, 0 differed' err.txt ||
		{ head -n 3 err.txt | cut -c1-400; fail "$what: check"; }
	[ "$(wc -l <err.txt)" = 1 ] || { head -n 3 err.txt | cut -c1-400; fail "$what: more on standard error"; }
}
export WAYMARK_OUT=$dir/run.wmk
# At entries, too: what the second agent does itself runs in the midst of other methods. C2, which takes as long as all the rest, compiles in
# half of the runs, with each encoder.
for run in "before fast plain 4" "after lucce plain 1" "before lucce retransform 4" "after fast retransform 1" \
	"before lucce plain-late 1" "before fast retransform-late 4"; do
	read -r order encoder other level <<<"$run"
	pair=("-agentpath:$agent=check=7,encoder=$encoder" "-javaagent:timing.jar=$other")
	[ "$order" = before ] || pair=("${pair[1]}" "${pair[0]}")
	beside "$run" "-XX:TieredStopAtLevel=$level" "${pair[@]}"
done

# JaCoCo reads class files of Java 11. Debian's jar of its agent is without the manifest of one, and with its classes by their own names.
if [ -f /usr/share/java/org.jacoco.agent.rt.jar ]; then
	printf 'Premain-Class: org.jacoco.agent.rt.internal.PreMain\nClass-Path:' >manifest.txt
	for part in org.jacoco.agent.rt org.jacoco.core asm asm-analysis asm-commons asm-tree; do
		printf ' \n  /usr/share/java/%s.jar' "$part" >>manifest.txt
	done
	echo >>manifest.txt
	"$jdk/bin/jar" cfm jacoco.jar manifest.txt || exit 1
	javac --release 11 -cp "$jar" -d classes "$sources/Beside.java" || exit 1
	coverage="-javaagent:jacoco.jar=destfile=run.exec,excludes=org.jacoco.*:org.objectweb.*"
	beside "before JaCoCo" "${quick[@]}" "-agentpath:$agent=check=7" "$coverage"
	beside "after JaCoCo" "$coverage" "-agentpath:$agent=check=7,encoder=lucce"
	[ -s run.exec ] || fail "JaCoCo has recorded nothing"
else
	echo "without JaCoCo: libjacoco-java is missing"
fi
[ "$failures" = 0 ]
