/* storm.c - many functions are entered for the first time, in new threads, while signals arrive whose handler enters the same
 * ones: the runtime is interrupted in the middle of making their counters. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

#define FUNCTION(n)                                                \
	__attribute__((noinline)) static unsigned f##n(unsigned x) \
	{                                                          \
		if (x & 1)                                         \
			x += n;                                    \
		for (unsigned i = 0; i < (x & 3); i++)             \
			x ^= i << n % 5;                           \
		return x;                                          \
	}
#define EIGHT(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define ALL(m) EIGHT(m, 1) EIGHT(m, 2) EIGHT(m, 3) EIGHT(m, 4) EIGHT(m, 5) EIGHT(m, 6) EIGHT(m, 7)
#define NAME(n) f##n,

ALL(FUNCTION)
static unsigned (*const functions[])(unsigned) = {ALL(NAME)};
enum {
	COUNT = sizeof functions / sizeof *functions,
};

static void on_tick(int n)
{
	ticks++;
	for (unsigned i = 0; i < 5; i++)
		functions[((unsigned)ticks * 7 + i * 3) % COUNT]((unsigned)n + i);
}

static void *thread(void *seed)
{
	unsigned x = (unsigned)(unsigned long)seed;
	for (unsigned i = 0; i < COUNT; i++)
		x = functions[(i * 5 + x) % COUNT](x);
	return NULL;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 50}, {0, 50}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (unsigned long i = 0; ticks < 2000; i += 3) {
		pthread_t t[3];
		for (unsigned long k = 0; k < 3; k++)
			pthread_create(&t[k], NULL, thread, (void *)(i + k));
		for (int k = 0; k < 3; k++)
			pthread_join(t[k], NULL);
	}
	every = (struct itimerval){0};
	setitimer(ITIMER_REAL, &every, NULL);
	return 0;
}
