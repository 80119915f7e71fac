/*
 * memory.h - memory of the process that may go away while it is read: code that a virtual machine made, stacks of its own.
 *
 * For signal handlers: no allocation, no locks. The kernel copies it (process_vm_readv), so that a reader never faults.
 */
#ifndef WM_SAMPLER_MEMORY_H
#define WM_SAMPLER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A process with a filter of system calls is not read: the filter may end it for that call. It has one that `waymark run` had itself,
 * or the recorder stays out.
 */
void memory_start(void);

/* False: not all of it can be read. */
bool memory_read(uintptr_t from, void *to, size_t len_bytes);

/*
 * Copies of memory, for as long as a walk: parts of pages, by their addresses. Walks from one place read the same code again, so that the first look
 * at what an earlier walk had reads all that the last few walks had by one system call. All zero is empty.
 */
enum {
	MEMORY_WINDOWS = 64,
	MEMORY_WINDOW_BYTES = 512,
};

struct memory_windows {
	uint32_t walk;    /* the number of this walk; earlier copies are stale */
	uint32_t renewed; /* the last one for which stale copies were read again */
	struct {
		uintptr_t at;        /* 0: none */
		uint32_t read, used; /* by which walk at last */
	} windows[MEMORY_WINDOWS];
	uint8_t bytes[MEMORY_WINDOWS][MEMORY_WINDOW_BYTES];
};

/* A walk begins. */
void memory_forget(struct memory_windows *w);
/* Copies of the bytes from an address on, at most len_bytes of them; how many there are. */
size_t memory_copy(struct memory_windows *w, uintptr_t from, uint8_t *to, size_t len_bytes);

#endif
