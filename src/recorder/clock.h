/* clock.h - times in nanoseconds. Safe in signal handlers. */
#ifndef WM_RECORDER_CLOCK_H
#define WM_RECORDER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t wmrt_clock_ns(clockid_t clock)
{
	struct timespec ts = {0, 0};

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* CLOCK_MONOTONIC: the clock of recorded times. */
static inline uint64_t wmrt_now_ns(void)
{
	return wmrt_clock_ns(CLOCK_MONOTONIC);
}

#endif
