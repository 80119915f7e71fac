#!/bin/bash
# refused.sh BUILD JDK SOURCES - what the agent cannot do it says in one line, and the program runs: classes that are too new, methods that
# would be too large, recordings that cannot be written. What is left out is foreign, and contexts through it are exact.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

# Near 64 KiB: with a store before each of the calls it would be too large.
{
	echo 'final class RefusedLarge { static int step(int n) { if (n % 1000 == 0) Refused.record("large"); return n + 1; }'
	echo '	static int large(int n) {'
	for ((i = 0; i < 2000; i++)); do echo 'n = step(n); n = step(n); n = step(n); n = step(n);'; done
	echo '		return n; } }'
} >RefusedLarge.java
javac -cp "$jar" -d classes "$sources/Refused.java" RefusedLarge.java || exit 1
"$jdk/bin/java" "${quick[@]}" -cp "classes:$jar" Refused >plain.txt || exit 1

# refused WHAT LINE OPTION...: the lines on standard error, and the program's output
refused() {
	what=$1 lines=$2
	shift 2
	timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" -cp "$dir/classes" "$@" >"$dir/out.txt" 2>"$dir/err.txt" || fail "$what: status $?"
	diff "$dir/out.txt" "$dir/plain.txt" || fail "$what: output"
	[ "$(cat "$dir/err.txt")" = "$lines" ] || { head -n 5 "$dir/err.txt"; fail "$what: messages"; }
}
newest='not instrumented: its class file has version 70, the newest that is known is 69'
left="waymark: Refused\$Nameless: $newest
waymark: RefusedLarge.large: not instrumented: it would be too large
waymark: $newest: 2 in all"
export WAYMARK_OUT=$dir/run.wmk
for encoder in fast lucce; do
	rm -f run.wmk
	refused "$encoder" "$left
waymark: 9 captures agreed with the stack, 0 differed" "-agentpath:$agent=check,encoder=$encoder" Refused
	"$waymark" report --format folded --metric large run.wmk >folded.txt || fail "$encoder: report"
	[ "$(cat folded.txt)" = 'Refused.main;RefusedLarge.step;Refused.record 8' ] ||
		{ cat folded.txt; fail "$encoder: through the large method"; }
	"$waymark" report --format folded --metric nameless run.wmk >folded.txt || fail "$encoder: report"
	[ "$(cat folded.txt)" = 'Refused.main;Refused$Nameless.run;Refused.record 1' ] || { cat folded.txt; fail "$encoder: without a name"; }
done
refused "no attaching" "$left" -XX:+DisableAttachMechanism "-agentpath:$agent" Refused

# Recordings that cannot be. /proc is read-only for root, too.
WAYMARK_OUT=/proc/none/run.wmk refused "unwritable" \
	"waymark: WAYMARK_OUT is not usable (/proc/none/run.wmk): No such file or directory; nothing will be recorded
$left" "-agentpath:$agent" Refused
cd /proc/self || exit 1
WAYMARK_OUT=run.wmk timeout -k 1 60 "$jdk/bin/java" -cp "$dir/classes" "-agentpath:$agent" Refused >"$dir/out.txt" 2>"$dir/err.txt" ||
	fail "read-only: status $?"
cd "$dir" || exit 1
diff out.txt plain.txt || fail "read-only: output"
grep -qx 'waymark: WAYMARK_OUT is not usable (/proc/.*/run.wmk): .*; nothing will be recorded' err.txt ||
	{ cat err.txt; fail "read-only: message"; }

# Nothing partial looks whole: too small for anything, and for some of it.
echo "ran instrumented false" >>plain.txt
sed -i '/^ran$/d' plain.txt
rm run.wmk
WAYMARK_LIMIT=4096 refused "a limit of a page" "waymark: nothing can be recorded; nothing is instrumented" "-agentpath:$agent" Refused tell
sed -i 's/false$/true/' plain.txt
WAYMARK_LIMIT=20480 refused "a limit" "$left" "-agentpath:$agent" Refused tell
"$waymark" report run.wmk >report.txt || fail "a limit: report"
grep -q 'its size limit was reached (WAYMARK_LIMIT)' report.txt || { cat report.txt; fail "a limit: report"; }
grep -q '[0-9] events were dropped' report.txt || { cat report.txt; fail "a limit: events"; }
[ "$failures" = 0 ]
