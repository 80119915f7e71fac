/*
 * left.c - longjmp and siglongjmp leave the function that called setjmp in the middle of its own paths: in loops, branches, a
 * switch, after a computed goto, behind several calls of setjmp, from a handler and from a fault, again and again.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf env, other;
static sigjmp_buf signal_env;
static volatile int sum, calls, fires;
static int *volatile nowhere;

/* Jumps every so often, from one frame further down or two. */
__attribute__((noinline)) static int may_jump(int n)
{
	calls++;
	if (calls % 7 == 3)
		longjmp(env, 1 + calls % 3);
	return n + 1;
}

__attribute__((noinline)) static int deeper(int n)
{
	int here = may_jump(n);
	if (calls % 11 == 5)
		longjmp(env, 4);
	return here;
}

/* The lines of a loop that is left where it is. */
static void loop(int n)
{
	volatile int i = 0;
	volatile int back = setjmp(env);
	if (back > 2)
		sum += back;
	while (i < n) {
		i++;
		if (i % 3 == 0)
			sum += may_jump(i);
		else if (i % 3 == 1)
			sum -= deeper(i);
		sum++;
		switch (i % 5) {
		case 0:
			sum += 2;
			/* fall through */
		case 3:
			sum += deeper(1);
			break;
		case 1:
			continue;
		default:
			sum += 3;
		}
		sum ^= 1;
	}
}

/* Two calls that return twice: the path that is left may have begun behind either. */
static void two(int n)
{
	volatile int i = 0;
	volatile int first = setjmp(env);
	volatile int second = setjmp(other);
	for (; i < n; i++) {
		if (first + second < 3 || i % 4 == 0)
			sum += may_jump(i);
		if (i % 6 == 5) {
			i++;
			longjmp(other, i);
		}
	}
}

/* An interpreter: paths end before its jumps. */
static void interpret(int n)
{
	static void *const targets[] = {&&add, &&call, &&twice, &&done};
	volatile int pc = 0;
	if (setjmp(env) == 2)
		sum += 7;
	goto *targets[pc < n ? pc++ % 3 : 3];
add:
	sum++;
	goto *targets[pc < n ? pc++ % 3 : 3];
call:
	sum += deeper(pc);
	if (sum & 1)
		sum += 3;
	goto *targets[pc < n ? pc++ % 3 : 3];
twice:
	may_jump(1);
	may_jump(2);
	goto *targets[pc < n ? pc++ % 3 : 3];
done:
	sum--;
}

/* A frame that is left with the one that jumps below it: its own paths are unfinished, those of its caller are left. */
__attribute__((noinline)) static void passes(int n)
{
	jmp_buf own;
	if (setjmp(own) == 0 && n % 2)
		longjmp(own, 1);
	for (int i = 0; i < n; i++)
		if (i & 1)
			sum += may_jump(i);
}

static void nested(int n)
{
	volatile int i = 0;
	if (setjmp(env))
		sum++;
	for (; i < n;) {
		i++;
		passes(i % 6);
		if (i % 4 == 1)
			sum += i;
	}
}

static void handler(int n)
{
	siglongjmp(signal_env, n);
}

/* Out of handlers: of a signal that is raised, and of a load that faults. */
static void out_of_handlers(int n)
{
	volatile int i = 0;
	if (sigsetjmp(signal_env, 1) == SIGSEGV)
		fires++;
	while (i++ < n) {
		if (i % 3 == 0)
			raise(SIGUSR1);
		if (i % 7 == 0)
			sum += *nowhere;
		fires += 2;
	}
}

/* More paths than an array has. */
static int many(volatile int n)
{
	volatile int i = 0, bits = 0;
	if (setjmp(env))
		bits ^= calls;
again:
	for (int k = 0; k < 2; k++) {
		if (bits & 1)
			sum++;
		if (bits & 2)
			sum += 2;
		if (bits & 4)
			sum += 3;
		if (bits & 8)
			sum ^= 3;
		if (bits & 16)
			may_jump(1);
		if (bits & 32)
			sum += 4;
		if (bits & 64)
			sum -= 3;
		if (bits & 128)
			deeper(1);
		bits += 37;
	}
	if (++i < n)
		goto again;
	return bits;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler};
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int round = 0; round < 3; round++) {
		loop(60);
		two(20);
		interpret(40);
		nested(30);
		out_of_handlers(40);
		sum += many(30);
	}
	printf("%d %d\n", sum, fires);
	return 0;
}
