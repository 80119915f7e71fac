/*
 * work.c MODE FLAG - programs that `waymark attach` comes into: each says "ready" where it is to be found, works until the file FLAG is
 * there, and prints what it has seen. Nothing that it prints depends on how long that took.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static const char *flag;
static volatile long sink;
static volatile long failures;

static NOINLINE bool is_over(void)
{
	static unsigned int asked;

	return ++asked % 64 == 0 && access(flag, F_OK) == 0;
}

/* Once. */
static void ready(void)
{
	static bool is_said;

	if (is_said)
		return;
	is_said = true;
	puts("ready");
	fflush(stdout);
}

static NOINLINE long leaf(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += (i * n) ^ (sum >> 3);
	sink += sum;
	return sum & 7;
}

static NOINLINE long inner_a(long n)
{
	return leaf(n) + 1;
}

static NOINLINE long inner_b(long n)
{
	return leaf(n / 2) + inner_a(n) + 1;
}

static long (*volatile const indirect[])(long) = {inner_a, inner_b, leaf};

static NOINLINE void some_work(void)
{
	for (int i = 0; i < 30; i++)
		sink += indirect[i % 3](100 + i) + inner_b(50);
}

/* ---- deep recursion ---- */

static NOINLINE long recurse(long depth)
{
	long below;

	if (depth == 0) {
		ready();
		while (!is_over())
			some_work();
		return 1;
	}
	below = recurse(depth - 1);
	if (depth % 100 == 0)
		some_work();
	return below + 1;
}

static int deep(void)
{
	printf("%ld frames\n", recurse(20000));
	return 3;
}

/* ---- a comparator ---- */

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	sink += leaf(20);
	return (x > y) - (x < y);
}

static int comparator(void)
{
	int numbers[500];

	do {
		for (int i = 0; i < 500; i++)
			numbers[i] = i * 7919 % 500;
		qsort(numbers, 500, sizeof *numbers, compare);
		for (int i = 0; i < 500; i++)
			failures += numbers[i] != i;
		ready();
	} while (!is_over());
	puts("sorted");
	return 4;
}

/* ---- handlers ---- */

static volatile long handled;

static void short_handler(int sig)
{
	int saved = errno;

	(void)sig;
	for (int i = 0; i < 600; i++) /* longer than a tick of the kernel's clock */
		handled += inner_a(20000) >= 0;
	errno = saved;
}

static void long_handler(int sig)
{
	(void)sig;
	ready();
	while (!is_over())
		some_work();
}

/* SIGVTALRM comes all the time, to a handler that was installed before. By CPU time: so there is as much beside it on a loaded machine. */
static void start_signals(void)
{
	struct sigaction action = {.sa_handler = short_handler, .sa_flags = SA_RESTART};
	struct itimerval each = {{0, 40000}, {0, 40000}};

	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &each, NULL);
}

static void check_action(void)
{
	struct sigaction action;

	if (sigaction(SIGVTALRM, NULL, &action) != 0 || action.sa_handler != short_handler ||
	    action.sa_flags & SA_SIGINFO || !(action.sa_flags & SA_RESTART))
		failures++;
}

static NOINLINE void interrupted_work(long n)
{
	if (n > 0) {
		interrupted_work(n - 1);
		sink += n;
		return;
	}
	ready();
	while (!is_over()) {
		some_work();
		check_action();
	}
}

static int signals(void)
{
	start_signals();
	interrupted_work(10);
	puts(handled ? "handled" : "not handled");
	return 5;
}

/* It is found in a handler, on a small alternate stack, that a further handler interrupts. */
static NOINLINE void raise_inside(long n)
{
	if (n > 0) {
		raise_inside(n - 1);
		sink += inner_b(n);
		return;
	}
	raise(SIGUSR1);
}

static int handler(void)
{
	static char stack[1 << 17];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = long_handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	start_signals();
	sigaction(SIGUSR1, &action, NULL);
	raise_inside(5);
	for (int i = 0; i < 200; i++)
		raise_inside(0 * i + 1); /* the flag is there: short */
	puts("came back");
	return 6;
}

/* ---- jumps ---- */

static sigjmp_buf outside;
/* One says what the loader has put there, the other something else since. */
void (*volatile leaves)(sigjmp_buf, int) = siglongjmp;
void (*volatile leaves_otherwise)(sigjmp_buf, int) = siglongjmp;

static NOINLINE void leave_otherwise(sigjmp_buf env, int value)
{
	sink++;
	leaves(env, value);
}

static NOINLINE void jump_from(long depth)
{
	if (depth > 0) {
		jump_from(depth - 1);
		sink++;
		return;
	}
	some_work();
	leaves_otherwise(outside, 1);
}

static int jumps(void)
{
	volatile long landed = 0;

	leaves_otherwise = leave_otherwise;
	ready();
	while (!is_over()) {
		if (sigsetjmp(outside, 1) == 0)
			jump_from(5);
		else
			landed = landed + 1;
		failures += leaves_otherwise != leave_otherwise;
		some_work();
	}
	puts(landed ? "landed" : "never landed");
	return 7;
}

/* ---- coroutines ---- */

static ucontext_t main_context, coroutine_contexts[3];
static volatile bool is_ending;

