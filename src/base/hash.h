/*
 * hash.h - FNV-1a of 64 bits, the one hash of bytes. Keys in files are made with it.
 */
#ifndef WM_BASE_HASH_H
#define WM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues from hash: HASH_START, or that of the bytes before. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len_bytes);

#endif
