#!/bin/sh
# What is written out for speed: the calls in a function that is reached by pointer from a nest of loops come before those of 200
# functions that are called in one loop, for which the room does not suffice.
#
#   pointed.sh BUILD-DIR
set -eu

build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-pointed.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp"
failed=0

fail() {
	echo "FAIL $*"
	failed=1
}
# calls_helper FUNCTION: it defers its call of printf by a helper
calls_helper() {
	objdump -d --no-show-raw-insn --disassemble="$1" program >code
	grep -q "<$1>:" code || fail "there is no $1"
	grep -q 'call .*<wm1\.defer_here>' code
}

{
	cat <<'END'
#include <stdio.h>
#define KEPT static __attribute__((noinline))
typedef void (*worker)(volatile int *, long);
KEPT void work(volatile int *p, long n) { while (*p < n) printf("%d\n", (*p)++); }
KEPT void rest(volatile int *p, long n) { printf("%d %ld\n", *p, n); }
volatile worker workers[] = {work, rest};
END
	seq 200 | sed 's/.*/KEPT void f&(volatile int *p) { while (*p < &) printf("%d &\\n", *p); }/'
	echo 'int main(int argc, char **argv) { volatile int n = argc; while (n < 9) {'
	seq 200 | sed 's/.*/f&(\&n);/'
	echo 'for (long i = 0; i < n; i++) for (long k = 0; k < n; k++) workers[k & 1](&n, i); } return argv == 0; }'
} >program.c
"$build/waymark" cc -O2 -fno-unroll-loops program.c -o program

cold=0
for n in $(seq 200); do
	if calls_helper "f$n"; then cold=$((cold + 1)); fi
done
[ "$cold" -gt 20 ] || fail "the test is wrong: there is room for all but $cold"
[ "$cold" -lt 180 ] || fail "hardly any call is written out"
if calls_helper work; then fail "the call in work is taken for a rare one"; fi

[ $failed = 0 ] && echo "calls by pointer count: $cold of 200 functions call a helper, work does not"
