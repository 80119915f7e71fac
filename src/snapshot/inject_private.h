/* inject_private.h - shared by inject.c (ptrace) and inject_images.c (elfutils). */
#ifndef WM_SNAPSHOT_INJECT_PRIVATE_H
#define WM_SNAPSHOT_INJECT_PRIVATE_H

#include <elfutils/libdwfl.h>
#include <signal.h>

#include "snapshot/inject.h"

/* Places in registers[]. */
enum {
	INJECT_RBX = 5,
	INJECT_R10 = 7,
	INJECT_R9 = 8,
	INJECT_R8 = 9,
	INJECT_RAX = 10,
	INJECT_RCX = 11,
	INJECT_RDX = 12,
	INJECT_RSI = 13,
	INJECT_RDI = 14,
	INJECT_ORIG_RAX = 15,
	INJECT_RIP = 16,
	INJECT_CS = 17,
	INJECT_FLAGS = 18,
	INJECT_RSP = 19,
	INJECT_FS_BASE = 21,
};

struct inject_private {
	Dwfl *dwfl;
	int memory_fd;
	/* Between inject_begin and inject_end, of the first thread: */
	bool is_begun;
	uint64_t saved[INJECT_REGISTERS];
	char *vectors; /* XSAVE area */
	size_t vectors_bytes, vectors_capacity;
	uint64_t mask;
	uint64_t stack, room; /* of calls: its low end; where the next room ends. 0: the thread's own is used */
	uint64_t errno_at;
	int32_t saved_errno;
	int held_signal; /* came meanwhile and cannot be blocked */
	sigset_t own_mask;
};

struct error *inject_images_open(struct inject *in);
void inject_images_close(struct inject *in);

#endif
