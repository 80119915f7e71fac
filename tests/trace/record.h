/*
 * record.h - what the pass of record_pass.cpp calls, and the file that record.c writes and compare.py reads.
 *
 * Each thread appends to a log of its own in a file that is mapped shared, so all that happened is there whatever ended the
 * process. A log is replayed into a stack of activations, each with all blocks it went through: the truth about every frame. No
 * numbers of paths anywhere, nor anything read from the stopped program: this is the oracle for those.
 */
#ifndef WMRECORD_H
#define WMRECORD_H

#include <stdint.h>

/* In the program's data; constant but for `number`. */
struct wmrec_function {
	const char *name; /* as in the module */
	uint32_t block_count;
	uint32_t back_count;
	const uint32_t *back; /* pairs from, to: edges on which a path ends */
	uint64_t number;      /* offset of its record in the file, 0: not known yet */
};

enum wmrec_kind {
	WMREC_NOTHING = 0, /* is being written */
	WMREC_ENTER, /* what: record of the function / 16; id: canonical frame address. The activation is the event's number + 1 */
	WMREC_BLOCK, /* what: block; id: activation */
	WMREC_CALL,  /* what: number of the call in the function; id: activation. Just before it */
	WMREC_END,   /* what: enum wmrec_end; id: activation */
};

enum wmrec_end {
	WMREC_RETURN = 0,
	WMREC_TAIL,  /* returns by a call that may run without this frame */
	WMREC_TWICE, /* a path ends: before a call that returns twice */
	WMREC_JUMP,  /* a path ends: before a computed goto or what is like it */
	WMREC_AGAIN, /* a path begins: behind a call that returned, maybe not for the first time */
};

struct wmrec_event { /* 16 bytes */
	uint32_t kind;
	uint32_t what;
	uint64_t id;
};

uint64_t wmrec_enter(struct wmrec_function *f, const char *return_address);
void wmrec_block(uint64_t activation, uint32_t block);
void wmrec_call(uint64_t activation, uint32_t call);
void wmrec_end(uint64_t activation, uint32_t how);

enum {
	WMREC_THREADS = 16,
};
#define WMREC_NAMES_OFF (UINT64_C(1) << 12)
#define WMREC_LOGS_OFF (UINT64_C(1) << 26)
#define WMREC_LOG_BYTES (UINT64_C(1) << 28) /* sparse */
#define WMREC_FILE_BYTES (WMREC_LOGS_OFF + WMREC_THREADS * WMREC_LOG_BYTES)

struct wmrec_thread {
	uint64_t tid; /* 0: nobody's */
	uint64_t event_count;
};

struct wmrec_file {
	uint64_t names_used_bytes;
	uint64_t functions; /* offset of the newest record */
	struct wmrec_thread threads[WMREC_THREADS];
};

struct wmrec_record { /* 16-byte aligned */
	uint64_t next;
	uint32_t block_count;
	uint32_t back_count;
	uint32_t back[]; /* pairs; and then the name with its NUL */
};

#endif
