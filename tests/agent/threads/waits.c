/*
 * waits.c - threads in calls that a signal's handler would end with EINTR, while another finds calls: none does, and none that waits for
 * a time returns before its end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "../hazards/probe.h"

enum {
	WAITS = 11,
	LEAST_MS = 150,
	UNTIL_MS = 300, /* longer than the limits of time */
};

static volatile int is_over;
static int ends[2], nothing[2], epoll;
static sem_t never, ready;

__attribute__((noinline)) static long leaf(long x)
{
	return x + 1;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static struct timespec in_ms(long ms)
{
	return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

static struct timespec at_ms(long ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += ms * 1000000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

/* 0: as it is to be. */
__attribute__((noinline)) static int waits(int which)
{
	struct pollfd fd = {.fd = nothing[0], .events = POLLIN}, end = {.fd = ends[0], .events = POLLIN};
	struct timespec ts = in_ms(LEAST_MS), until = at_ms(LEAST_MS);
	struct timeval tv = {0, LEAST_MS * 1000};
	struct epoll_event event;
	fd_set set;
	char byte;

	FD_ZERO(&set);
	FD_SET(nothing[0], &set);
	switch (which) {
	case 0:
		return poll(&fd, 1, LEAST_MS);
	case 1:
		return poll(&end, 1, -1) - 1;
	case 2:
		return epoll_wait(epoll, &event, 1, LEAST_MS);
	case 3:
		return nanosleep(&ts, NULL);
	case 4:
		return clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	case 5:
		return usleep(LEAST_MS * 1000);
	case 6:
		return select(nothing[0] + 1, &set, NULL, NULL, &tv);
	case 7:
		return ppoll(&fd, 1, &ts, NULL);
	case 8:
		return sem_timedwait(&never, &until) + (errno == ETIMEDOUT);
	case 9:
		return nanosleep(&ts, &ts);
	default:
		return (int)read(ends[0], &byte, 0);
	}
}

static void *wait_once(void *argument)
{
	long start = now_ms();
	int which = (int)(long)argument, got;

	sem_post(&ready);
	errno = 0;
	got = waits(which);
	PROBE();
	if (got != 0)
		fprintf(stderr, "wait %d returned %d, %s\n", which, got, strerror(errno));
	return (void *)(long)(got == 0 && (which == 1 || which > 9 || now_ms() - start >= LEAST_MS - 1));
}

#define CALL(n)                                                     \
	__attribute__((noinline)) static long call_##n(long x)      \
	{                                                           \
		return leaf(x + (n)) + leaf(x * 2) + leaf(x) + (n); \
	}
#define CALLS(n) CALL(n##0) CALL(n##1) CALL(n##2) CALL(n##3) CALL(n##4) CALL(n##5) CALL(n##6) CALL(n##7)
CALLS(1)
CALLS(2)
CALLS(3)
CALLS(4)
CALLS(5)
CALLS(6)
CALLS(7)
CALLS(8)
#define NAMES(n) call_##n##0, call_##n##1, call_##n##2, call_##n##3, call_##n##4, call_##n##5, call_##n##6, call_##n##7

static long (*const calls[])(long) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), NAMES(8)};

int main(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	pthread_t threads[WAITS];
	size_t next = 0, count = sizeof calls / sizeof *calls;
	long start, got = 0, right = 0;

	if (pipe(ends) || pipe(nothing))
		return 1;
	epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, nothing[0], &event);
	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	for (long i = 0; i < WAITS; i++)
		pthread_create(&threads[i], NULL, wait_once, (void *)i);
	for (int i = 0; i < WAITS; i++)
		sem_wait(&ready);
	/* Some calls at a time, all along. */
	for (start = now_ms(); now_ms() - start < UNTIL_MS; usleep(500))
		while ((size_t)(now_ms() - start) * count / UNTIL_MS >= next && next < count)
			got += calls[next++](3);
	for (int i = 0; i < 2; i++)
		if (write(ends[1], "x", 1) != 1)
			return 1;
	for (int i = 0; i < WAITS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		right += (long)one;
	}
	printf("%ld %d\n", right, got > 0);
	return 0;
}
