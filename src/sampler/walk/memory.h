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

/* Copies of code, for as long as a walk. All zero is empty. */
enum {
	MEMORY_WINDOWS = 8, /* a power of two */
	MEMORY_WINDOW_BYTES = 512,
};

struct memory_windows {
	uintptr_t at[MEMORY_WINDOWS]; /* 0: none */
	uint8_t bytes[MEMORY_WINDOWS][MEMORY_WINDOW_BYTES];
};

void memory_forget(struct memory_windows *w);
/* Copies of the bytes from an address on, at most len_bytes of them; how many there are. */
size_t memory_code(struct memory_windows *w, uintptr_t from, uint8_t *to, size_t len_bytes);

#endif
