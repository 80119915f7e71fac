/*
 * hash.h - FNV-1a of 64 bits, the one hash of bytes: keys of files hold it.
 */
#ifndef WM_BASE_HASH_H
#define WM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Goes on from hash: HASH_START, or that of the bytes before. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len_bytes)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len_bytes; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
