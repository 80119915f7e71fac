/*
 * allocator.h - the heap client in a process that the agent was attached to: the entries of the allocator's functions lead to the
 * agent's, which call them, and tell the client.
 *
 *      malloc   jmp stub ─────────►  stub     jmp own
 *      │                                      the program's bytes at the entry ◄───  own: …; call; tell; ret
 *      …        ◄──────────────────           jmp back
 *
 * So every call is seen, whoever makes it: also those of pointers that the program has copied, of libraries that it opens later, of
 * the loader. What the functions call among themselves is a part of the call that the program made. Under `waymark run`
 * libwaymark-heap.so interposes them, as far as it can: allocator_more.c.
 *
 * The caller holds the agent's lock. No other thread runs, and none is in the allocator.
 */
#ifndef WM_AGENT_ALLOCATOR_H
#define WM_AGENT_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/patch/patch_entry.h"

/* In front of one function. */
struct allocator_hook {
	const char *name;
	void *own;
	void **next; /* goes on in the function */
	struct patch_detour detour;
	uint32_t function; /* AGENT_NONE: there is none of that name, or it has another name too, which comes first */
	bool is_taken;
};

/* Looks it up. False: it is the program's own, or has no room for a jump. */
bool allocator_find(void);
/* From now on what was found tells the client. False: code cannot be written; then all of it is as it was. */
bool allocator_take(void);
/* The bytes of allocator_take are as they were. What is called meanwhile ends as it would have. */
void allocator_give_back(void);
/* One of the hooks [first, end) is in front of the function, which has another name, too. */
bool allocator_has_hook(const struct allocator_hook *first, const struct allocator_hook *end, uint32_t function);
/* What puts a jump in front of the function, which is found by its number. False: there is no room for one. */
bool allocator_make_hook(struct allocator_hook *h, uint32_t function);
/*
 * Under `waymark run --heap`: functions that libwaymark-heap.so does not interpose tell the client from now on: a malloc of the
 * program's own, operators and other names of jemalloc and tcmalloc. One line says what cannot be followed. At start.
 */
void allocator_take_more(void);
/* The program has a function there, not an entry of its PLT, which stands for a library's where the program takes its address. */
bool allocator_is_own(uintptr_t at);
/* The same with the program's own malloc and its kin. The name of a function that has no room for a jump: then none is taken. NULL: all are. */
const char *allocator_take_own(void);

#endif
