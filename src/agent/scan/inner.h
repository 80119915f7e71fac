/*
 * inner.h - functions that `waymark cc` has built may have two entries (instrument/contexts/entry.c): one for pointers and other images,
 * which sets the id of the compiled encoding, and behind that the one for direct calls of the same image. Both enter the same function.
 */
#ifndef WM_AGENT_INNER_H
#define WM_AGENT_INNER_H

#include <stddef.h>
#include <stdint.h>

/* The distance from the function's start to its second entry; 0: it has none. Pure. */
size_t inner_entry(const uint8_t *code, size_t len_bytes);

#endif
