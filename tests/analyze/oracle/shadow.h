/*
 * shadow.h - test only: what a program that shadow_pass.cpp changed records, in the file that SHADOW_OUT names.
 *
 *      struct shadow_header; nodes from 4096 on, 16 bytes each, node 0 is nobody; at the end the stack, and a byte for each block, which is 1 if it
 *      ran
 *
 * A node depends on nodes in front of it alone, so one way backward through the file is a dynamic slice. The file is mapped: however the program
 * ends, all is there, and the last node is of what it did last. SHADOW_LIMIT nodes (4 million) end the program. A child of fork records nothing.
 */
#ifndef WM_TESTS_ANALYZE_SHADOW_H
#define WM_TESTS_ANALYZE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SHADOW_NODES_AT = 4096,
	SHADOW_STACK = 1 << 20,  /* bytes */
	SHADOW_BLOCKS = 1 << 20, /* of a program, numbered from 1 in the module's order */
	SHADOW_CAME_BACK =
		-1, /* as an instruction: of[1] decided only that calls came back which could have ended the process */
	SHADOW_MAGIC = 0x776f6873,
};

struct shadow_header {
	uint32_t magic;
	uint32_t count; /* of nodes, node 0 too */
	uint32_t is_full;
	uint32_t stack_bytes;
	uint32_t is_stack_lost; /* it did not fit */
};

struct shadow_frame {
	uint32_t call;                     /* instruction in progress; 0: none */
	uint32_t first_block, block_count; /* of its function */
	uint32_t end;                      /* offset of what is behind it in the stack */
	uint8_t ran[];
};

struct shadow_node {
	uint32_t instruction; /* from 1; 0: only joins others */
	uint32_t of[3];       /* nodes that it depends on, 0 for none */
};

/* Of a recording of that many nodes. */
#define SHADOW_BYTES(limit) (SHADOW_NODES_AT + (limit) * sizeof(struct shadow_node) + SHADOW_STACK + SHADOW_BLOCKS)

/* Records from here on, in zeros that are mapped shared, SHADOW_BYTES of them. */
void shadow_begin(void *memory, size_t len_bytes);

/* A call of a library's function, as the runtime and its library share it. */
struct shadow_call {
	uint32_t number, made, count;
	const uint64_t *words;  /* arguments that are integers or pointers */
	const uint32_t *labels; /* their labels */
	uint64_t result;        /* behind it */
	bool is_interrupted;    /* handlers that run in it do so because of who set them */
	uint32_t all;           /* the call, what decided about it, its arguments, and what it read */
	uint64_t kept[2];       /* from before it to behind it */
	int errno_before;
	uint32_t *copied;
	uint32_t interrupted_by;
};

struct shadow_function {
	const char *name;
	void (*address)(void);
	const char *effects; /* shadow_library.c */
	void (*before)(struct shadow_call *call);
	/* Returns the label of the result; 0: `all` is it. */
	uint32_t (*after)(struct shadow_call *call);
};

uint32_t shadow_new(uint32_t instruction, uint32_t a, uint32_t b, uint32_t c);
uint32_t shadow_join(uint32_t a, uint32_t b);
/* All labels of some bytes as one. */
uint32_t shadow_read(uint64_t at, uint64_t len_bytes);
void shadow_write(uint64_t at, uint64_t len_bytes, uint32_t label);
/* Labels of some bytes, byte by byte; those taken are given back by shadow_give, each as a node of the call. */
uint32_t *shadow_take(uint64_t from, uint64_t len_bytes);
void shadow_give(uint32_t instruction, uint32_t made, uint64_t to, uint64_t len_bytes, const uint32_t *labels);
/* What functions returned that the library called back. */
uint32_t shadow_returned(void);
/* Calls a handler, as a library does; label: of who made it one. */
void shadow_run(void (*handler)(void), uint32_t label);
/* In place of atexit and exit in a process whose own handlers are not to run. */
int shadow_atexit(void (*handler)(void));
void shadow_exit(int status);
/* All that runs from now on does so because of a jump. */
void shadow_land(uint32_t label);

const struct shadow_function *shadow_find(const char *name);
const struct shadow_function *shadow_find_address(const void *address);
void shadow_before(const struct shadow_function *f, struct shadow_call *call);
uint32_t shadow_after(const struct shadow_function *f, struct shadow_call *call);

/* The System V ABI's va_list (3.5.7). */
struct shadow_list {
	uint32_t integers, floats; /* offsets in `saved` */
	uint64_t overflow, saved;
};

/* Where its next argument is; the list goes on behind it. kind: 0 a number or pointer, 1 a floating-point number, else bytes on the stack. */
uint64_t shadow_list_next(struct shadow_list *list, uint32_t kind);

#endif
