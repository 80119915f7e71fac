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
 * libwaymark-heap.so stands in front of them.
 *
 * The caller holds the agent's lock. No other thread runs, and none is in the allocator.
 */
#ifndef WM_AGENT_ALLOCATOR_H
#define WM_AGENT_ALLOCATOR_H

#include <stdbool.h>

/* Looks it up. False: it is the program's own, or has no room for a jump. */
bool allocator_find(void);
/* From now on what was found tells the client. False: code cannot be written; then all of it is as it was. */
bool allocator_take(void);
/* The bytes of allocator_take are as they were. What is called meanwhile ends as it would have. */
void allocator_give_back(void);

#endif
