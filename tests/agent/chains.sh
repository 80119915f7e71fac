#!/bin/bash
# chains.sh BUILD INCLUDE - whole chains of small programs under the agent, as their sources have them: frames that gcc takes down by a saved
# stack pointer, the functions of waymark.h, what handlers interrupted, and none of the agent's own functions.
set -u
include=$(realpath "$2")
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
needs gcc

# tokens PROGRAM: what its tokens decode to, a line each, in tokens.txt
tokens() {
	rm -f run.wmk
	timeout 60 "$waymark" run -q --agent -o run.wmk "./$1" >said.txt 2>err.txt || fail "$1: $(cat err.txt)"
	"$waymark" decode --folded <said.txt >tokens.txt
}

# same WHAT WANT: tokens.txt is that
same() {
	printf '%s\n' "$2" >want.txt
	cmp -s want.txt tokens.txt || fail "$1: $(diff want.txt tokens.txt | head -6)"
}

cat >token.h <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <waymark.h>
#define FUNCTION static __attribute__((noinline, noclone))
static inline __attribute__((always_inline)) void say(wm_context c)
{
	char token[WM_TOKEN_MAX];
	wm_token(c, token, sizeof token);
	puts(token);
}
END

# A frame that is counted from the stack pointer, whose arguments on the stack are taken off by a register: as gcc -O1 writes it where the
# address of an array is that stack pointer. And one whose stack pointer comes from elsewhere, which stays foreign.
cat >frames.c <<'END'
#include "token.h"
void leaf(void);
__attribute__((noinline)) void leaf(void) { say(wm_capture()); }
void framed(void), switched(void *);
__asm__(".text\n.globl framed\n.type framed, @function\nframed:\n.cfi_startproc\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset rbx, -16\n"
	"sub $64, %rsp\n.cfi_adjust_cfa_offset 64\n"
	"sub $32, %rsp\n.cfi_adjust_cfa_offset 32\n"
	"call leaf\n"
	"lea 32(%rsp), %rbx\n"
	"mov %rbx, %rsp\n.cfi_adjust_cfa_offset -32\n"
	"call leaf\n"
	"add $64, %rsp\n.cfi_adjust_cfa_offset -64\n"
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n"
	"ret\n.cfi_endproc\n.size framed, . - framed\n"
	".globl switched\n.type switched, @function\nswitched:\n.cfi_startproc\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset rbx, -16\n"
	"sub $32, %rsp\n.cfi_adjust_cfa_offset 32\n"
	"mov %rsp, %rbx\n"
	"mov (%rdi), %rax\n"
	"mov %rax, %rsp\n"
	"mov %rbx, %rsp\n"
	"call leaf\n"
	"add $32, %rsp\n.cfi_adjust_cfa_offset -32\n"
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n"
	"ret\n.cfi_endproc\n.size switched, . - switched\n"
	".section .note.GNU-stack,\"\",@progbits\n.text\n");
int main(void)
{
	char place[64], *pointer = place + 32;
	framed();
	framed();
	switched(&pointer);
	leaf();
	return 0;
}
END
gcc -O1 -g -rdynamic -I"$include" frames.c -o frames || exit 1
tokens frames
same frames 'main;framed;leaf
main;framed;leaf
main;framed;leaf
main;framed;leaf
main;[switched];leaf
main;leaf'

# The same of gcc's own making, where this gcc makes it so; or not.
cat >arguments.c <<'END'
#include "token.h"
struct three { long a, b, c; };
static volatile long sink;
FUNCTION void show(struct three t) { sink += t.a; }
FUNCTION void *worker(void *p) { return p; }
FUNCTION void leaf(void) { say(wm_capture()); }
FUNCTION void outer(int argc)
{
	struct three t = {argc, sink, 3};
	pthread_t threads[4];
	leaf();
	show(t);
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, worker, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	show(t);
	leaf();
}
int main(int argc, char **argv)
{
	(void)argv;
	outer(argc);
	return 0;
}
END
# waymark.h inlined, called, and called through a pointer, with debug information or none.
cat >header.c <<'END'
#include "token.h"
FUNCTION wm_context captures(void) { return wm_capture(); }
static wm_context (*volatile pointer)(void) = wm_capture;
FUNCTION void through_pointer(void) { wm_context c = pointer(); say(c); }
int main(void)
{
	wm_context c = captures();
	say(c);
	through_pointer();
	return 0;
}
END
for flags in -O0 -O1 '-O1 -g' '-O2 -g' '-O3 -g'; do
	# shellcheck disable=SC2086
	gcc $flags -I"$include" arguments.c -o arguments -pthread && gcc $flags -I"$include" header.c -o header || exit 1
	tokens arguments
	same "arguments $flags" 'main;outer;leaf
main;outer;leaf'
	tokens header
	same "header $flags" 'main;captures
main;through_pointer'
done

