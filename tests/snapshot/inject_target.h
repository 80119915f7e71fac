/*
 * inject_target.h - what inject_target.c and test_inject.c share: a page of memory of a file without a name, whose descriptor is the
 * program's first argument.
 */
#ifndef WM_TESTS_INJECT_TARGET_H
#define WM_TESTS_INJECT_TARGET_H

#include <signal.h>
#include <stdatomic.h>

enum {
	TARGET_THREADS = 6, /* the first one with them */
	TARGET_SIGNAL = SIGUSR2,
	TARGET_SUM = 21, /* of the arguments that `called` expects: 1 to 6 */
};

struct target_shared {
	atomic_uint ready;
	atomic_bool is_over;
	atomic_ulong calls;  /* that were made from outside and have ended */
	atomic_ulong faults; /* what a thread has found changed */
	char fault[128];     /* the last one */
	struct {
		atomic_int tid;
		atomic_ulong turns, handled, counted;
	} threads[TARGET_THREADS];
};

#endif
