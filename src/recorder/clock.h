/* clock.h - the clock of recorded times. */
#ifndef WM_RECORDER_CLOCK_H
#define WM_RECORDER_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. Also for signal handlers. */
static inline uint64_t wmrt_now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
