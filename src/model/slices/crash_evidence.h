/*
 * crash_evidence.h - traces in a stopped program's memory of a write that left its object: what was overwritten, and where the write began.
 *
 *      text       bytes of the value that the fault is about continue a text that begins in another object
 *      fill       or a row of equal bytes
 *      heap       a size in front of a block of the heap cannot be one: what wrote the block before it wrote on
 *      canary     the stack protector found the frame of a function overwritten
 *      neighbour  none of these; it is only known which object lies in front of the value
 *
 * What the fault is about are the values on the line of the frame, where a pointer leads to nothing or bytes are text; where none of them is
 * known, words of memory that have the address. The heap is glibc's, of the main thread, and only of a core.
 */
#ifndef WM_MODEL_SLICES_CRASH_EVIDENCE_H
#define WM_MODEL_SLICES_CRASH_EVIDENCE_H

#include "model/crash/crash_values.h"
#include "snapshot/debug/objects.h"

enum crash_object_kind {
	CRASH_OBJECT_NONE = 0,
	CRASH_OBJECT_STATIC,
	CRASH_OBJECT_FRAME, /* a variable of an activation on the stack; without a name: any of it */
	CRASH_OBJECT_STACK, /* of the stack, of no activation that is there any more */
	CRASH_OBJECT_HEAP,
};

struct crash_object {
	enum crash_object_kind kind;
	const char *name; /* STATIC, FRAME */
	uint32_t frame;   /* FRAME: of the thread's */
	uint64_t address, len_bytes;
};

/* The stronger ones first. */
enum crash_evidence_kind {
	CRASH_EVIDENCE_TEXT,
	CRASH_EVIDENCE_FILL,
	CRASH_EVIDENCE_HEAP,
	CRASH_EVIDENCE_CANARY,
	CRASH_EVIDENCE_NEIGHBOUR,
};

struct crash_evidence {
	enum crash_evidence_kind kind;
	const char *what; /* that was overwritten: an expression of the source; NULL: a word of memory without a name */
	uint64_t value;
	uint64_t address;         /* of what was overwritten; 0: CANARY */
	struct crash_object in;   /* the object that it is in */
	struct crash_object from; /* that the write began in */
	const char *text;         /* its bytes, shortened, as far as they may be shown; NULL */
};
VEC_DECLARE(crash_evidence_vec, struct crash_evidence);

/* Objects of a thread's stack and of the program, rising. */
struct crash_objects {
	struct arena arena;
	struct snapshot_object_vec items;
	uint32_t *frame_of; /* [items.count] frame of the thread; UINT32_MAX: static */
	struct snapshot_heap heap;
};
struct error *crash_objects_create(const struct crash_values *v, uint32_t thread, struct crash_objects *ret);
void crash_objects_deinit(struct crash_objects *o);

/* Texts are the arena's. frame: of the thread, that the criterion is in. shows_text: bytes of memory may be shown. */
struct crash_evidence_request {
	const struct crash_values *values;
	const struct crash_objects *objects;
	uint32_t thread, frame;
	bool shows_text;
	struct arena *arena;
};
struct error *crash_evidence_find(const struct crash_evidence_request *request, struct crash_evidence_vec *ret);

#endif
