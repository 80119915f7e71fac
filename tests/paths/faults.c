/* faults.c - functions that end by a fault: the handler jumps out of them, or the process dies of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf env;
static volatile int sum;

__attribute__((noinline)) static int get(const volatile int *p)
{
	return *p;
}

__attribute__((noinline)) static int divide(int a, int b)
{
	return a / b;
}

__attribute__((noinline)) static int two(const volatile int *p, int n)
{
	if (n & 1)
		return *p + 1;
	return n;
}

static void handler(int n)
{
	siglongjmp(env, n);
}

int main(void)
{
	int value = 5;
	signal(SIGSEGV, handler);
	signal(SIGFPE, handler);
	for (volatile int i = 0; i < 6; i++) {
		if (sigsetjmp(env, 1)) {
			sum++;
			continue;
		}
		sum += get(i & 1 ? &value : NULL);
		sum += divide(i, i - 3);
		sum += two(i & 2 ? &value : NULL, i);
	}
	signal(SIGSEGV, SIG_DFL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(get(NULL));
	waitpid(pid, NULL, 0);
	printf("%d\n", sum);
	return 0;
}
