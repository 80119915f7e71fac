/* sample.h - samples of the threads that asked for them. */
#ifndef WM_SAMPLER_SAMPLE_H
#define WM_SAMPLER_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop
#include "sampler/waits.h"

/* Samples in a second; 0: none of that kind. */
struct sample_rates {
	uint32_t cpu_hz; /* of a thread's CPU time */
	struct waits_rates waits;
};
/* HZ, wall=HZ and off-cpu=HZ with commas between them, as WAYMARK_SAMPLE has them. False: none is asked for. */
bool sample_rates_parse(const char *text, struct sample_rates *ret);

/* Once, before main; is_guest: the process runs already, and nothing tells of its threads. */
bool sample_init(const struct sample_rates *rates, bool is_guest);
/* After the first thread has begun. False: the kernel does not give what waits.h needs. */
bool sample_start_waits(void);
/* False before sample_init, and for good after the process has asked for a filter of system calls. */
bool sample_is_on(void);
/* Of this thread, which stands on the prefix `root`. */
bool sample_begin_thread(uint32_t root);
void sample_end_thread(void);
/* The context of the call that has led into this library. False: it is not known, or there is no room for it. Any thread. */
bool sample_here(wm_context *ret);
/* The context of a call of the function `name`, a constant string, that returns to return_address. Else as sample_here. is_check: another walk counts. */
bool sample_call(uintptr_t return_address, const char *name, bool is_check, wm_context *ret);
/*
 * As sample_call, of the allocator's function with that caller, by the thread's trail (trail.h) where that can be: for each allocation.
 * is_checked: beside a walk in full; the recording counts both (samples_checked, samples_agreed).
 */
struct wm1_caller;
bool sample_allocation(const struct wm1_caller *caller, uint32_t function, const char *name, bool is_checked,
		       wm_context *ret);
/* The root of a thread that is created by the call that has led into this library; WM_PREFIX_THREAD where it is not known. */
uint32_t sample_thread_root(void);
/* In a forked child: timers are not inherited, and other threads are not there. A guest does not stay. */
void sample_after_fork(void);
/* This thread is about to execute another program, where the signal of a tick would end it; and has failed to. */
void sample_pause(void);
void sample_resume(void);

/*
 * As a guest: one thread at a time calls these, with all signals blocked. A thread is sampled from the first call on, if it is the C
 * library's: where its %fs is; 0: not known, the thread is new and all its time is its first sample's. look: a number that grows.
 * is_clock_later: its time counts from now on, and its clock starts with the next call, without %fs. False: it has no clock.
 */
bool sample_guest_thread(uint32_t tid, uint32_t look, uintptr_t fs, bool is_clock_later);
/* This thread has thread-local storage of its own of the C library's. Uses none. */
bool sample_guest_is_thread(void);
/* Threads that were not there at that look have ended. */
void sample_guest_end(uint32_t look);
/* All of them stop; a tick that waits does nothing. */
bool sample_guest_stop(void);
/* The thread is in a tick. */
bool sample_guest_is_busy(uint32_t tid);

#endif
