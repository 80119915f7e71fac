/* hash.c - one multiplication a byte: keys are short. */
#include "base/hash.h"

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len_bytes)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len_bytes; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}
