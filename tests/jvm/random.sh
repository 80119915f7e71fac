#!/bin/bash
# random.sh BUILD JDK SOURCES [FIRST LAST] - random Java programs that keep their own shadow stacks (random/Generate.java), by default a
# few. A thousand: tests/jvm/random.sh $PWD/build /usr/lib/jvm/default-java $PWD/tests/jvm 1 1000
#
# Of each program: without the agent its shadow stacks are what StackWalker sees; under the agent they are the same, each token decodes to
# the shadow stack of its line, and each capture agrees with a walk of the stack that the agent makes. All ways of RUNS are tried, options
# of the agent and of the virtual machine: RUNS='check check,-Xint' (a word each; the agent's are those without a dash; quick: setup.sh's options; check=N walks at
# entries of stacks that overflow, too, which takes minutes with -Xint). KEEP=DIR keeps what failed: the sources of its batch and what was
# printed. ONLY=N runs but one of the calls that Main.run of a program makes, to find the cause of a difference.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
first=${4:-1} last=${5:-8}
batch=24
only=-Donly=${ONLY:--1}
runs='check check=53,-Dsun.reflect.inflationThreshold=2,quick check,-Xint check,jdk=java.*,quick check,profile=profile.txt,quick check,profile=profile.txt,cache=run.cache,quick check,cache=run.cache,quick check,encoder=lucce check=53,encoder=lucce,quick'
runs=${RUNS:-$runs}

# Names and sources of the batch; $from and $to.
generate() {
	rm -rf src classes
	mkdir src classes
	"$jdk/bin/java" "${quick[@]}" -cp support random.Generate "$from" "$to" src || exit 1
	javac -nowarn -proc:none -g:source,lines -cp "support:$jar" -d classes src/*/Main.java \
		2>javac.txt || { grep error javac.txt | head -n 5; fail "$from to $to: javac"; return 1; }
}

# What must be the same in all runs: threads print in any order, and how often they meet the scheduler decides.
stacks() {
	sed -n 's/^point [^ ]* //p' "$1" | LC_ALL=C sort
}

# Without the agent.
plain() {
	timeout -k 1 300 "$jdk/bin/java" "${quick[@]}" -Dwalk=true "$only" -cp "support:classes:$jar" random.Run "$from" "$to" >plain.txt 2>err.txt ||
		{ head -n 4 err.txt | cut -c1-1000; fail "$from to $to, without the agent: status $?"; return 1; }
	stacks plain.txt >wanted.txt
	[ -n "${ONLY:-}" ] || [ "$(wc -l <wanted.txt)" -gt $((50 * (to - from + 1))) ] || fail "$from to $to: only $(wc -l <wanted.txt) points"
}

# under WORD,WORD...: one of RUNS
under() {
	local run=$1 word agent_words='' java_words=() captured
	local label="$from to $to, $run"
	for word in ${run//,/ }; do
		case $word in
		quick) java_words+=("${quick[@]}") ;;
		-*) java_words+=("$word") ;;
		*) agent_words+=,$word ;;
		esac
	done
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 600 "$jdk/bin/java" "${java_words[@]}" "-agentpath:$agent=${agent_words#,}" \
		"$only" -cp support:classes random.Run "$from" "$to" >points.txt 2>err.txt ||
		{ head -n 4 err.txt | cut -c1-1000; fail "$label: status $?"; return; }
	captured=$(grep -c '^\(point\|loose\) ' points.txt)
	stacks points.txt | cmp -s wanted.txt - || fail "$label: other shadow stacks than without the agent"
	case $agent_words in *check*)
		grep -q '^waymark: [1-9][0-9]* captures agreed with the stack, 0 differed$' err.txt || fail "$label: check"
		;;
	esac
	grep -v '^waymark: [1-9][0-9]* captures agreed' err.txt | cut -c1-1000 | head -n 4
	"$waymark" decode --wmk run.wmk points.txt >lines.txt && "$waymark" decode --folded --wmk run.wmk points.txt >folded.txt ||
		fail "$label: decode"
	awk -f "$sources/compare.awk" -f "$sources/random-same.awk" lines.txt folded.txt >compared.txt
	[ "$(tail -n 1 compared.txt)" = "agreed $((2 * captured)) differed 0" ] || { cut -c1-1000 compared.txt; fail "$label: stacks"; }
	all=$((all + captured))
}

# keep FAILURES-BEFORE
keep() {
	[ -n "${KEEP:-}" ] && [ "$failures" -gt "$1" ] || return
	mkdir -p "$KEEP/$from"
	cp -r src ./*.txt "$KEEP/$from"
}

javac -cp "$jar" -d support "$sources"/random/*.java || exit 1
all=0
for ((from = first; from <= last; from = to + 1)); do
	to=$((from + batch - 1 < last ? from + batch - 1 : last))
	before=$failures
	generate && plain && for run in $runs; do
		under "$run"
	done
	keep "$before"
done
echo "seeds $first to $last: $all points, $failures failures"
[ "$failures" = 0 ]
