/* symbol.c - looks an address up in .dynsym, whose length the hash table tells. */
#include "agent/program/symbol.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "agent/program/image.h"
#include "agent/os/memory.h"
#include "base/sort.h"
#include "recorder/gnu_hash.h"

struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

static const void *at(const struct agent_image *image, uint64_t value)
{
	if (value < image->low)
		value += image->bias;
	return (const void *)value; /* NOLINT(performance-no-int-to-ptr) */
}

static void read_dynamic(const struct agent_image *image, struct dynamic *ret)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(const void *)((const char *)ehdr + ehdr->e_phoff);

	memset(ret, 0, sizeof *ret);
	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (p[i].p_type != PT_DYNAMIC)
			continue;
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		for (const Elf64_Dyn *d = (const Elf64_Dyn *)(image->bias + p[i].p_vaddr); d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_SYMTAB)
				ret->symbols = at(image, d->d_un.d_ptr);
			else if (d->d_tag == DT_STRTAB)
				ret->strings = at(image, d->d_un.d_ptr);
			else if (d->d_tag == DT_GNU_HASH)
				ret->gnu_hash = at(image, d->d_un.d_ptr);
			else if (d->d_tag == DT_HASH)
				ret->hash = at(image, d->d_un.d_ptr);
		}
	}
}

static uint32_t count_symbols(const struct dynamic *d)
{
	return d->hash ? d->hash[1] : d->gnu_hash ? gnu_hash_count(d->gnu_hash) : 0;
}

static bool is_function(const Elf64_Sym *s)
{
	unsigned int type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* Of several names of a function the one that the C standard would know. */
static bool is_better(const char *name, const char *than)
{
	return !than || (*than == '_' && *name != '_');
}

const char *symbol_name(const struct agent_image *image, uintptr_t address)
{
	struct dynamic d;
	const char *found = NULL;
	uint32_t count;

	read_dynamic(image, &d);
	if (!d.symbols || !d.strings)
		return NULL;
	count = count_symbols(&d);
	for (uint32_t i = 0; i < count; i++) {
		const Elf64_Sym *s = &d.symbols[i];
		const char *name = d.strings + s->st_name;
		if (is_function(s) && image->bias + s->st_value == address && is_better(name, found))
			found = name;
	}
	return found;
}

static inline int compare_items(const uint64_t *a, const uint64_t *b)
{
	return *a < *b ? -1 : *a > *b;
}
SORT_DECLARE(item, uint64_t, compare_items);

void symbol_index_make(const struct agent_image *image, struct symbol_index *ret)
{
	struct dynamic d;
	uint32_t count;
	uint64_t *scratch;

	read_dynamic(image, &d);
	count = d.symbols && d.strings ? count_symbols(&d) : 0;
	*ret = (struct symbol_index){.items = allocator_alloc(&agent_allocator, (size_t)count + 1, sizeof(uint64_t)),
				     .strings = d.strings};
	scratch = allocator_alloc(&agent_allocator, (size_t)count + 1, sizeof *scratch);
	for (uint32_t i = 0; ret->items && scratch && i < count; i++)
		if (is_function(&d.symbols[i]))
			ret->items[ret->count++] = d.symbols[i].st_value << 32 | d.symbols[i].st_name;
	if (ret->count)
		item_sort(ret->items, ret->count, scratch);
	agent_free(scratch);
}

const char *symbol_index_find(const struct symbol_index *index, uint64_t value)
{
	const char *found = NULL;
	size_t first = 0, last = index->count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (index->items[middle] >> 32 < value)
			first = middle + 1;
		else
			last = middle;
	}
	for (; first < index->count && index->items[first] >> 32 == value; first++) {
		const char *name = index->strings + (uint32_t)index->items[first];

		if (is_better(name, found))
			found = name;
	}
	return found;
}

void symbol_index_release(struct symbol_index *index)
{
	agent_free(index->items);
	*index = (struct symbol_index){.items = NULL};
}

uintptr_t symbol_address(const struct agent_image *image, const char *name)
{
	struct dynamic d;
	uint32_t count;

	read_dynamic(image, &d);
	count = d.symbols && d.strings ? count_symbols(&d) : 0;
	for (uint32_t i = 0; i < count; i++)
		if (d.symbols[i].st_shndx != SHN_UNDEF && strcmp(d.strings + d.symbols[i].st_name, name) == 0)
			return image->bias + d.symbols[i].st_value;
	return 0;
}

bool symbol_is_wanted(const struct agent_image *image, const char *name)
{
	struct dynamic d;
	uint32_t count;

	read_dynamic(image, &d);
	count = d.symbols && d.strings ? count_symbols(&d) : 0;
	for (uint32_t i = 1; i < count; i++)
		if (d.symbols[i].st_shndx == SHN_UNDEF && strcmp(d.strings + d.symbols[i].st_name, name) == 0)
			return true;
	return false;
}
