/*
 * waits.h - time by the clock: all of a thread's time ("wall"), and that in which it neither used a CPU nor waited for one ("off-cpu").
 *
 * The helper (helper.h) looks at each thread a number of times a second. A thread that has used CPU time since its last walk gets a tick, which walks
 * its stack; one that has used none has the same stack as then, and its time is added to that context without a tick. So a wait is interrupted
 * at most once, and only if the program does not see it (blocked.h).
 */
#ifndef WM_SAMPLER_WAITS_H
#define WM_SAMPLER_WAITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop
#include "sampler/timer.h"
#include "waymark/wmk.h"

/*
 * A thread. What has been counted, and the walk, belong to the thread from the time that a tick is sent until its walk is over, else to the helper.
 */
struct waits_thread {
	struct waits_thread *next; /* in the list of all, which only grows */
	bool is_listed;
	_Atomic uint32_t tid;  /* 0: nobody looks at it */
	_Atomic uint32_t life; /* how many threads have had this */
	_Atomic uint32_t walks, sent;
	/* counted so far */
	uint64_t wall_ns, cpu_ns, delay_ns; /* up to these times; delay_ns: that it has waited for a CPU */
	uint64_t off_ns;                    /* not in any event yet: the thread was not seen to wait */
	/* of the last walk */
	wm_context context;
	bool has_context;
	bool is_behind_call; /* it interrupted a system call, or came at its end */
	uint64_t sp, pc;
	uint64_t begun_ns, begun_cpu_ns; /* when the walk was begun */
	uint64_t end_cpu_ns;             /* the thread's CPU time at its end */
	uint64_t cost_ns;                /* CPU time that it took */
	/* the helper's own */
	uint32_t life_seen, walks_seen;
	bool was_blocked, was_in_call; /* when the tick was sent */
	bool has_alarm;                /* the tick comes when the thread runs */
	struct sampler_alarm alarm;
	bool is_waiting; /* in the context, since its CPU time was: */
	uint64_t waiting_cpu_ns;
	uint64_t changed_ns, due_ns;
	struct waits_event {
		struct wmk_event *event; /* which has the time of this wait */
		uint32_t chunk;          /* number of the helper's chunk that it is in */
	} wall, off;
};

/* What is asked for: looks in a second. 0: not that. Once, before all others. */
struct waits_rates {
	uint32_t wall_hz, off_cpu_hz;
};
/* look_for_threads: the helper calls it from time to time; NULL: threads come by themselves. */
bool waits_init(const struct waits_rates *rates, void (*look_for_threads)(void));
bool waits_is_on(void);
uint64_t waits_period_ns(void);
/* The helper begins. False: there is no thread for it. */
bool waits_start(void);
/* It ends, and all time up to now is in the recording. */
void waits_end(void);
/* A thread begins, or is found: its time from now on counts. */
void waits_begin(struct waits_thread *w, uint32_t tid);
void waits_leave(struct waits_thread *w);
/* In a forked child. */
void waits_forget(struct waits_thread *w);

/* In a tick of the thread, before its registers are changed. */
void waits_interrupted(struct waits_thread *w, const ucontext_t *context);
/* In a TICK_WALL: is a walk wanted? */
bool waits_take(const struct waits_thread *w);
/* It was made. context: NULL: there is no room for it. */
void waits_walked(struct waits_thread *w, const wm_context *context);

/* The helper may have ended, to begin anew by this thread, which got a tick for that. */
void waits_renew(void);

#endif
