/*
 * client.h - what records contexts, counts and other things through the recorder, which calls its clients by their table and includes none of them.
 */
#ifndef WM_RECORDER_CLIENT_H
#define WM_RECORDER_CLIENT_H

#include <stdatomic.h>
#include <stdint.h>

/* A client's bytes in the record of each thread (thread.h), zero in a new record. A later thread that takes the record over finds
 * what the earlier one left there. */
struct wmrt_client_slot {
	uint32_t len_bytes;
	_Atomic uint32_t off; /* in the record; the recorder writes it before it makes the first record */
};

/* Members may be NULL. */
struct wmrt_client {
	struct wmrt_client_slot *slot;
	uint32_t first_units; /* of the first chunks, which every file has that it records in: they are made with the file */
	void (*start)(void);            /* in the recorder's constructor */
	void (*attach)(void);           /* at its end: recording is possible from here on */
	uint32_t (*header_flags)(void); /* WMK_FLAG_* of a new file; under the lock */
	/* What the process has recorded in its file, if that is all in chunks of this client. Under the lock. */
	uint64_t (*count_calls)(void);
	void (*begin_file)(void); /* writes into a new file what a forked child has inherited; under the lock */
	/* The process ends, as exit() or _exit() was called, also by a handler; before the file says so. Not under the lock. */
	void (*end)(void);
	void (*image_added)(void); /* the program has an image that was built with Waymark; not under the lock */
	void (*after_fork)(void);  /* in a child that has noticed the fork; not under the lock */
};

/* Those of this program, NULL behind the last one. The code that links the recorder with its clients defines it. */
extern const struct wmrt_client *const wmrt_clients[] __attribute__((visibility("hidden")));

#endif
