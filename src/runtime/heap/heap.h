/*
 * heap.h - the heap client's records, and whose contexts they are: compiled into the runtime and into the agent, each of which says
 * what the context of a call of the allocator is.
 */
#ifndef WM_RUNTIME_HEAP_HEAP_H
#define WM_RUNTIME_HEAP_HEAP_H

#include <stdbool.h>

#include "recorder/client.h"
#include "recorder/memo.h"
#include "waymark/runtime.h"
#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

extern const struct wmrt_client wmrt_heap;       /* tells libwaymark-heap.so of this copy */
extern const struct wmrt_client wmrt_heap_files; /* what recordings have of the heap */
extern const struct wm1_heap_records wmrt_heap_records __attribute__((visibility("hidden")));

/* Not the preemptible names: wm1_heap_start and so on of this copy. */
#define WMRT_HEAP_OWN(name) extern __typeof(wm1_heap_##name) wmrt_own_heap_##name __attribute__((visibility("hidden")))
WMRT_HEAP_OWN(start);
WMRT_HEAP_OWN(alloc);
WMRT_HEAP_OWN(alloc_from);
WMRT_HEAP_OWN(take);
WMRT_HEAP_OWN(put_back);
WMRT_HEAP_OWN(freed);

/* The context of the allocation: that of foreign code. return_address: NULL where it is not known. Signal-safe; no malloc. Its
 * prefix is WM_PREFIX_LOST where it cannot be found. *ret_is_settled: it was found from what wmrt_heap_point says alone. */
wm_context wmrt_heap_context(const void *return_address, enum wm1_heap_function function, bool *ret_is_settled);
/* What the context of that call is a function of; the last 8 bits of the last word are 0. False: nothing is known that it is one of. Signal-safe. */
bool wmrt_heap_point(const void *return_address, enum wm1_heap_function function, struct wmrt_memo_key *ret);

/* For an agent that comes and leaves: begins in a new recording, where blocks from before are not known; false: that cannot be
 * written. Other threads stand still, none of them in here. */
bool wmrt_heap_begin(void);
/* Ends recording: later calls are ignored. */
void wmrt_heap_end(void);
/* Brings what is known of a block nearer, for a call of the records that comes soon. */
void wmrt_heap_prefetch(const void *block);
/* Around work of the client's own at the start, whose allocations are none of the program's. */
void wmrt_heap_pause(void);
void wmrt_heap_resume(void);

/* Their names, in the initializer of an array. */
#define WM1_HEAP_FUNCTION_NAMES                                                                                     \
	[WM1_HEAP_MALLOC] = "malloc", [WM1_HEAP_CALLOC] = "calloc", [WM1_HEAP_REALLOC] = "realloc",                 \
	[WM1_HEAP_REALLOCARRAY] = "reallocarray", [WM1_HEAP_POSIX_MEMALIGN] = "posix_memalign",                     \
	[WM1_HEAP_ALIGNED_ALLOC] = "aligned_alloc", [WM1_HEAP_MEMALIGN] = "memalign", [WM1_HEAP_VALLOC] = "valloc", \
	[WM1_HEAP_PVALLOC] = "pvalloc"

#endif
