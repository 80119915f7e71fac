/*
 * strtab.h - strings of the file: event names and paths, each once.
 */
#ifndef WM_RECORDER_STRTAB_H
#define WM_RECORDER_STRTAB_H

#include <stdbool.h>
#include <stdint.h>

#define WMRT_STRING_NONE UINT32_MAX /* no room */

enum {
	WMRT_STRING_MAX_BYTES = 4096, /* longer ones are cut */
};

/* The number of s; takes the lock. Before there is a file, the string is kept for it (wmrt_file_chunk_or_memory). */
uint32_t wmrt_string(const char *s);
/* Interns a string; the caller holds the lock. */
uint32_t wmrt_string_locked(const char *s);
/* Interns a string. Fast and without a lock if s was seen at this address with this content. */
uint32_t wmrt_string_cached(const char *s);

#endif
