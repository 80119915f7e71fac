/*
 * memory.h - a program's memory: its objects, where its pointers can lead, and which functions its calls can reach. The constraints of
 * core/pointers/pointers.h, from bitcode.
 *
 * Safe for accesses within their objects, by the code that is given; of code outside, library.h knows some functions, and others may do what
 * they like to all that they can reach. Other users than slices: targets of calls through pointers.
 */
#ifndef WM_ANALYZE_MEMORY_H
#define WM_ANALYZE_MEMORY_H

#include "analyze/code.h"
#include "analyze/library.h"
#include "core/pointers/pointers.h"

enum memory_object_kind {
	MEMORY_FOREIGN = 0, /* what code outside has that the program can get pointers to: one object */
	MEMORY_LIBRARY, /* memory of libraries: one object, one for each variable of theirs, and one for each state (library.h) */
	MEMORY_VARIABLE, /* global */
	MEMORY_FUNCTION,
	MEMORY_FRAME,    /* alloca */
	MEMORY_HEAP,     /* what a call allocates */
	MEMORY_VARIADIC, /* variable arguments of a function */
	MEMORY_BYVAL,    /* an argument that is a copy */
	MEMORY_START,    /* arguments and environment of main */
	MEMORY_INNER,    /* of the analysis: no pointer leads there */
};

struct memory_object {
	enum memory_object_kind kind;
	LLVMValueRef value;  /* variable, function, alloca, call or argument */
	uint32_t function;   /* FRAME, VARIADIC, BYVAL; LIBRARY: the state + 1, or 0 */
	uint64_t size_bytes; /* 0: not known */
};

VEC_DECLARE(memory_object_vec, struct memory_object);
VEC_DECLARE(function_ids, uint32_t);

struct memory {
	const struct code *code;
	struct pointers *pointers;
	struct memory_object_vec objects; /* numbered as the locations' */
	struct function_ids *callees; /* [instruction] functions of the module that a call can reach; only of calls */
	struct id_set *callers;       /* [function] calls */
	bool *calls_foreign; /* [instruction] a call that may reach code outside that library.h does not know */
	bool *calls_library; /* [instruction] a call that may reach a function that it knows */
	bool is_coarse;      /* made by memory_analyse_coarsely */
	void *builder;
};

/* runs: [block], false where a block cannot run; NULL: all can. ERROR_OVERFLOW: more would be needed than the limit. */
struct error *memory_analyse(const struct code *c, const bool *runs, struct pointers_limit limit, struct memory *ret);
/* For code that is too large for the other: its answer and much more, in little time and memory (pointers_be_coarse). */
struct error *memory_analyse_coarsely(const struct code *c, const bool *runs, struct memory *ret);
void memory_deinit(struct memory *m);

/* Locations that a value can lead to; NULL: none, it is no pointer. The value is an operand of the code. */
const struct id_set *memory_of(const struct memory *m, LLVMValueRef value);

/* Code outside has the function's address, and may call it at any time. */
bool memory_is_called_from_outside(const struct memory *m, uint32_t function);

/* It is a handler of the process's end, or may be one. */
bool memory_runs_at_end(const struct memory *m, uint32_t function);

/* Locations that code outside can reach. */
const struct id_set *memory_foreign(const struct memory *m);

/* Locations that a call of the library reads by a va_list; NULL: it has none. */
const struct id_set *memory_of_list(const struct memory *m, uint32_t call);
/* Locations of a state of the library; NULL: no call uses it. */
const struct id_set *memory_of_state(const struct memory *m, enum library_state state);

/* A call of code outside, which calls back what it was given, or may: qsort, also through a pointer. Other instructions are none. */
bool memory_calls_outside(const struct memory *m, uint32_t call);

/* Bytes that a load or store touches. */
uint32_t memory_access_bytes(const struct memory *m, LLVMTypeRef type);

#endif
