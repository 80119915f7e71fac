#!/bin/bash
# hazards.sh BUILD JDK SOURCES - Hazards.java under the agent: each capture agrees with a walk of the stack that the agent makes, each
# token decodes to the stack that the program itself has walked, and without the agent the program does the same.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

# compared WHAT AWK-PROGRAM DECODE-OPTION...: every point agrees
compared() {
	what=$1 program=$2
	shift 2
	"$waymark" decode "$@" --wmk run.wmk points.txt >decoded.txt || fail "$what: decode"
	awk -f "$sources/compare.awk" -f "$sources/$program" decoded.txt >compared.txt
	[ "$(tail -n 1 compared.txt)" = "agreed $points differed 0" ] || { cut -c1-1000 compared.txt; fail "$what"; }
}

compiled Hazards
timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" -cp "classes:$jar" Hazards >plain.txt 2>err.txt || fail "without the agent: status $?"
points=$(sed -n 's/^points //p' plain.txt)
[ "${points:-0}" -gt 200 ] || fail "only ${points:-no} points"
[ "$(grep -c '^point wm1:not-instrumented ' plain.txt)" = "$points" ] || fail "tokens without the agent"

for mode in "-Xmixed fast" "-Xint lucce" "-XX:+UseZGC lucce"; do
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "${mode% *}" "-agentpath:$agent=check,encoder=${mode#* }" -cp classes Hazards \
		>points.txt 2>err.txt || fail "$mode: status $?"
	# More than without: the agent asks loaders for what the rewritten code names.
	[ "$(sed -n 's/^points //p' points.txt)" -ge "$points" ] || fail "$mode: points"
	points=$(sed -n 's/^points //p' points.txt)
	grep -qx "waymark: $points captures agreed with the stack, 0 differed" err.txt || { cat err.txt; fail "$mode: check"; }
	[ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "$mode: more on standard error"; }
	compared "$mode: stacks" same.awk --folded
	compared "$mode: lines" lines.awk
done

# At entries, too. Not at each: a walk takes as long as the stack is deep.
for encoder in fast lucce; do
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=check=101,encoder=$encoder" -cp classes Hazards \
		>/dev/null 2>err.txt || fail "$encoder: entries: status $?"
	grep -qx "waymark: [1-9][0-9]\{2,\} captures agreed with the stack, 0 differed" err.txt || { cat err.txt; fail "$encoder: entries"; }
done
[ "$failures" = 0 ]
