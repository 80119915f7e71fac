/*
 * inject.h - stops a live process and makes its first thread call functions there; x86-64 Linux.
 *
 *      inject_open          may it be traced; its ELF images and call frame information
 *      inject_stop          every thread stands still (PTRACE_SEIZE: no signal that anybody sees), or why not
 *      inject_is_safe       is every thread where a call of dlopen by the first one does no harm?
 *      inject_begin         a stack of its own for calls, all signals blocked
 *      inject_call ...
 *      inject_end           registers, vector registers, errno and mask as they were
 *      inject_go            every thread goes on; a system call that was interrupted is made again by the kernel, with what is left of
 *                           its time
 *      inject_close         the same, for good
 *
 * The process survives the death of the tracer at any instant (inject_call.c). It does not stand still for longer than INJECT_LIMIT_NS:
 * the caller asks inject_left_ns before it begins a call, and calls look at that time themselves.
 *
 * Functions return an error whose message says what and of which process; ERROR_NOT_FOUND: the process has ended. One thread of this
 * process uses it, for one process at a time: ptrace belongs to the thread, and every child is taken for a thread of the process.
 */
#ifndef WM_SNAPSHOT_INJECT_H
#define WM_SNAPSHOT_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum {
	INJECT_REGISTERS = 27, /* struct user_regs_struct */
	INJECT_ARGUMENTS = 6,
	INJECT_LIMIT_NS = 50000000,
};

/* A system call with a limit of time that the kernel gives up for a stop (inject_restart.c). */
struct inject_wait {
	uint64_t call, sp, value; /* value: what was written as its limit */
	uint64_t end_ns;          /* on CLOCK_MONOTONIC */
};

struct inject_thread {
	pid_t tid;
	uint64_t registers[INJECT_REGISTERS]; /* while it stands still */
	uint64_t mask;                        /* of signals; from inject_begin on */
	bool is_in_the_way;                   /* it is to go on a little */
	bool is_running;
	bool is_asked;     /* to stop, and has not yet */
	bool is_looked_at; /* by inject_is_safe since it stopped */
	bool is_stuck;     /* it did not stop, and was in state D */
	bool is_parked;
	uint64_t crossing_at, crossing_sp; /* of its crossing (inject_call.c) */
	uint64_t turns;                    /* before it went on a little */
	unsigned int unsafe_looks;         /* of inject_is_safe, in a row */
	const char *why;                   /* of the last look; NULL: it is safe */
	struct inject_wait wait;
};

struct inject {
	pid_t pid;
	struct inject_thread *threads; /* the first one is the main thread */
	size_t thread_count, thread_capacity;
	bool is_stopped;
	struct inject_private *own;
};

struct error *inject_open(pid_t pid, struct inject *ret);
/* *ret: NULL if all of them stand still, else why they do not; then they go on. */
struct error *inject_stop(struct inject *in, const char **ret);
/* Lets the threads that are in the way run for a moment and stops them again; as inject_stop. */
struct error *inject_step(struct inject *in, const char **ret);
/* All threads run, for at least so long. */
struct error *inject_go(struct inject *in, uint64_t ns);
/* It has ended, or is on its way out: what cannot be done in it then is for no other reason. */
bool inject_is_ending(pid_t pid);
/* How much longer the process may stand still. */
uint64_t inject_left_ns(const struct inject *in);
uint64_t inject_now_ns(void);
/* Threads that hold a lock of the loader, the allocator or the like are in the way; those whose stack does not say so, too, where
 * is_certain. *ret: NULL if none is, else what the one does that has been in the way for longest: "memory is being allocated". */
struct error *inject_is_safe(struct inject *in, bool is_certain, const char **ret);
/* Said by it of a stack without unwind tables. */
extern const char inject_hides[];
/* All threads were made by the C library, which has a record of each where its %fs is. */
bool inject_has_c_threads(struct inject *in);
/* The address of a function of the image whose file name begins so; 0: there is none. */
uint64_t inject_find(struct inject *in, const char *image, const char *function);
/* Some image's file name begins so. */
bool inject_has_image(struct inject *in, const char *image);
/* Reads which images there are; slow, so while the process runs. */
struct error *inject_read_images(struct inject *in);

struct error *inject_begin(struct inject *in);
/*
 * is_alone: the other threads stay where they are until it returns, even if the tracer dies meanwhile. Without is_alone they go on after
 * some time, for what the call may wait for. A call that takes very long is an error and is left to itself: it ends without the tracer,
 * and the process can only be closed.
 */
struct error *inject_call(struct inject *in, uint64_t function, const uint64_t arguments[INJECT_ARGUMENTS],
			  bool is_alone, uint64_t *ret);
/* Room on the stack of calls that stays until inject_end; 0: there is none left. */
uint64_t inject_room(struct inject *in, size_t len_bytes);
struct error *inject_write(struct inject *in, uint64_t address, const void *bytes, size_t len_bytes);
struct error *inject_read(struct inject *in, uint64_t address, void *bytes, size_t len_bytes);
struct error *inject_end(struct inject *in);

/* Also ends calls, and lets the process go on. */
void inject_close(struct inject *in);

#endif
