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

enum {
	WM1_RUN_PAGE_BYTES = 4096,
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
};

#endif
