/*
 * inject.h - stops a live process and makes its first thread call functions there; x86-64 Linux.
 *
 *      inject_open          ELF images and call frame information of the process
 *      inject_stop          every thread stands still (PTRACE_SEIZE: no signal that anybody sees)
 *      inject_is_safe       is every thread where a call of dlopen by the first one does no harm?
 *      inject_begin         a stack of its own for calls, all signals blocked
 *      inject_call ...
 *      inject_end           registers, vector registers, errno and mask as they were
 *      inject_close         every thread goes on; a system call that was interrupted is made again by the kernel, with
 *                           what is left of its time
 *
 * Functions return an error whose message says what and of which process; ERROR_NOT_FOUND: the process has ended. One thread of this
 * process uses it: ptrace belongs to the thread.
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
};

struct inject_thread {
	pid_t tid;
	uint64_t registers[INJECT_REGISTERS]; /* while it stands still */
	bool is_in_the_way;                   /* it is to go on a little */
	bool is_running;
	unsigned int unsafe_looks; /* of inject_is_safe, in a row */
};

struct inject {
	pid_t pid;
	struct inject_thread *threads; /* the first one is the main thread */
	size_t thread_count, thread_capacity;
	bool is_stopped;
	struct inject_private *own;
};

struct error *inject_open(pid_t pid, struct inject *ret);
struct error *inject_stop(struct inject *in);
/* Lets the threads that are in the way run for about a millisecond, or all of them, and stops them again. */
struct error *inject_run(struct inject *in, bool is_for_all);
/* Threads that hold a lock of the loader, the allocator or the like are in the way; those whose stack does not say so, too, where
 * is_certain. *ret: NULL if none is, else what the one does that has been in the way for longest: "memory is being allocated". */
struct error *inject_is_safe(struct inject *in, bool is_certain, const char **ret);
/* All threads were made by the C library, which has a record of each where its %fs is. */
bool inject_has_c_threads(struct inject *in);
/* The address of a function of the image whose file name begins so; 0: there is none. */
uint64_t inject_find(struct inject *in, const char *image, const char *function);
/* Some image's file name begins so. */
bool inject_has_image(struct inject *in, const char *image);

struct error *inject_begin(struct inject *in);
struct error *inject_call(struct inject *in, uint64_t function, const uint64_t arguments[INJECT_ARGUMENTS],
			  uint64_t *ret);
/* Room on the stack of calls that stays until inject_end. */
uint64_t inject_room(struct inject *in, size_t len_bytes);
struct error *inject_write(struct inject *in, uint64_t address, const void *bytes, size_t len_bytes);
struct error *inject_read(struct inject *in, uint64_t address, void *bytes, size_t len_bytes);
struct error *inject_end(struct inject *in);

/* Also ends calls, and lets the process go on. */
void inject_close(struct inject *in);

#endif
