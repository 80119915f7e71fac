/*
 * watch.h - finds the threads of a process that the sampler has come to while it runs, where nothing tells of those that begin and end.
 */
#ifndef WM_SAMPLER_WATCH_H
#define WM_SAMPLER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* From now on watch_look looks. The number of the look that the caller makes itself. All signals are blocked, other threads stand still. */
uint32_t watch_begin(void);
/* False: there is no list of threads here, and watch_look looks at nothing. */
bool watch_is_on(void);
/* A look that has begun is not interrupted: it may start clocks until watch_is_looking says no. */
void watch_end(void);
bool watch_is_looking(void);
/* The handlers of signals are as they were. The same, and no tick waits. */
void watch_give_back(void);
/* After each tick: looks if it is time to. Uses no thread-local storage. */
void watch_look(void);
/* The same in the helper (helper.h): finds threads that are new alone, for the clocks of those that have ended are the process's. */
void watch_find(void);

#endif
