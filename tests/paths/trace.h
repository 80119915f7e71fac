/*
 * trace.h - what the pass of trace_pass.cpp calls, and the file that trace.c writes and dump.c reads.
 *
 * An activation keeps where it is in a tree of block sequences: one tree a function, a node a block. What happens is counted
 * where it ends. No numbers of paths anywhere: this is the oracle for those.
 */
#ifndef WMTRACE_H
#define WMTRACE_H

#include <stdint.h>

/* Constant but for `record`, in the program's data. */
struct wmtrace_function {
	const char *name; /* link name; of a local function "source file:name" */
	uint32_t back_count;
	uint32_t zero;
	const uint32_t *back; /* pairs from, to */
	uint64_t record;      /* offset of its record in the file, 0: not known yet */
};

/* On the stack of the activation (of a coroutine: on the heap). */
struct wmtrace_activation {
	uint64_t node; /* offset, 0: no path has begun */
	uint64_t from; /* block */
	uint64_t spare[2];
};

enum wmtrace_end {
	WMTRACE_EXIT = 0,
	WMTRACE_TWICE,
	WMTRACE_JUMP, /* the activation goes on with another path */
};

void wmtrace_enter(struct wmtrace_activation *a, struct wmtrace_function *f);
void wmtrace_again(struct wmtrace_activation *a,
		   struct wmtrace_function *f); /* a call returned, maybe not for the first time */
void wmtrace_block(struct wmtrace_activation *a, struct wmtrace_function *f, uint32_t block);
void wmtrace_end(struct wmtrace_activation *a, struct wmtrace_function *f, uint32_t how);

/* The file: all offsets are from its start, 0 is none. Lists grow at their heads. */
struct wmtrace_file {
	uint64_t used_bytes;
	uint64_t functions;
};

struct wmtrace_record {
	uint64_t next;
	uint64_t begun;
	uint64_t finished;
	uint64_t first; /* node: of the paths' first blocks */
	char name[];
};

struct wmtrace_node {
	uint64_t count;   /* paths that ended here */
	uint64_t entered; /* those that came here */
	uint64_t first;   /* of the blocks that came next */
	uint64_t next;
	uint64_t block;
};

#define WMTRACE_FILE_BYTES (UINT64_C(1) << 32) /* sparse */

#endif
