#!/bin/bash
# mutants.sh BUILD JDK SOURCES [SEED [COUNT]] - damaged class files: the virtual machine refuses under the agent, by the same error, what it
# refuses without, and links what it links without. Lines of the agent are few: one of each kind, and how many there were.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

seed=${4:-1} count=${5:-1200}
javac -g -d classes "$sources"/{Mutants,Mutated}.java || exit 1
timeout -k 1 120 "$jdk/bin/java" "${quick[@]}" -cp classes Mutants "$seed" "$count" >plain.txt || fail "without the agent: status $?"
[ "$(grep -c ': linked$' plain.txt)" -gt $((count / 10)) ] && [ "$(grep -c 'Error$' plain.txt)" -gt $((count / 10)) ] ||
	fail "seed $seed: the changes are no test"
for options in '' =alloc=0,exceptions,encoder=lucce; do
	timeout -k 1 120 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent$options" -cp classes Mutants "$seed" "$count" >out.txt 2>err.txt ||
		fail "$options: status $?"
	diff plain.txt out.txt >diff.txt || { head -n 10 diff.txt; fail "seed $seed $options: $(grep -c '^<' diff.txt) differ"; }
	[ "$(wc -l <err.txt)" -le 20 ] || { head -n 25 err.txt; fail "$options: $(wc -l <err.txt) lines"; }
	grep -qx 'waymark: not instrumented: .*: [0-9]* in all' err.txt || { cat err.txt; fail "$options: no count"; }
done
[ "$failures" = 0 ]
