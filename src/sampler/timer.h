/* timer.h - samples of this thread, at a rate of its CPU time. */
#ifndef WM_SAMPLER_TIMER_H
#define WM_SAMPLER_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "native/thread_timer.h"

struct sampler_timer {
	uint64_t clock_number; /* perf's, by which its descriptor is known */
	int clock_fd;
	bool is_clock;
	uint32_t ticks;            /* of the clock, since the watch has looked */
	struct thread_timer posix; /* is_clock: the watch */
	bool is_user;              /* the clock ticks in user mode alone */
	bool is_given;             /* started, and neither stopped nor forgotten */
};

enum sampler_tick {
	TICK_SAMPLE,
	TICK_WATCH, /* no sample: sampler_timer_watch is to be called */
	TICK_REST, /* a sample if none has been taken for a period: the clock ticks in user mode alone. sampler_timer_watch from time to time */
	TICK_WALL, /* of the clock on the wall (look.h) */
};

/*
 * on_tick is called with all signals blocked, on the stack that the signal came on. Before the first timer, or while there is none.
 *
 * clock_fd: the descriptor of the clock that ticks, as its owner has it; -1: none.
 *
 * hz: 0: threads have no timer; starting one only makes sure that ticks can come.
 *
 * is_guest: the process may execute programs without telling. A tick of a clock that waits then would end the program that is executed; a
 * tick in user mode does not wait, and those of timers go with the program that is replaced.
 */
typedef void (*sampler_tick_fn)(ucontext_t *context, enum sampler_tick what, int clock_fd);
bool sampler_timer_init(uint32_t hz, bool is_guest, sampler_tick_fn on_tick);
/* Of any thread of the process. */
bool sampler_timer_start(struct sampler_timer *timer, uint32_t tid);
/* Sends the thread a tick of that kind, as a timer does: one that waits goes with a program that is replaced. False: the kernel queues none, or there is no
 * such thread. */
bool sampler_timer_send(uint32_t tid, enum sampler_tick what);
/* The time that samples of that thread are of. */
uint64_t sampler_timer_time_of(uint32_t tid);
/*
 * One tick of a thread, when it next runs outside of the kernel for a moment: it interrupts no system call. The descriptors are those of the thread that
 * sets it.
 */
struct sampler_alarm {
	int fd;
	uint32_t tid;
	bool is_open;
};
/* False: the kernel gives no such clock. */
bool sampler_alarm_set(struct sampler_alarm *alarm, uint32_t tid);
void sampler_alarm_clear(struct sampler_alarm *alarm);
/* At each tick of this thread: so many that were not handled stop the clock until the watch finds it. */
void sampler_timer_go_on(struct sampler_timer *timer);
/* Looks whether the clock of this thread still ticks. */
void sampler_timer_watch(struct sampler_timer *timer);
/* Of any thread. */
void sampler_timer_stop(struct sampler_timer *timer);
/* No thread has a timer: what sampler_timer_init did to actions of signals, but TICK_SIGNAL's. */
void sampler_timer_give_back(void);
/* In a forked child: the timer is its parent's. */
void sampler_timer_forget(struct sampler_timer *timer);

#endif
