/*
 * actions.c - prints what sigaction, signal and their kin answer and do. Built with and without the runtime; both
 * must print the same (test actions).
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int calls;
static volatile int last_code;
static volatile int was_on_alt;
static char alt_stack[65536];

static void simple(int sig)
{
	calls += sig;
}

static void other(int sig)
{
	calls -= sig;
}

static void full(int sig, siginfo_t *info, void *context)
{
	char here;

	calls += sig;
	last_code = info->si_value.sival_int;
	was_on_alt = (uintptr_t)&here - (uintptr_t)alt_stack < sizeof alt_stack;
	if (!context)
		abort();
	errno = 77;
}

static const char *name_of(void *handler)
{
	if (handler == (void *)SIG_DFL)
		return "default";
	if (handler == (void *)SIG_IGN)
		return "ignore";
	if (handler == (void *)SIG_ERR)
		return "error";
	if (handler == (void *)SIG_HOLD)
		return "hold";
	return handler == (void *)simple  ? "simple"
	       : handler == (void *)other ? "other"
	       : handler == (void *)full  ? "full"
					  : "?";
}

static void show(int sig)
{
	struct sigaction now;
	int rc;

	memset(&now, 0, sizeof now);
	rc = sigaction(sig, NULL, &now);
	printf("  %d: rc %d %s flags %x mask %d%d%d blocked %d\n", sig, rc, name_of((void *)now.sa_handler),
	       (unsigned)now.sa_flags, sigismember(&now.sa_mask, SIGUSR1), sigismember(&now.sa_mask, SIGUSR2),
	       sigismember(&now.sa_mask, SIGBUS), calls);
}

static void set(int sig, void *handler, int flags, int masked)
{
	struct sigaction act, old;
	int rc;

	memset(&act, 0, sizeof act);
	memset(&old, 0, sizeof old);
	act.sa_handler = (void (*)(int))handler;
	act.sa_flags = flags;
	if (masked)
		sigaddset(&act.sa_mask, masked);
	errno = 0;
	rc = sigaction(sig, &act, &old);
	printf("sigaction %d %s: rc %d errno %d old %s %x\n", sig, name_of(handler), rc, rc ? errno : 0,
	       name_of((void *)old.sa_handler), (unsigned)old.sa_flags);
	show(sig);
}

static void send(int sig, int value)
{
	union sigval v = {.sival_int = value};

	calls = last_code = was_on_alt = 0;
	errno = 5;
	sigqueue(getpid(), sig, v);
	printf("sent %d: calls %d value %d alt %d errno %d\n", sig, calls, last_code, was_on_alt, errno);
	show(sig);
}

static void vfork_child(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		signal(SIGUSR1, SIG_DFL);
		signal(SIGUSR2, SIG_IGN);
		signal(SIGHUP, other);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void fork_child(int sig)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		set(sig, (void *)other, 0, 0);
		send(sig, 0);
		signal(sig, SIG_DFL);
		fflush(stdout);
		raise(sig);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child died of %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static void interrupt(int sig, int is_on)
{
	siginterrupt(sig, is_on);
}
#pragma clang diagnostic pop

static void older(void)
{
	sigset_t mask;

	printf("signal: %s\n", name_of((void *)signal(SIGALRM, simple)));
	printf("signal: %s\n", name_of((void *)signal(SIGALRM, other)));
	show(SIGALRM);
	interrupt(SIGALRM, 1);
	show(SIGALRM);
	printf("signal: %s\n", name_of((void *)signal(SIGALRM, simple)));
	show(SIGALRM);
	interrupt(SIGALRM, 0);
	printf("signal: %s\n", name_of((void *)signal(SIGALRM, simple)));
	show(SIGALRM);
	errno = 0;
	printf("signal: %s", name_of((void *)signal(SIGKILL, simple)));
	printf(" errno %d\n", errno);
	printf("signal: %s\n", name_of((void *)signal(1000, simple)));
	printf("sysv: %s\n", name_of((void *)sysv_signal(SIGALRM, other)));
	show(SIGALRM);
	raise(SIGALRM);
	show(SIGALRM);
	printf("ssignal: %s\n", name_of((void *)ssignal(SIGALRM, simple)));
	show(SIGALRM);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
	printf("sigset: %s\n", name_of((void *)sigset(SIGALRM, other)));
	show(SIGALRM);
	printf("sigset: %s\n", name_of((void *)sigset(SIGALRM, SIG_HOLD)));
	sigprocmask(SIG_SETMASK, NULL, &mask);
	printf("held %d\n", sigismember(&mask, SIGALRM));
	printf("sigset: %s\n", name_of((void *)sigset(SIGALRM, simple)));
	sigprocmask(SIG_SETMASK, NULL, &mask);
	printf("held %d\n", sigismember(&mask, SIGALRM));
	show(SIGALRM);
#pragma clang diagnostic pop
}

/* What is blocked of these, as both functions have it. */
static void show_mask(const char *what)
{
	sigset_t mask, same;
	int rc = sigprocmask(SIG_BLOCK, NULL, &mask), rc2 = pthread_sigmask(SIG_BLOCK, NULL, &same);

	printf("%s: rc %d %d bus %d usr1 %d, %d %d\n", what, rc, rc2, sigismember(&mask, SIGBUS),
	       sigismember(&mask, SIGUSR1), sigismember(&same, SIGBUS), sigismember(&same, SIGUSR1));
}