static void coroutine_body(int number)
{
	for (;;) {
		sink += number;
		some_work();
		swapcontext(&coroutine_contexts[number], &main_context);
	}
}

static NOINLINE void switch_to(int number)
{
	swapcontext(&main_context, &coroutine_contexts[number]);
}

static int coroutines(void)
{
	static char stacks[3][65536];

	for (int i = 0; i < 3; i++) {
		getcontext(&coroutine_contexts[i]);
		coroutine_contexts[i].uc_stack.ss_sp = stacks[i];
		coroutine_contexts[i].uc_stack.ss_size = sizeof stacks[i];
		coroutine_contexts[i].uc_link = &main_context;
		makecontext(&coroutine_contexts[i], (void (*)(void))coroutine_body, 1, i);
	}
	for (int i = 0; i < 3; i++)
		switch_to(i);
	ready();
	while (!is_over())
		for (int i = 0; i < 3; i++)
			switch_to(i);
	puts("switched");
	return 8;
}

/* ---- frames that are gone: who is on the stack was not called by what is outside of it ---- */

static NOINLINE long last_of_chain(long n)
{
	ready();
	while (!is_over())
		some_work();
	return leaf(n);
}

static NOINLINE long middle_of_chain(long n)
{
	sink++;
	return last_of_chain(n + 1);
}

static NOINLINE long begin_chain(long n)
{
	sink += n;
	return middle_of_chain(n * 3);
}

static int tails(void)
{
	sink += begin_chain(3) + 1;
	puts("back");
	return 12;
}

/* ---- a loop that is everywhere in its code ---- */

static NOINLINE long choose(long n)
{
	switch (n % 7) {
	case 0:
		return leaf(1);
	case 1:
		return inner_a(2) * 3;
	case 2:
		return inner_b(3) - 1;
	case 3:
		return indirect[n % 3](n & 3);
	case 4:
		return n ^ 5;
	case 5:
		return leaf(2) + leaf(1);
	default:
		return inner_a(1) + n;
	}
}

static int loop(void)
{
	unsigned long n = 0, sum = 0, expected = 0;

	for (long i = 0; i < 7 * 3 * 4; i++)
		expected += (unsigned long)choose(i);
	ready();
	do {
		sum = 0;
		for (long i = 0; i < 7 * 3 * 4; i++)
			sum += (unsigned long)choose(i);
		failures += sum != expected;
		n++;
	} while (!is_over());
	puts(n ? "looped" : "did not loop");
	return 9;
}

/* ---- system calls ---- */

static int check(const char *what, long got, long wanted)
{
	if (got != wanted)
		printf("%s: %ld, errno %d\n", what, got, errno);
	failures += got != wanted;
	some_work();
	return 10;
}

static int reads(void)
{
	char c[2] = "";

	ready();
	errno = 0;
	check("read", read(0, c, 1), 1);
	printf("%s %d\n", c, errno);
	return 10;
}

static int polls(void)
{
	struct pollfd fd = {.fd = 0, .events = POLLIN};

	ready();
	return check("poll", poll(&fd, 1, 3600000), 1);
}

static int selects(void)
{
	struct timeval limit = {3600, 0};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(0, &set);
	ready();
	return check("select", select(1, &set, NULL, NULL, &limit), 1);
}

static int ppolls(void)
{
	struct pollfd fd = {.fd = 0, .events = POLLIN};
	struct timespec limit = {3600, 0};
	sigset_t mask, before, after;
	long different = 0;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, NULL, &before);
	ready();
	check("ppoll", ppoll(&fd, 1, &limit, &mask), 1);
	sigprocmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < NSIG; sig++) /* the kernel's part of a set; what is behind it is anything */
		different += sigismember(&before, sig) != sigismember(&after, sig);
	return check("the mask", different, 0);
}

static int sleeps(void)
{
	const struct timespec wanted = {3, 0};
	struct timespec before, after, rest = {0, 0};
	long long ns;

	clock_gettime(CLOCK_MONOTONIC, &before);
	ready();
	check("nanosleep", nanosleep(&wanted, &rest), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ns = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
	return check("slept enough", ns >= 3000000000LL, 1);
}

static int semaphores(void)
{
	sem_t *semaphore = mmap(NULL, sizeof *semaphore, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec until;
	char c;

	sem_init(semaphore, 1, 0);
	if (fork() == 0)
		_exit(read(0, &c, 1) != 1 || sem_post(semaphore) != 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3600;
	ready();
	return check("sem_timedwait", sem_timedwait(semaphore, &until), 0);
}

static const struct mode {
	const char *name;
	int (*run)(void);
} modes[] = {
	{"deep", deep},       {"comparator", comparator}, {"signals", signals},
	{"handler", handler}, {"jumps", jumps},           {"loop", loop},
	{"tails", tails},     {"coroutines", coroutines}, {"read", reads},
	{"poll", polls},      {"select", selects},        {"ppoll", ppolls},
	{"sleep", sleeps},    {"semaphore", semaphores},
};

int main(int argc, char **argv)
{
	flag = argc == 3 ? argv[2] : "";
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		int status;

		if (strcmp(modes[i].name, argv[1]) != 0)
			continue;
		status = modes[i].run();
		printf("%ld failures\n", failures);
		return status;
	}
	return 1;
}
