#!/bin/bash
# lines.sh BUILD JDK SOURCES - tables of line numbers as other compilers than javac make them (LineTables.java): a point has the line that
# the virtual machine tells without the agent, in the token, under the agent and when the agent compares.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

asm=/usr/share/java/asm.jar
javac -cp "$jar:$asm" -d classes "$sources"/{Lines,LineTables}.java || exit 1
"$jdk/bin/java" "${quick[@]}" -cp "classes:$asm" LineTables classes/Tables.class || exit 1
timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" -cp "classes:$jar" Lines >plain.txt || fail "without the agent: status $?"
awk '{ print $3 }' plain.txt >wanted.txt
[ "$(wc -l <wanted.txt)" -eq 15 ] || fail "$(wc -l <wanted.txt) points"

for options in encoder=fast encoder=lucce cpu; do
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=check,$options" -cp classes Lines >points.txt 2>err.txt ||
		fail "$options: status $?"
	agreed "$options: check"
	awk '{ print $3 }' points.txt | diff wanted.txt - || fail "$options: lines under the agent"
	"$waymark" decode --wmk run.wmk points.txt | awk '$2 ~ /^Tables\./ && $2 != "Tables.run" {
		sub("Tables.", "", $2); sub("Tables.java:", "", $4); print $2 ":" $4 + 0 }' | diff wanted.txt - || fail "$options: lines of tokens"
done
[ "$failures" = 0 ]
