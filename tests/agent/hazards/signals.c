/* signals.c - handlers that nest, run on an alternate stack, are reset, leave by siglongjmp, and keep errno. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

static volatile int depth, runs;
static sigjmp_buf out;
static char alternate[65536];

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int middle(int n)
{
	int got = leaf(n) + (n > 0 ? middle(n - 1) : 0);

	PROBE();
	return got;
}

__attribute__((noinline)) static void on_usr1(int sig)
{
	errno = 77;
	PROBE();
	runs += middle(2) > 0;
	if (depth++ < 3)
		raise(SIGUSR2);
	PROBE();
	(void)sig;
}

__attribute__((noinline)) static void on_usr2(int sig, siginfo_t *info, void *context)
{
	PROBE();
	runs += middle(1) > 0 && info && context && sig == SIGUSR2;
	if (depth < 3)
		raise(SIGUSR1);
	PROBE();
}

__attribute__((noinline)) static void leaves(int sig)
{
	PROBE();
	if (sig == SIGALRM)
		siglongjmp(out, 5);
	raise(SIGALRM);
}

__attribute__((noinline)) static int raises(int sig)
{
	int got = 0;

	PROBE();
	raise(sig);
	PROBE();
	got += leaf(1);
	return got;
}

__attribute__((noinline)) static int jumped(int sig)
{
	int got = sigsetjmp(out, 1);

	PROBE();
	if (!got)
		raises(sig);
	middle(1);
	PROBE();
	return got;
}

int main(void)
{
	struct sigaction act;
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	int got = 0;

	memset(&act, 0, sizeof act);
	sigaltstack(&stack, NULL);
	signal(SIGUSR1, on_usr1);
	act.sa_sigaction = on_usr2;
	act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigaction(SIGUSR2, &act, NULL);
	errno = 3;
	for (int i = 0; i < 5; i++) {
		depth = 0;
		got += raises(i % 2 ? SIGUSR1 : SIGUSR2);
		PROBE();
	}
	act.sa_handler = leaves;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &act, NULL);
	act.sa_flags = (int)SA_RESETHAND;
	for (int i = 0; i < 4; i++) {
		sigaction(SIGURG, &act, NULL);
		got += jumped(SIGURG) + jumped(SIGALRM);
		PROBE();
	}
	sigaction(SIGURG, NULL, &act);
	printf("%d %d %d %d\n", got, runs, act.sa_handler == SIG_DFL, signal(SIGUSR1, SIG_DFL) == on_usr1);
	return 3;
}
