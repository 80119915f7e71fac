#!/bin/sh
# Which events a program has contexts for (--wm-events): functions that lead to none have no code, contexts that are kept are whole, also
# through callbacks and pointers, and what is left out is [not kept].
#
#   events.sh BUILD-DIR
set -eu

build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-events.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp"
failed=0

fail() {
	echo "FAIL $*"
	failed=1
}

cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>
#define KEPT __attribute__((noinline))

static void show(const char *what, wm_context c)
{
	char token[WM_TOKEN_MAX];
	wm_token(c, token, sizeof token);
	printf("%s %s\n", what, token);
}
KEPT void *allocates(int n) { char *p = malloc(n); if (p) memset(p, 1, n); return p; }
KEPT void asks(int n) { show("asks", wm_capture()); if (n > 1) asks(n - 1); puts(""); }
KEPT void first(int n) { wm_event("first", n); fputs("", stdout); }
KEPT void second(int n) { wm_event("second", n); fputs("", stdout); }
KEPT void twice(int n) { free(allocates(n)); first(n); second(n); }
KEPT void other(int n) { if (n > 100) puts("large"); free(allocates(n)); }
static int compare(const void *a, const void *b)
{
#ifdef CALLED_BACK
	first(3);
#endif
	return *(const int *)a - *(const int *)b;
}
KEPT void sorts(int n) { int v[2] = {n, 1}; qsort(v, 2, sizeof *v, compare); if (v[0] > v[1]) abort(); }
void (*volatile pointer)(int) = other;

int main(int argc, char **argv)
{
	(void)argv;
	sorts(argc + 1);
	pointer(argc);
	twice(argc);
	asks(argc + 1);
	return 0;
}
END

# code_of FUNCTION: how often it names Waymark's state or helpers
code_of() {
	objdump -dr --no-show-raw-insn --disassemble="$1" program >code
	grep -q "<$1>:" code || fail "there is no $1"
	grep -cE '%fs:|<wm1' code || true
}
# build_with EVENTS [OPTION...]
build_with() {
	events=$1
	shift
	label="$events $*"
	"$build/waymark" cc -O2 -fno-inline ${events:+--wm-events=$events} "$@" program.c -o program
}
# contexts: of tokens and of events, sorted
contexts() {
	rm -f ./*.wmk
	./program | grep asks >out.txt
	"$build/waymark" decode --folded --exe . out.txt | sed 's/^asks //'
	"$build/waymark" report --format=events ./*.wmk | sed 's/\t/ /g' | grep -oE '(main|\[not kept\])[^ ]*.*' || true
}
expect() { # TEXT
	contexts >have.txt 2>err.txt
	printf '%s\n' "$1" >want.txt
	diff want.txt have.txt || fail "$label: other contexts"
}
has_code() {
	for f; do
		[ "$(code_of "$f")" -gt 0 ] || fail "$label: $f has no code"
	done
}
has_no_code() {
	for f; do
		[ "$(code_of "$f")" -eq 0 ] || fail "$label: $f has code"
	done
}

build_with ""
has_code sorts other allocates twice first second asks
contexts >all.txt

build_with token
has_no_code sorts other allocates
has_code first asks
contexts >have.txt
diff all.txt have.txt || fail "token: other contexts than with all events"

build_with first
has_no_code sorts other allocates second asks
has_code first
sed -e '/second/s/^main.*second/[not kept]/' -e '/asks/s/^main.*asks/[not kept]/' all.txt >only.txt
contexts >have.txt
diff only.txt have.txt || fail "first: other contexts"

build_with first -DCALLED_BACK
has_code sorts first
contexts >have.txt
grep -q 'main;sorts;\[qsort\];compare;first' have.txt || fail "first: the callback has another context"
grep -q 'main;twice;first' have.txt || fail "first: the call has another context"

build_with none
has_no_code main sorts other allocates twice asks
contexts >have.txt
! grep -q main have.txt || fail "none: there are contexts"

build_with malloc,token
has_code sorts other allocates twice asks
contexts >have.txt
diff all.txt have.txt || fail "malloc,token: other contexts than with all events"

build_with token
"$build/waymark" run -q --heap -o heap.wmk ./program >out.txt
"$build/waymark" report --format=folded heap.wmk >heap.txt 2>&1 || true
grep -q '\[not kept\]' heap.txt || fail "allocations have contexts: $(head -n 3 heap.txt)"
! grep -q 'main;.*allocates' heap.txt || fail "allocations have contexts: $(head -n 3 heap.txt)"

for list in '' ',token' 'token,' 'malloc,,token'; do
	! "$build/waymark" cc --wm-events="$list" program.c -o bad 2>err.txt || fail "--wm-events=$list is taken"
	grep -q -e --wm-events= err.txt || fail "--wm-events=$list: $(cat err.txt)"
done

[ $failed = 0 ] && echo "contexts are kept for the events that are asked for, and for no others"
