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

struct async {
	const struct memory *memory;
	bool *functions; /* [function] it may run at any time; with threads all may */
	bool is_some;    /* there are such functions, or calls that make one */
};

/* runs: [block], NULL: all. The owner deinits, on failure, too. m lives longer than ret. */
struct error *async_find(const struct memory *m, const bool *runs, bool has_threads, struct async *ret);
void async_deinit(struct async *a);

/* The instruction may run at any time, or makes a function run so. */
static inline bool async_may_run(const struct async *a, uint32_t instruction)
{
	return a->functions[code_function_of(a->memory->code, instruction)] || async_is_call(a->memory, instruction);
}

#endif
