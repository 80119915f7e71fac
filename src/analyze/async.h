/*
 * async.h - functions that may run at any time: handlers of signals and of the end, what code outside was given, and what these call; with threads all.
 * What they store can be read by any code, and they can read what any code has stored.
 */
#ifndef WM_ANALYZE_ASYNC_H
#define WM_ANALYZE_ASYNC_H

#include "analyze/memory.h"

/* A call that makes code outside a handler, which is as if the call ran at any time from then on. */
static inline bool async_is_call(const struct memory *m, uint32_t call)
{
	return m->calls_foreign[call] && m->calls_library[call];
}

/* runs: [block], NULL: all. ret: [function], all false before. *ret_some: there are such functions, or calls. */
struct error *async_find(const struct memory *m, const bool *runs, bool has_threads, bool *ret, bool *ret_some);

#endif