static void mask_with(const char *what, int how, int first, int second)
{
	sigset_t set, old;
	int rc;

	sigemptyset(&set);
	sigemptyset(&old);
	if (first)
		sigaddset(&set, first);
	if (second)
		sigaddset(&set, second);
	errno = 0;
	rc = sigprocmask(how, &set, &old);
	printf("sigprocmask %s: rc %d errno %d old bus %d\n", what, rc, errno, sigismember(&old, SIGBUS));
	rc = pthread_sigmask(how, &set, &old);
	printf("pthread_sigmask %s: rc %d old bus %d\n", what, rc, sigismember(&old, SIGBUS));
	show_mask(what);
}

/* The runtime has this signal for itself. */
static void bus(void)
{
	show(SIGBUS);
	set(SIGBUS, (void *)simple, 0, 0);
	send(SIGBUS, 1);
	set(SIGBUS, (void *)full, SA_SIGINFO | SA_ONSTACK, SIGUSR2);
	send(SIGBUS, 42);
	set(SIGBUS, (void *)full, SA_SIGINFO | SA_RESTART, SIGBUS);
	send(SIGBUS, 43);
	set(SIGBUS, (void *)simple, (int)SA_RESETHAND | SA_NODEFER, 0);
	send(SIGBUS, 0);
	set(SIGBUS, (void *)SIG_IGN, 0, 0);
	send(SIGBUS, 0);
	printf("signal: %s\n", name_of((void *)signal(SIGBUS, simple)));
	printf("sysv: %s\n", name_of((void *)sysv_signal(SIGBUS, other)));
	show(SIGBUS);
	raise(SIGBUS);
	show(SIGBUS);
	fork_child(SIGBUS);
	mask_with("block none", SIG_BLOCK, 0, 0);
	mask_with("block bus", SIG_BLOCK, SIGBUS, 0);
	set(SIGBUS, (void *)simple, 0, 0);
	send(SIGBUS, 0); /* waits */
	mask_with("unblock usr1", SIG_UNBLOCK, SIGUSR1, 0);
	show(SIGBUS);
	mask_with("set usr1", SIG_SETMASK, SIGUSR1, 0);
	show(SIGBUS);
	mask_with("set both", SIG_SETMASK, SIGUSR1, SIGBUS);
	mask_with("unblock both", SIG_UNBLOCK, SIGUSR1, SIGBUS);
	mask_with("wrong", 77, SIGBUS, 0);
	set(SIGUSR1, (void *)simple, 0, SIGBUS);
	set(SIGUSR1, (void *)other, 0, SIGUSR2);
	set(SIGUSR1, (void *)SIG_DFL, 0, SIGBUS);
	set(SIGUSR1, (void *)other, 0, SIGBUS);
	printf("signal: %s\n", name_of((void *)signal(SIGUSR1, simple)));
	show(SIGUSR1);
}

int main(void)
{
	stack_t alt = {.ss_sp = alt_stack, .ss_size = sizeof alt_stack};

	sigaltstack(&alt, NULL);
	show(SIGUSR1);
	set(SIGUSR1, (void *)simple, 0, 0);
	send(SIGUSR1, 1);
	set(SIGUSR1, (void *)full, SA_SIGINFO | SA_ONSTACK, SIGUSR2);
	send(SIGUSR1, 42);
	set(SIGUSR1, (void *)full, SA_SIGINFO | SA_RESTART, SIGUSR2);
	send(SIGUSR1, 43);
	set(SIGUSR2, (void *)simple, (int)SA_RESETHAND | SA_NODEFER, 0);
	send(SIGUSR2, 0);
	set(SIGUSR2, (void *)other, 0, SIGUSR1);
	set(SIGUSR2, (void *)SIG_IGN, 0, 0);
	send(SIGUSR2, 0);
	set(SIGUSR2, (void *)simple, 0, 0);
	set(SIGKILL, (void *)simple, 0, 0);
	set(SIGSTOP, (void *)SIG_IGN, 0, 0);
	set(0, (void *)simple, 0, 0);
	set(-3, (void *)simple, 0, 0);
	set(65, (void *)simple, 0, 0);
	set(32, (void *)simple, 0, 0);
	show(SIGUSR1);
	show(SIGUSR2);
	vfork_child();
	show(SIGUSR1);
	show(SIGUSR2);
	show(SIGHUP);
	send(SIGUSR1, 9);
	fork_child(SIGUSR1);
	send(SIGUSR1, 10);
	older();
	bus();
	return 0;
}
