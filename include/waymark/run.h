/*
 * run.h - what `waymark run` shares with the processes that it starts: a number that names this run, which recordings carry, and a page in
 * which processes count what they cannot put into a recording, so that the run can say why there is none.
 *
 * The environment has WAYMARK_RUN=SESSION,PID,FD: the number in hexadecimal, then where the page is, a memfd that `waymark run` holds, in
 * decimal: /proc/PID/fd/FD. Its size is sealed. A process that cannot open it (of another user, in another PID namespace) goes on without.
 */
#ifndef WAYMARK_RUN_H
#define WAYMARK_RUN_H

#include <stdint.h>

#define WM1_RUN_VARIABLE "WAYMARK_RUN"

/* WAYMARK_HEAP=every, or BYTES, or BYTES:SEED: which allocations are recorded in contexts of walks of the stack. */
#define WM1_HEAP_EVERY "every"

enum {
	WM1_RUN_PAGE_BYTES = 4096,
};

/* Why the agent does not come into a program that a process starts. */
#define WM1_MISSED_REASONS(X)                                           \
	X(STATIC, "it is linked statically")                            \
	X(OTHER_LIBC, "it is linked with another C library than glibc") \
	X(OTHER_MACHINE, "it is no x86-64 program")                     \
	X(PRIVILEGED, "it is set-user-ID or set-group-ID")              \
	X(NO_PRELOAD, "its environment has no LD_PRELOAD")

enum wm1_missed_reason {
	WM1_MISSED_NONE,
#define WM1_MISSED_REASON(name, text) WM1_MISSED_##name,
	WM1_MISSED_REASONS(WM1_MISSED_REASON)
#undef WM1_MISSED_REASON
	WM1_MISSED_END,
};

/* Each is changed atomically and only grows, but for the reasons, which the first process to fail writes. */
struct wm1_run_page {
	uint32_t started;       /* processes in which a recorder began, forked ones not counted */
	uint32_t recordings;    /* files that were made */
	uint32_t failures;      /* processes, forked ones too, that could make none */
	uint32_t failure;       /* why the first: an errno value, or of enum wmk_drop */
	uint32_t agents;        /* processes whose agent started */
	uint32_t agents_failed; /* processes whose agent did not start */
	uint32_t agent;         /* why the first: enum wmk_agent */
	uint32_t missed;        /* programs that were started without the agent */
	uint32_t missed_reason; /* why the first: enum wm1_missed_reason */
	char missed_path[1024]; /* its path, as it was started; may be cut, and may not end */
};

#endif
