/*
 * gnu_hash.h - DT_GNU_HASH of a loaded image: finds defined symbols by name, and tells how long DT_SYMTAB is. No memory, no calls but strcmp.
 *
 *      bucket count, first hashed symbol, words of the Bloom filter, its shift | filter | buckets | chains
 *
 * A chain has a word for each symbol from the first one on: its hash, whose lowest bit ends a bucket's.
 */
#ifndef WM_RECORDER_GNU_HASH_H
#define WM_RECORDER_GNU_HASH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline const uint32_t *gnu_hash_buckets(const uint32_t *table)
{
	return table + 4 + (size_t)table[2] * 2;
}

/* False: the name is not there, or not defined. table: NULL has none. */
static inline bool gnu_hash_defines(const uint32_t *table, const Elf64_Sym *symbols, const char *strings,
				    const char *name)
{
	const uint32_t *buckets, *chains;
	uint32_t hash = 5381;

	if (!table || !table[0])
		return false;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	buckets = gnu_hash_buckets(table);
	chains = buckets + table[0];
	for (uint32_t n = buckets[hash % table[0]]; n && n >= table[1]; n++) {
		uint32_t entry = chains[n - table[1]];

		if ((entry | 1) == (hash | 1) && strcmp(strings + symbols[n].st_name, name) == 0)
			return symbols[n].st_shndx != SHN_UNDEF;
		if (entry & 1)
			return false;
	}
	return false;
}

/* How many symbols there are, those that are not hashed among them. */
static inline uint32_t gnu_hash_count(const uint32_t *table)
{
	const uint32_t *buckets = gnu_hash_buckets(table), *chains = buckets + table[0];
	uint32_t last = 0;

	for (uint32_t i = 0; i < table[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < table[1])
		return table[1];
	while (!(chains[last - table[1]] & 1))
		last++;
	return last + 1;
}

#endif
