/*
 * timeline.h - live bytes of the process by time, in HEAP_TIMES records.
 *
 * The window is what the live bytes have to leave before anything is done: a 64th of them more or less, WMK_HEAP_STEP_MIN at least. Then the
 * window is put around them anew, and the last record has its time, live bytes, and the least and most that they were: it is whole
 * at any instant, also when the process is killed. A record lasts for `distance`, then another one begins; after 1024 of them, `distance` is
 * doubled. So a recording has 1024 records for the first 0.1 seconds, and not more than 1024 for each doubling of its time:
 * 15,000 for an hour, and as many megabytes as 0.6.
 *
 * The price for a call is one comparison. Calls that leave the window read the clock: those change a 64th of all that is live.
 */
#ifndef WM_RUNTIME_HEAP_TIMELINE_H
#define WM_RUNTIME_HEAP_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Written by who has left it. The two words may be of different windows: then a step is recorded that is smaller, or one more call comes here. */
struct wmrt_timeline_window {
	_Atomic uint64_t low, span;
};
extern struct wmrt_timeline_window wmrt_timeline_window __attribute__((visibility("hidden")));

static inline bool timeline_is_due(uint64_t live_bytes)
{
	return live_bytes - atomic_load_explicit(&wmrt_timeline_window.low, memory_order_relaxed) >
	       atomic_load_explicit(&wmrt_timeline_window.span, memory_order_relaxed);
}

/* Signal-safe; no malloc. A call beside another one does nothing: the next one that leaves the window comes again. */
void wmrt_timeline_add(uint64_t live_bytes);
/* In a new file. The chunk of before is left: it is the parent's, or of a file that is whole. No other thread is in here. */
void wmrt_timeline_begin(void);

#endif
