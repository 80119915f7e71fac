/*
 * helper.h - a thread of the sampler's own, one in a process. The C library does not know it: nothing that the library does for all threads reaches it,
 * and a program with one thread stays one for the library.
 *
 * It has descriptors of its own, none of the process's: what it opens takes no number away from the program. All signals are blocked in it. It has thread-local storage for the variables of this library and of the program's runtime (host.h), and none
 * of the C library's: it may call the recorder, and nothing that is the C library's but for pure functions.
 */
#ifndef WM_SAMPLER_HELPER_H
#define WM_SAMPLER_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* Once, when host is known and no thread is the helper: reads where thread-local storage is. The dynamic linker's lock is free. */
bool helper_init(void);
/* One caller at a time. fn: all that the helper does. False: the kernel gives no thread. Signal-safe. */
bool helper_start(void (*fn)(void));
/* 0: there is none. */
uint32_t helper_tid(void);
/* In it: until that time has passed, or it is to end. */
void helper_sleep(uint64_t ns);
bool helper_is_to_end(void);
/* Asks it to end. */
void helper_stop(void);
/* Waits until it has ended, for a second at most. Not for the helper. */
void helper_wait(void);
/* In a forked child, where it is not. */
void helper_forget(void);

#endif
