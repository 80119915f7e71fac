/*
 * dynamic.h - the dynamic section of a loaded image: where its symbols and its relocations are. No memory, no calls.
 *
 * The loader has made addresses of what the file has, but in the vdso, and in programs whose section it cannot write.
 */
#ifndef WM_RECORDER_DYNAMIC_H
#define WM_RECORDER_DYNAMIC_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/gnu_hash.h"

struct dynamic {
	uintptr_t bias; /* address of the image's byte 0 */
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash, *gnu_hash;
	const Elf64_Half *versions;
	const Elf64_Verneed *needed;
	size_t needed_count;
	const Elf64_Rela *rela, *plt; /* plt: of calls that may be bound late */
	size_t rela_count, plt_count;
	const uint64_t *relr;
	size_t relr_count;
};

static inline const void *dynamic_at(uintptr_t bias, uint64_t value)
{
	return (const void *)(value < bias ? value + bias : value); /* NOLINT(performance-no-int-to-ptr) */
}

/* The first entry of the dynamic section; NULL: a static program has none. */
static inline const Elf64_Dyn *dynamic_find(const Elf64_Phdr *segments, size_t count, uintptr_t bias)
{
	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			return (const Elf64_Dyn *)(bias + segments[i].p_vaddr); /* NOLINT(performance-no-int-to-ptr) */
	return NULL;
}

/* entry: of dynamic_find, or a link_map's l_ld. What is not there is NULL or 0. */
static inline struct dynamic dynamic_read(const Elf64_Dyn *entry, uintptr_t bias)
{
	struct dynamic ret = {.bias = bias};

	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = dynamic_at(bias, entry->d_un.d_ptr);
		size_t value = entry->d_un.d_val;

		switch (entry->d_tag) {
		case DT_SYMTAB:
			ret.symbols = at;
			break;
		case DT_STRTAB:
			ret.strings = at;
			break;
		case DT_HASH:
			ret.hash = at;
			break;
		case DT_GNU_HASH:
			ret.gnu_hash = at;
			break;
		case DT_VERSYM:
			ret.versions = at;
			break;
		case DT_VERNEED:
			ret.needed = at;
			break;
		case DT_VERNEEDNUM:
			ret.needed_count = value;
			break;
		case DT_RELA:
			ret.rela = at;
			break;
		case DT_RELASZ:
			ret.rela_count = value / sizeof(Elf64_Rela);
			break;
		case DT_JMPREL:
			ret.plt = at;
			break;
		case DT_PLTRELSZ:
			ret.plt_count = value / sizeof(Elf64_Rela);
			break;
		case DT_RELR:
			ret.relr = at;
			break;
		case DT_RELRSZ:
			ret.relr_count = value / sizeof(uint64_t);
			break;
		default:
			break;
		}
	}
	return ret;
}

/* How many symbols there are, as far as the hash tables tell. */
static inline uint32_t dynamic_symbol_count(const struct dynamic *d)
{
	if (!d->symbols || !d->strings)
		return 0;
	return d->hash ? d->hash[1] : d->gnu_hash ? gnu_hash_count(d->gnu_hash) : 0;
}

#endif
