#!/bin/bash
# virtual.sh BUILD JDK SOURCES - what JDKs have since 21: virtual threads, of which each capture agrees with a walk of the stack and each
# token decodes to what the program says, on the calls that have started the thread; newer class files; code before super(...).
# Without such a JDK in /usr/lib/jvm it is skipped.
given=$2
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

jdk=$(newest)
[ "$(release "$jdk")" -ge 21 ] || { echo "no JDK since 21 is in /usr/lib/jvm"; exit 77; }
echo "JDK $(release "$jdk")"

javac -cp "$jar" -d classes "$sources/Virtual.java" || exit 1
timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" -cp "classes:$jar" Virtual >plain.txt 2>err.txt || fail "without the agent: status $?"
points=$(sed -n 's/^points //p' plain.txt)
[ "${points:-0}" -gt 1000 ] || fail "only ${points:-no} points"

# run OPTIONS VM-OPTION...: the same points, and all that is compared agrees
run() {
	local options=$1
	shift
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "$@" "-agentpath:$agent=check,$options" -cp classes Virtual >points.txt 2>err.txt ||
		fail "$options $*: status $?"
	grep -qx "points $points" points.txt || fail "$options $*: points"
	agreed "$options $*"
}
for mode in "encoder=fast -Xmixed" "encoder=fast -Xint" "encoder=lucce -Xmixed" "jdk=*,encoder=fast ${quick[*]}" "jdk=*,encoder=lucce ${quick[*]}" \
	"check=11 -Xss256k ${quick[*]}"; do
	# The walk of a stack that overflows is as long as the stack: a small one is walked as often.
	# shellcheck disable=SC2086 # words
	run $mode
	"$waymark" decode --folded --wmk run.wmk points.txt >decoded.txt || fail "$mode: decode"
	awk -f "$sources/compare.awk" -f "$sources/virtual.awk" decoded.txt >compared.txt
	[ "$(tail -n 1 compared.txt)" = "agreed $points differed 0" ] || { cut -c1-1000 compared.txt; fail "$mode"; }
done

# Two hundred tasks throw, and four of them overflow.
run exceptions "${quick[@]}"
"$waymark" report --format folded --metric exception run.wmk >folded.txt || fail "exceptions: report"
awk '/^Virtual.main;Virtual.many;\[thread\];/ { all += $NF } END { exit all != 204 }' folded.txt || { cat folded.txt; fail "exceptions"; }
for client in alloc=0 contention profile=profile; do
	# Each of 180,000 allocations is compared: that is long enough for all compilers.
	[ $client = alloc=0 ] && machine=() || machine=("${quick[@]}")
	run $client "${machine[@]}"
done
grep -q "Virtual	task	" profile || { cat profile; fail "profile: no call of a virtual thread"; }
# Time is that of the virtual thread that runs, not of the thread that carries it.
run cpu=997,encode -Xint
"$waymark" report --format folded --metric cpu run.wmk >folded.txt || fail "cpu: report"
grep -q '^Virtual.main;Virtual.many;\[thread\];.*;Virtual.task;' folded.txt || { cat folded.txt; fail "cpu"; }

if [ "$(release "$jdk")" -ge 25 ]; then
	javac -cp "$jar" -d classes "$sources/Prologue.java" || exit 1
	[ "$("$jdk/bin/java" "${quick[@]}" -cp "classes:$jar" Prologue)" = "thrown 3" ] || fail "prologue without the agent"
	for encoder in fast lucce; do
		rm -f run.wmk
		WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=check=1,encoder=$encoder" -cp classes Prologue >out.txt 2>err.txt ||
			fail "prologue $encoder: status $?"
		[ "$(cat out.txt)" = "thrown 3" ] || fail "prologue $encoder: output"
		agreed "prologue $encoder"
	done
fi

# What other tests see of an older JDK.
[ "$jdk" = "$given" ] || for test in hazards refused agents; do
	"$sources/$test.sh" "$build" "$jdk" "$sources" || fail "$test"
done
[ "$failures" = 0 ]
