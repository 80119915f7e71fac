/*
 * inject_target.c FD coroutine|handler - a program that is made to call functions from outside. Each of its threads fills registers, vector registers and the
 * bytes below its stack pointer, and looks again and again whether they are as they were, and so are its errno and the mask of its signals.
 * Its handler takes so much of the stack that whatever is near below is written over. The first thread is in a coroutine whose stack has little
 * room, and handles signals on another one: what is below that room is looked at as well. Or it is in a handler on the alternate stack, on which
 * other handlers run, too: one that begins at the top of it writes over the first one.
 */
#include "inject_target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	TURNS = 4000,
	HANDLER_BYTES = 96 << 10,
	ALONE_LOOKS = 20000,
	COROUTINE_BYTES = 1 << 16,
	ROOM_BYTES = 1024, /* that the first thread needs below the frame of its loop */
	CANARY = 0x5a,
};

/* hold(turns, is_wide): not 0 when something has changed. is_wide: the vector registers have 256 bits. */
int hold(unsigned long turns, unsigned long is_wide);
__asm__(".text\n"
	".globl hold\n"
	".type hold, @function\n"
	"hold:\n"
	"	pushq %rbx; pushq %rbp; pushq %r12; pushq %r13; pushq %r14; pushq %r15\n"
	"	movq %rdi, %rcx\n"
	"	movq $0x1111111111111111, %rax\n"
	"	movq %rax, %rbx; notq %rbx\n"
	"	movq %rax, %rbp; addq $1, %rbp\n"
	"	movq %rax, %rdx; addq $2, %rdx\n"
	"	movq %rax, %rdi; addq $3, %rdi\n"
	"	movq %rax, %r8; addq $4, %r8\n"
	"	movq %rax, %r9; addq $5, %r9\n"
	"	movq %rax, %r10; addq $6, %r10\n"
	"	movq %rax, %r11; addq $7, %r11\n"
	"	movq %rax, %r12; addq $8, %r12\n"
	"	movq %rax, %r13; addq $9, %r13\n"
	"	movq %rax, %r14; addq $10, %r14\n"
	"	movq %rax, %r15; addq $11, %r15\n"
	"	movq %rbx, -8(%rsp); movq %r8, -64(%rsp); movq %r15, -128(%rsp)\n"
	"	movq %rbx, %xmm0; movq %rax, %xmm15; punpcklqdq %xmm15, %xmm15\n"
	"	testq %rsi, %rsi\n"
	"	jz 1f\n"
	"	vinsertf128 $1, %xmm15, %ymm15, %ymm15\n"
	"1:	decq %rcx\n"
	"	jnz 1b\n"
	"	testq %rsi, %rsi\n"
	"	jz 2f\n"
	"	vextractf128 $1, %ymm15, %xmm14\n"
	"	jmp 3f\n"
	"2:	movdqa %xmm15, %xmm14\n"
	"3:	xorq %rsi, %rsi\n"
	"	movq $0x1111111111111111, %rcx\n"
	"	subq %rcx, %rax; orq %rax, %rsi\n"
	"	movq %rcx, %rax; notq %rax; subq %rbx, %rax; orq %rax, %rsi\n"
	"	subq %rcx, %rbp; subq $1, %rbp; orq %rbp, %rsi\n"
	"	subq %rcx, %rdx; subq $2, %rdx; orq %rdx, %rsi\n"
	"	subq %rcx, %rdi; subq $3, %rdi; orq %rdi, %rsi\n"
	"	movq -8(%rsp), %rax; subq %rbx, %rax; orq %rax, %rsi\n"
	"	movq -64(%rsp), %rax; subq %r8, %rax; orq %rax, %rsi\n"
	"	movq -128(%rsp), %rax; subq %r15, %rax; orq %rax, %rsi\n"
	"	movq %xmm0, %rax; subq %rbx, %rax; orq %rax, %rsi\n"
	"	movq %xmm15, %rax; subq %rcx, %rax; orq %rax, %rsi\n"
	"	movhlps %xmm14, %xmm13; movq %xmm13, %rax; subq %rcx, %rax; orq %rax, %rsi\n"
	"	movq %xmm14, %rax; subq %rcx, %rax; orq %rax, %rsi\n"
	"	subq %rcx, %r8; subq $4, %r8; orq %r8, %rsi\n"
	"	subq %rcx, %r9; subq $5, %r9; orq %r9, %rsi\n"
	"	subq %rcx, %r10; subq $6, %r10; orq %r10, %rsi\n"
	"	subq %rcx, %r11; subq $7, %r11; orq %r11, %rsi\n"
	"	subq %rcx, %r12; subq $8, %r12; orq %r12, %rsi\n"
	"	subq %rcx, %r13; subq $9, %r13; orq %r13, %rsi\n"
	"	subq %rcx, %r14; subq $10, %r14; orq %r14, %rsi\n"
	"	subq %rcx, %r15; subq $11, %r15; orq %r15, %rsi\n"
	"	xorl %eax, %eax\n"
	"	testq %rsi, %rsi\n"
	"	setne %al\n"
	"	popq %r15; popq %r14; popq %r13; popq %r12; popq %rbp; popq %rbx\n"
	"	ret\n"
	".size hold, .-hold\n");

