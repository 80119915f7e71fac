/*
 * nocallback.h - functions of libc that neither call back, nor allocate, nor can be cancelled in, nor return twice.
 */
#ifndef WM_INSTRUMENT_NOCALLBACK_H
#define WM_INSTRUMENT_NOCALLBACK_H

#include <stdbool.h>

bool is_nocallback(const char *name);
/* It allocates or frees, and calls nothing back. */
bool is_allocator(const char *name);

#endif
