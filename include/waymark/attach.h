/*
 * attach.h - what `waymark attach` and the agent in another process say to each other.
 *
 * The command stops the process's threads by ptrace, writes a request into its memory and makes its first thread call wm1_agent_attach or
 * wm1_agent_detach with the request's address, on a stack of its own, with all signals blocked; or wm1_sample_attach or wm1_sample_detach of
 * the sampler, which walks stacks.
 */
#ifndef WAYMARK_ATTACH_H
#define WAYMARK_ATTACH_H

#include <stddef.h>
#include <stdint.h>

enum {
	WM1_ATTACH_VERSION = 6,
	WM1_ATTACH_REGISTERS = 27, /* struct user_regs_struct */
};

enum wm1_attach_result {
	WM1_ATTACH_DONE = 1,
	WM1_ATTACH_AGAIN, /* threads are where code is to be written: let them run a little; all, if none is said to be in the way */
	WM1_ATTACH_ALREADY,     /* the agent works in this process */
	WM1_ATTACH_NOT,         /* it does not */
	WM1_ATTACH_STARTED,     /* it does, and came by `waymark run` */
	WM1_ATTACH_OTHER,       /* the process has another runtime of Waymark's */
	WM1_ATTACH_THREADS,     /* it has a thread that the C library has not made */
	WM1_ATTACH_STACK,       /* a stack cannot be walked to its end */
	WM1_ATTACH_OUTPUT,      /* no file can be made there: error */
	WM1_ATTACH_FAILED,      /* memory or the kernel refused: error */
	WM1_ATTACH_BAD_VERSION, /* of the request */
	WM1_ATTACH_ALLOCATOR,   /* it is a part of the program, or has no room for jumps */
};

struct wm1_attach_thread {
	uint64_t tid;                             /* as the process knows it */
	uint64_t registers[WM1_ATTACH_REGISTERS]; /* in the kernel's order */
	uint64_t is_in_the_way;                   /* on return */
};

struct wm1_attach_request {
	uint32_t version;
	uint32_t result;   /* enum wm1_attach_result */
	int32_t error;     /* an errno, or 0 */
	uint32_t is_last;  /* it has been asked for often */
	uint32_t is_over;  /* detach: the command has given up; the agent stays */
	uint32_t is_query; /* attach: only says whether it is there, by ALREADY, STARTED or NOT */
	uint32_t is_late;  /* on return: not done, since it would have taken longer than left_ns */
	uint64_t left_ns;  /* how long the process may still stand still */
	char options[256];
	char output[4096]; /* attach: the pattern of WAYMARK_OUT, absolute. On return: the recording, empty if there is none */
	uint64_t limit_bytes;
	uint64_t thread_count;
	struct wm1_attach_thread threads[];
};

#endif
