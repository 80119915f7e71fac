#!/bin/bash
# profiles.sh BUILD JDK SOURCES - runs that write a profile and run by it: contexts are exact whatever codes it gives, hot calls come first, and
# what is no profile is left as it is.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
export WAYMARK_OUT=$dir/run.wmk

# run OPTIONS CLASS ARGUMENT...: under the agent. The virtual machine is as machine says.
machine=()
run() {
	local options=$1
	shift
	rm -f run.wmk
	timeout -k 1 120 "$jdk/bin/java" "${machine[@]}" "-agentpath:$agent=$options" -cp classes "$@" >out.txt 2>err.txt || fail "$options: status $?"
}

compiled Hazards Hot

# One call is hot: its line is the first of its space, behind it is one that is made once in a while.
run profile=hot.txt Hot
[ ! -s err.txt ] || { cat err.txt; fail "hot: messages"; }
awk -F '\t' 'NR == 1 { wrong = $0 != "waymark-jvm-profile 1" } $2 == "Hot.work(I)I" { print $3 "." $4; }
	END { exit wrong }' hot.txt >calls.txt || fail "hot: head"
[ "$(head -n 1 calls.txt)" = Hot.often ] || { cat hot.txt; fail "hot: order"; }

# By a profile, by one with other orders of calls, and with calls that are not there. Heat is what order is by: all of it is turned round.
run check=11,profile=hazards.txt Hazards
agreed "the first run"
run check=11,profile=hazards.txt Hazards
agreed "by the profile"
[ "$(wc -l <hazards.txt)" -gt 20 ] || { cat hazards.txt; fail "a profile of few calls"; }
machine=("${quick[@]}")
for kind in turned foreign; do
	awk -F '\t' -v OFS='\t' -v kind=$kind 'NR == 1 { print; next }
		kind == "foreign" { $6 = ($6 + 1) % 60000 }
		{ $1 = kind == "turned" ? 0 : $1; lines[NR] = $0; space[NR] = $2 }
		END { for (i = 2; i <= NR; i = next_i) {
			for (next_i = i; next_i <= NR && space[next_i] == space[i]; next_i++) ;
			if (kind == "turned") for (k = next_i - 1; k >= i; k--) print lines[k]
			else for (k = i; k < next_i; k++) print lines[k] } }' hazards.txt >$kind.txt
	run check=11,profile=$kind.txt Hazards
	agreed "$kind"
done

# Threads are looked at while they run: however the program ends, the file is whole.
machine=()
run profile=hot.txt Hot exit
head -n 1 hot.txt | grep -qx 'waymark-jvm-profile 1' || fail "exit: head"

machine=("${quick[@]}")
# refused TEXT LINE: the file stays, the program runs
refused() {
	printf "$1" >bad.txt
	cp bad.txt before.txt
	run check,profile=bad.txt Hazards
	[ "$(head -n 1 err.txt)" = "waymark: bad.txt:$2: not a profile of Java calls that this agent knows: it is left as it is, and calls have codes as without one" ] ||
		{ head -n 3 err.txt; fail "refused: $1"; }
	sed -i 1d err.txt
	agreed "refused: $1"
	cmp bad.txt before.txt || fail "refused and written: $1"
}
refused 'waymark-plan 1\n' 1
refused 'waymark-jvm-profile 1\nx\n' 2
run profile=/proc/none/profile.txt Hot
[ "$(cat err.txt)" = "waymark: /proc/none/profile.txt: the profile cannot be written" ] || { cat err.txt; fail "not writable"; }
run profile=.,check Hazards
[ "$(head -n 1 err.txt)" = "waymark: .: cannot be read: calls have codes as without a profile" ] || { cat err.txt; fail "a folder"; }
run encoder=lucce,profile=hot.txt Hot
[ "$(cat err.txt)" = "waymark: profile works with encoder=fast only; nothing is instrumented" ] || { cat err.txt; fail "lucce"; }
[ "$failures" = 0 ]