static struct target_shared *shared;
static _Thread_local unsigned int own;

static void fault(const char *what)
{
	snprintf(shared->fault, sizeof shared->fault, "thread %u: %s", own, what);
	shared->faults++;
}

static void handler(int signal)
{
	volatile char room[HANDLER_BYTES];

	(void)signal;
	for (size_t i = 0; i < sizeof room; i++)
		room[i] = (char)0xa5;
	shared->threads[own].handled++;
}

/* Of a signal that is queued as often as it is sent. */
static void counter(int signal)
{
	(void)signal;
	shared->threads[own].counted++;
}

static void look(bool is_wide)
{
	sigset_t mask;

	errno = (int)own + 1000;
	if (hold(TURNS, is_wide))
		fault("a register, or a byte below the stack pointer, has changed");
	if (errno != (int)own + 1000)
		fault("errno has changed");
	if (pthread_sigmask(SIG_SETMASK, NULL, &mask) != 0 || sigismember(&mask, TARGET_SIGNAL) ||
	    sigismember(&mask, SIGTERM))
		fault("signals are blocked");
}

/* Of the first thread's coroutine: from there up to ROOM_BYTES below the frame. */
static char coroutine[COROUTINE_BYTES];

static bool is_in_coroutine;

static bool is_below_as_it_was(const char *frame)
{
	for (const volatile char *at = coroutine; at < frame - ROOM_BYTES; at++)
		if (*at != CANARY)
			return false;
	return true;
}

/* All kinds of places to be stopped at: in code, in a sleep, at a lock. */
static void *work(void *number)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const struct timespec pause = {0, 300000};
	bool is_wide = __builtin_cpu_supports("avx");

	own = (unsigned int)(uintptr_t)number;
	shared->threads[own].tid = gettid();
	shared->ready++;
	while (!shared->is_over) {
		look(is_wide);
		if (own == 0 && is_in_coroutine && !is_below_as_it_was(__builtin_frame_address(0)))
			fault("memory below its stack has changed");
		pthread_mutex_lock(&mutex);
		shared->threads[own].turns++;
		pthread_mutex_unlock(&mutex);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static unsigned long turns_of_others(void)
{
	unsigned long sum = 0;

	for (unsigned int i = 1; i < TARGET_THREADS; i++)
		sum += shared->threads[i].turns;
	return sum;
}

/* The functions that are called. */
long called(long a, long b, long c, long d, long e, long f);
long called_alone(long a, long b, long c, long d, long e, long f);

long called(long a, long b, long c, long d, long e, long f)
{
	errno = 1;
	shared->calls++;
	return a + b + c + d + e + f;
}

long called_alone(long a, long b, long c, long d, long e, long f)
{
	unsigned long sum = turns_of_others();

	for (volatile int i = 0; i < ALONE_LOOKS; i++)
		if (turns_of_others() != sum)
			break;
	if (turns_of_others() != sum)
		fault("others went on during a call that is alone");
	return called(a, b, c, d, e, f);
}

static void first(void)
{
	work(NULL);
}

static void work_in_coroutine(void)
{
	ucontext_t inner, outer;

	is_in_coroutine = true;
	memset(coroutine, CANARY, sizeof coroutine);
	getcontext(&inner);
	inner.uc_stack.ss_sp = coroutine;
	inner.uc_stack.ss_size = sizeof coroutine;
	inner.uc_link = &outer;
	makecontext(&inner, first, 0);
	swapcontext(&outer, &inner);
}

static void first_in_handler(int signal)
{
	(void)signal;
	first();
}

static void work_in_handler(void)
{
	const struct sigaction action = {.sa_handler = first_in_handler, .sa_flags = SA_ONSTACK};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	static char other[1 << 18];
	const stack_t alternate = {.ss_sp = other, .ss_size = sizeof other};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	pthread_t threads[TARGET_THREADS];

	if (argc != 3)
		return 2;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, (int)strtol(argv[1], NULL, 10), 0);
	if (shared == MAP_FAILED)
		return 2;
	sigaction(TARGET_SIGNAL, &action, NULL);
	action.sa_handler = counter;
	sigaction(SIGRTMIN, &action, NULL);
	for (uintptr_t i = 1; i < TARGET_THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) /* NOLINT(performance-no-int-to-ptr) */
			return 2;
	sigaltstack(&alternate, NULL);
	if (strcmp(argv[2], "handler") == 0)
		work_in_handler();
	else
		work_in_coroutine();
	for (unsigned int i = 1; i < TARGET_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
