#!/bin/bash
# core_fold.sh BUILD - what `waymark core` says once because it is the same again: threads, rounds of a recursion, paths, calls;
# and names of C++ in short.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

"$waymark" c++ --wm=trace -g -O0 "$here/core_fold.cpp" -o program -pthread || exit 1
core_of program.core ./program || exit 1

# like LINE: a line of out.txt is this regular expression.
like() {
	grep -qE -- "^ *$1\$" out.txt || {
		fail "no line ${1@Q}"
		cat out.txt
	}
}

expect 0 "$waymark" core ./program program.core
like 'Thread 1 of 6 \([0-9]+\), got the signal'
like 'Threads 2 to 6 of 6 \([0-9]+(, [0-9]+){4}\), all alike'
like '#0 +shop::basket<\.\.\.>::count  .*core_fold.cpp:29:[0-9]+'
# The last two rounds of four led the same way, the second one did not.
like 'path 2 of 4; after a round of the loop'
like 'paths 3 to 4 of 4, all alike; after a round of the loop'
like '.*std::operator==<\.\.\.>:26, .*'
# 40 functions deep, odd and even in turn.
like '\.\.\.  [0-9]+ more rounds of even, odd \(#[0-9]+ to #[0-9]+; --frames=all\)'
[ "$(grep -c '^#[0-9]* *odd ' out.txt)" = 3 ] || fail "$(grep -c '^#[0-9]* *odd ' out.txt) frames of odd are shown"
lacks out.txt _ZN
awk 'length($0) > 150 { exit 1 }' out.txt || fail "lines over 150 columns"

# Those alike count as one.
expect 0 "$waymark" core --paths=2 ./program program.core
like '2 earlier paths are kept \(--paths=all\)'

expect 0 "$waymark" core --frames=all ./program program.core
[ "$(grep -c '^#[0-9]* *odd ' out.txt)" = 20 ] || fail "$(grep -c '^#[0-9]* *odd ' out.txt) frames of odd of all"
lacks out.txt "more rounds"

# All of it.
expect 0 "$waymark" core --full ./program program.core
like 'Thread 6 of 6 \([0-9]+\)'
like '#0 +shop::basket<std::.*>::count\(.*\) const  .*'
like 'path 4 of 4; after a round of the loop'
lacks out.txt "all alike"

# Inlined code of the system's headers: only what decides something.
"$waymark" c++ --wm=trace -g -O2 "$here/core_fold.cpp" -o fast -pthread || exit 1
core_of fast.core ./fast || exit 1
expect 0 "$waymark" core ./fast fast.core
lacks out.txt _ZN
like '#[0-9]+ +even  .*'
grep -E '^ +[0-9]+  ' out.txt | wc -l >short.txt
expect 0 "$waymark" core --full ./fast fast.core
[ "$(cat short.txt)" -lt "$(grep -cE '^ +[0-9]+  ' out.txt)" ] || fail "--full shows no more"

# The table of functions and contexts have short names, too.
expect 0 "$waymark" core --functions ./program program.core
like 'yes .*  shop::basket<\.\.\.>::count  .*core_fold.cpp:21'
lacks out.txt _ZN
expect 0 "$waymark" core --functions --full ./program program.core
like 'yes .*  shop::basket<std::.*>::count\(.*\) const  .*core_fold.cpp:21'
"$waymark" c++ --wm=contexts,trace -g -O0 "$here/core_fold.cpp" -o contexts -pthread || exit 1
WAYMARK_OUT=/dev/null core_of contexts.core ./contexts || exit 1
expect 0 "$waymark" core ./contexts contexts.core
like 'context main;even;(odd;even|even;odd).*;shop::basket<\.\.\.>::count'

# Rounds have no number, and no start but their own.
cat >rounds.c <<'END'
int main(int argc, char **argv)
{
	volatile int *nowhere = 0, sum = 0;

	for (int i = 0; i < argc + 20; i++)
		sum += i;
	for (char *c = argv[0]; *c; c++)
		sum += *c;
	return *nowhere + sum;
}
END
"$waymark" cc --wm=trace -g -O0 rounds.c -o rounds || exit 1
core_of rounds.core ./rounds || exit 1
expect 0 "$waymark" core ./rounds rounds.core
[ "$(grep -cx ' *round of the loop, once or more' out.txt)" = 1 ] || fail "rounds: $(grep round out.txt)"
expect 0 "$waymark" core --paths=all ./rounds rounds.core
[ "$(grep -cx ' *round of the loop, once or more' out.txt)" = 2 ] || fail "all rounds: $(grep round out.txt)"
like 'path 2 of 2.*'

# The page folds the recursion, too.
expect 0 "$waymark" core --format=html ./program program.core
has out.txt ">even</span>, <span title="

# The two copies of the call in an inlined function are one, which was made.
cat >copies.c <<'END'
int depth(int n);
static inline __attribute__((always_inline)) int step(int n) { return depth(n) + 1; }
__attribute__((noinline)) int depth(int n)
{
	if (n == 0)
		__builtin_trap();
	return n & 1 ? step(n - 1) * 3 : step(n - 1) + 5;
}
int main(void) { return depth(3); }
END
"$waymark" cc --wm=trace -g -O0 copies.c -o copies || exit 1
core_of copies.core ./copies || exit 1
expect 0 "$waymark" core ./copies copies.core
like '#1 +step .*'
[ "$(grep -c 'made calls: depth:2$' out.txt)" = 3 ] || fail "copies: $(grep 'made' out.txt)"
[ "$(grep -c 'not made: depth:2$' out.txt)" = 1 ] || fail "copies that are not made: $(grep 'made' out.txt)"
expect 0 "$waymark" core --format=html ./copies copies.core
[ "$(grep -oc '<p class="calls">Made: <a[^>]*>depth:2</a></p>' out.txt)" = 3 ] || fail "copies on the page"
finish