# Handlers: of a signal that a function sends itself, and one in the midst of another handler.
cat >handlers.c <<'END'
#include "token.h"
#include <string.h>
static volatile int depth;
FUNCTION void inner(void) { say(wm_capture()); }
static void second(int s) { (void)s; inner(); depth = 0; }
static void first(int s) { (void)s; inner(); if (depth) raise(SIGUSR2); depth = 0; }
FUNCTION int down(int n)
{
	int sum = n ? down(n - 1) + 1 : 0;
	if (!n)
		raise(SIGUSR1);
	return sum + depth;
}
FUNCTION void faults(volatile int *at) { *at = 1; depth = 0; }
FUNCTION void *thread(void *p) { down(0); return p; }
static void mends(int s, siginfo_t *info, void *context)
{
	(void)s, (void)info;
	inner();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 6; /* movl $1, (%rdi) */
}
int main(void)
{
	struct sigaction a;
	pthread_t t;
	signal(SIGUSR1, first);
	signal(SIGUSR2, second);
	down(2);
	depth = 1;
	down(1);
	memset(&a, 0, sizeof a);
	a.sa_sigaction = mends;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &a, NULL);
	faults(NULL);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	inner();
	return 0;
}
END
gcc -O1 -g -D_GNU_SOURCE -fno-optimize-sibling-calls -fcf-protection=none -I"$include" handlers.c -o handlers -pthread || exit 1
tokens handlers
# What of the C library sends the signal depends on its version.
sed -i 's/;\(gsignal\|raise\|__pthread_kill\|pthread_kill\|__pthread_kill_implementation\|__pthread_kill_internal\|libc.so.6+0x[0-9a-f]*\);/;LIBRARY;/g
	s/;\(gsignal\|raise\|__pthread_kill\|pthread_kill\|__pthread_kill_implementation\|__pthread_kill_internal\|libc.so.6+0x[0-9a-f]*\);/;LIBRARY;/g
	s/;LIBRARY\(;LIBRARY\)*/;raise/g' tokens.txt
same handlers 'main;down;down;down;raise;[signal];first;inner
main;down;down;raise;[signal];first;inner
main;down;down;raise;[signal];first;raise;[signal];second;inner
main;faults;[signal];mends;inner
main;[thread];thread;down;raise;[signal];first;inner
main;inner'

# What nothing has called that is instrumented is in brackets if it is not either; exit handlers stand on exit, or on nothing.
cat >roots.c <<'END'
#include "token.h"
static void *volatile elsewhere;
#define SWITCH() __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; mov %%rbx, %%rsp" : : "r"(elsewhere) : "rbx", "memory")
FUNCTION void leaf(void) { say(wm_capture()); }
FUNCTION void middle(void) { leaf(); leaf(); }
static void at_end(void) { leaf(); }
static __attribute__((constructor)) void early(void) { middle(); }
FUNCTION void *begins(void *p) { SWITCH(); middle(); return p; }
static void handles(int s) { (void)s; SWITCH(); leaf(); }
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	elsewhere = (char *)__builtin_frame_address(0) - 64;
	SWITCH();
	middle();
	atexit(at_end);
	pthread_create(&t, NULL, begins, NULL);
	pthread_join(t, NULL);
	signal(SIGUSR1, handles);
	raise(SIGUSR1);
	return argc == 0;
}
END
gcc -O1 -g -I"$include" roots.c -o roots -pthread || exit 1
tokens roots
sed -i 's/^main;.*;\[signal\]/main;LIBRARY;[signal]/' tokens.txt
same roots 'early;middle;leaf
early;middle;leaf
[main];middle;leaf
[main];middle;leaf
main;[thread];[begins];middle;leaf
main;[thread];[begins];middle;leaf
main;LIBRARY;[signal];[handles];leaf
at_end;leaf'

# Samples in what waits, and allocations: no function of the agent is in a chain, nor what begins a thread outside of it.
cat >waits.c <<'END'
#include "token.h"
FUNCTION void waits(void) { usleep(100000); }
FUNCTION void *worker(void *p) { free(malloc(1000)); waits(); return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, worker, 0);
	pthread_join(t, 0);
	return 0;
}
END
gcc -O1 -g -fno-builtin -I"$include" waits.c -o waits -pthread || exit 1
WAYMARK_AGENT=wall timeout 60 "$waymark" run -q --sample --heap --encode -o waits.wmk ./waits || fail "waits"
for metric in cpu bytes; do
	"$waymark" report --format=folded --metric=$metric waits.wmk >folded.txt || fail "no report of waits"
	grep -E 'run_thread|run_main|wmrt_|own_|start_thread|clone3?;|agent/' folded.txt && fail "the agent's functions are in chains ($metric)"
	"$waymark" report --metric=$metric waits.wmk | grep 'src/agent/' && fail "the agent's files are in chains ($metric)"
done
"$waymark" report --format=folded --metric=cpu waits.wmk | grep -q '^main;\[thread\];worker;waits;' || fail "no sample in waits: $(cat folded.txt)"
finish
