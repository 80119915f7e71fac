/* signals.c - handlers that run the very functions they interrupt, by a timer (anywhere) and by raise. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile unsigned sum;
static volatile sig_atomic_t ticks;

__attribute__((noinline)) static unsigned work(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++) {
		if (i % 3 == 0)
			s += i;
		else if (i % 7 == 1)
			s ^= i;
		if (i * n % 11 < 4)
			s++;
	}
	return s;
}

__attribute__((noinline)) static unsigned leaf(unsigned n)
{
	return n * 3 + 1;
}

static void on_tick(int n)
{
	(void)n;
	ticks++;
	sum += work(5) + leaf(sum);
	if (ticks % 16 == 0)
		raise(SIGUSR1);
}

static void on_user(int n)
{
	for (int i = 0; i < 3; i++)
		sum += work((unsigned)n) + leaf(3);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 300}, {0, 300}};
	sigaction(SIGALRM, &action, NULL);
	signal(SIGUSR1, on_user);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < 500) {
		sum += work(30);
		sum += leaf(sum);
	}
	every = (struct itimerval){0};
	setitimer(ITIMER_REAL, &every, NULL);
	return 0;
}
