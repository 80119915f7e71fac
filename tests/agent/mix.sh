#!/bin/bash
# mix.sh BUILD INCLUDE SOURCES HAZARDS - a program and its library (mix/), of which `waymark cc` has built one and a plain compiler the
# other, or `waymark cc` both: under the agent there is one recording, in which each token decodes to the stack that the two keep
# themselves, events and allocations have whole chains, and each sample agrees with the stack. Paths are counted as without the agent.
set -u
compare=$1/tests/hazards/compare include=$2 sources=$3/mix hazards=$4
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
built=0

flags="-w -D_GNU_SOURCE -I$hazards -I$sources"

# build LIBRARY-COMPILER PROGRAM-COMPILER: lists of words
build() {
	# shellcheck disable=SC2086
	$1 $flags -fPIC -shared "$sources/library.cpp" -o libmix.so -pthread &&
		$2 $flags "$sources/program.cpp" -rdynamic -L. -lmix -Wl,-rpath,"$dir" -pthread -o program
}

# run WHAT AGENT OPTION...: AGENT is for WAYMARK_AGENT
run() {
	what=$1 agent=$2
	shift 2
	rm -f run*.wmk
	WAYMARK_AGENT=$agent timeout 100 "$waymark" run --events "$@" -o "$dir/run.wmk" ./program >tokens.txt 2>err.txt || fail "$what: status $?"
	[ "$(echo run*.wmk)" = run.wmk ] || fail "$what: recordings are $(echo run*.wmk)"
}

# lines WHAT METRIC WANTED
lines() {
	"$waymark" report --format folded --metric "$2" run.wmk >folded.txt || fail "$1: report"
	printf '%b' "$3" | grep -vxFf folded.txt | while read -r line; do echo "no line $line"; done >missing.txt
	[ ! -s missing.txt ] || { fail "$1: $2"; cat missing.txt folded.txt; }
}

# one WHAT OPTION...: the program that was built; options of the run
one() {
	name=$1
	shift
	run "$name" '' -q --heap "$@"
	"$waymark" decode --folded --wmk run.wmk <tokens.txt >decoded.txt || fail "$name: decode"
	"$compare" "$name" decoded.txt 5127 || failures=$((failures + 1))
	lines "$name" logged:sum 'main;library_apply;library_inner;logs 1\nmain;library_apply;library_inner;logs;library_logs 5\n'
	lines "$name" allocations 'main;library_apply;library_inner;allocates;[malloc] 1\nmain;allocates;[malloc] 1\nmain;library_apply;library_inner;allocates;library_allocates;[malloc] 1\nmain;allocates;library_allocates;[malloc] 1\n'
	run "$name, epochs" epochs,wall --check "$@"
	awk '/samples? agrees?/ { found = 1; if ($3 != $5) exit 1 } END { exit !found }' err.txt ||
		{ fail "$name: samples"; head -n 5 err.txt; }
	"$waymark" decode --folded --wmk run.wmk <tokens.txt >decoded.txt || fail "$name, epochs: decode"
	"$compare" "$name, epochs" decoded.txt 5127 || failures=$((failures + 1))
	built=$((built + 1))
}

for level in -O0 -O2; do
	for plain in g++ clang++-19; do
		command -v $plain >/dev/null || continue
		plain="$plain $level -I$include"
		if build "$plain" "$waymark c++ $level"; then one "program by waymark c++, $plain" --agent; else fail "$plain: build"; fi
		if build "$waymark c++ $level" "$plain"; then one "library by waymark c++, $plain" --agent; else fail "$plain: build"; fi
	done
	if build "$waymark c++ $level" "$waymark c++ $level"; then one "both by waymark c++ $level" --agent; else fail "$level: build"; fi
done

# Without the agent: what was built by waymark c++ records alone.
build "g++ -O1 -I$include" "$waymark c++ -O1" || fail "build"
run "no agent" '' -q
grep -c 'wm1:not-instrumented' tokens.txt >plain.txt
"$waymark" decode --folded --wmk run.wmk <tokens.txt | grep -c '^main;nests;\[library_apply\];nests	' >chains.txt
[ "$(cat plain.txt)" -gt 0 ] && [ "$(cat chains.txt)" -gt 0 ] || fail "no agent: $(cat plain.txt) $(cat chains.txt)"

# Paths, in forked children too: the same counts.
cat >paths.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
static int classify(int n)
{
	int kind = n % 3 == 0 ? 1 : n % 5 == 0 ? 2 : 0;
	while (n > 10) {
		if (n & 1)
			kind++;
		n /= 2;
	}
	return kind;
}
int main(void)
{
	volatile int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += classify(i);
	if (fork() == 0) {
		for (int i = 0; i < 500; i++)
			sum += classify(i);
		return 0;
	}
	wait(NULL);
	return 0;
}
END
for what in paths contexts,paths; do
	"$waymark" cc --wm=$what -O1 paths.c -o program || fail "paths: build"
	for agent in '' --agent; do
		rm -rf "out$agent"
		mkdir "out$agent"
		# shellcheck disable=SC2086
		"$waymark" run --events -q $agent -o "out$agent/" ./program || fail "paths: status $?"
		[ "$(find "out$agent" -name '*.wmk' | wc -l)" -eq 2 ] || fail "paths $agent: not two recordings"
		"$waymark" paths "out$agent"/*.wmk | sed '/^Summary/,$!d' >"paths$agent.txt"
	done
	grep -q classify paths.txt && cmp paths.txt paths--agent.txt || fail "paths: other counts under the agent"
done
# A core of such a process has no contexts of the compiled encoding, and says so.
cat >crashes.c <<'END'
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
	abort();
}
int main(void)
{
	int numbers[] = {2, 1};
	qsort(numbers, 2, sizeof *numbers, compare);
	return 0;
}
END
"$waymark" cc -w -O1 crashes.c -o program || fail "crashes: build"
ulimit -c unlimited
if [ "$(cat /proc/sys/kernel/core_pattern)" = core ] && ! ./program 2>/dev/null && [ -n "$(find . -name 'core*')" ]; then
	"$waymark" core program core* >core.txt || fail "core"
	grep -q 'context main;\[qsort\];compare' core.txt || fail "core: no context"
	rm -f core*
	"$waymark" run -q --agent ./program 2>/dev/null && fail "crashes: status"
	"$waymark" core program core* >core.txt 2>&1 || fail "core under the agent"
	grep -q 'context main' core.txt && fail "core: a context that nobody kept"
	grep -q 'ran under an agent' core.txt || fail "core: it is not said that there was an agent"
fi
[ $built -gt 0 ] || { echo "no plain C++ compiler is there"; exit 77; }
echo "$built programs"
finish
