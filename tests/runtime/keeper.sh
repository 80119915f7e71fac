#!/bin/sh
# keeper.sh WAYMARK - programs that are linked with --wm-no-recorder and record nothing by themselves have only the part of the runtime that
# keeps contexts: they are small, and `waymark run --heap` records of them what it records of the same program with a whole runtime.
set -u
waymark=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# build NAME WORDS... : NAME, and NAME.whole with all of the runtime.
build() {
	name=$1
	shift
	"$waymark" cc -O2 --wm-no-recorder "$@" -o "$name" && "$waymark" cc -O2 "$@" -o "$name.whole" || exit 1
}

# has FILE NAME: it has a function of that name.
has() {
	llvm-nm-19 --defined-only "$1" | grep -q " [tTwW] $2\$"
}

# ---- size, beside a native build with the same linker: text, data and what is zero at first, in bytes ----
echo 'int main(void) { return 0; }' >empty.c
clang-19 -O2 -flto -fuse-ld=lld empty.c -o native || exit 1
build empty empty.c
sizes() { llvm-size-19 "$1" | awk 'NR == 2 { print $1 + $2, $3 }'; }
# shellcheck disable=SC2046
set -- $(sizes native) $(sizes empty) $(sizes empty.whole)
[ $(($3 - $1)) -le 40000 ] || fail "an empty main has $3 bytes, $1 of them its own: more than 40000 are the runtime's"
[ $(($4 - $2)) -le 262144 ] || fail "an empty main has $4 bytes of zeros, of them $2 its own: more than 262144 are the runtime's"
[ $(($5 - $3)) -ge 20000 ] || fail "a whole runtime has $5 bytes, one without a recorder $3: the comparison is of equals"
./empty || fail "empty: exit status $?"

# ---- who has a recorder ----
cat >event.c <<'END'
#include <waymark.h>
int main(void) { wm_event("e", 1); return 0; }
END
build event event.c
for what in empty:no event:yes empty.whole:yes; do
	is=no
	has "${what%:*}" wmrt_file_begin && is=yes
	[ $is = "${what#*:}" ] || fail "${what%:*} has a recorder: $is"
done
for options in --wm=paths --wm=contexts,paths --wm-hybrid; do
	{ "$waymark" cc -O2 --wm-no-recorder $options empty.c -o other && has other wmrt_file_begin; } || fail "$options: there is no recorder"
done
"$waymark" run -q --events -o nothing.wmk ./empty || fail "run: exit status $?"
[ ! -e nothing.wmk ] || fail "empty has recorded something"

# ---- contexts of allocations: threads, handlers, coroutines, callbacks, jumps, recursion; children that are other programs ----
cat >heap.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))

static void *volatile kept[4096];
static volatile unsigned used;
static ucontext_t outer, inner;
static char stack[65536];
static jmp_buf back;

KEPT void take(size_t size) { kept[used++ % 4096] = malloc(size); }
KEPT void deep(int n) { take(16); if (n) deep(n - 1); take(24); }
KEPT void odd(int n);
KEPT void even(int n) { if (n) odd(n - 1); take(32); }
KEPT void odd(int n) { if (n) even(n - 1); take(40); }
static void on_signal(int sig) { (void)sig; deep(3); }
KEPT void interrupted(void) { take(8); raise(SIGUSR1); take(8); }
static void *work(void *argument) { deep(2); interrupted(); return argument; }
KEPT void threads(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
}
static void body(void) { deep(1); swapcontext(&inner, &outer); take(48); }
KEPT void coroutine(void)
{
	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof stack;
	inner.uc_link = &outer;
	makecontext(&inner, body, 0);
	swapcontext(&outer, &inner);
	take(56);
	swapcontext(&outer, &inner);
}
static int compare(const void *a, const void *b) { take(64); return *(const int *)a - *(const int *)b; }
KEPT void leave(int n) { if (n) leave(n - 1); take(72); longjmp(back, 1); }
KEPT void jump(void) { if (!setjmp(back)) leave(3); take(80); }
KEPT void fill(void) { for (int i = 0; i < 5000; i++) deep(i % 7); }

int main(int argc, char **argv)
{
	int values[] = {3, 1, 2};
	(void)argv;
	signal(SIGUSR1, on_signal);
	deep(5);
	even(6);
	interrupted();
	threads();
	coroutine();
	qsort(values, 3, sizeof *values, compare);
	jump();
	fill();
	if (fork() == 0) {
		deep(1);
		_exit(0);
	}
	wait(NULL);
	take(88);
	return argc > 1 ? system("ls heap.c >listed && ./event") : values[0] - 1;
}
END
build heap heap.c
# folded NAME: what each context allocated, of all processes.
folded() {
	"$waymark" report --format=folded --metric=bytes "$1.d" >"$1.folded" 2>"$1.err" || fail "$1: report: $(cat "$1.err")"
}
for name in heap heap.whole; do
	for arguments in '' child; do
		rm -rf "$name.d"
		mkdir "$name.d"
		# shellcheck disable=SC2086
		"$waymark" run -q --heap -o "$name.d/" "./$name" $arguments >"$name.said" 2>&1 || fail "$name $arguments: exit status $?: $(cat "$name.said")"
		folded "$name"
		cp "$name.folded" "$name.folded.$arguments"
		find "$name.d" -name '*.wmk' | wc -l >"$name.files.$arguments"
	done
done
for arguments in '' child; do
	# the name of the program is not in it
	diff "heap.whole.folded.$arguments" "heap.folded.$arguments" >differ ||
		fail "run --heap ./heap $arguments: contexts differ from those of a whole runtime: $(head -20 differ)"
	cmp -s "heap.files.$arguments" "heap.whole.files.$arguments" ||
		fail "run --heap ./heap $arguments: $(cat "heap.files.$arguments") files, $(cat "heap.whole.files.$arguments") with a whole runtime"
done
for context in 'main;deep;deep' 'main;even;odd;even' '[signal];on_signal;deep' '[thread];work;deep' '[makecontext];body' '[qsort];compare' 'main;jump;leave;leave'; do
	grep -qF "$context" heap.folded. || fail "no allocation of heap is in $context"
done
grep -qF '[lost]' heap.folded. && fail "contexts of heap are lost"

# ---- samples of walks go into the same recording ----
if [ -e "$(dirname "$waymark")/src/sampler/libwaymark-sample.so" ]; then
	"$waymark" run -q --sample --heap -o both.wmk ./heap >both.said 2>&1 || fail "--sample --heap: $(cat both.said)"
	"$waymark" run -q --sample -o samples.wmk ./heap >samples.said 2>&1 || fail "--sample: $(cat samples.said)"
	"$waymark" report --format=folded --metric=bytes both.wmk 2>/dev/null | grep -qF 'main;deep;deep' || fail "--sample --heap: no allocations"
fi
[ $failures = 0 ]
