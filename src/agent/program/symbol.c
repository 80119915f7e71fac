/* symbol.c - looks an address up in .dynsym, whose length the hash table tells. */
#include "agent/program/symbol.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "agent/program/image.h"
#include "agent/os/memory.h"
#include "base/sort.h"
#include "recorder/dynamic.h"

static struct dynamic dynamic_of(const struct agent_image *image)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)((const char *)ehdr + ehdr->e_phoff);

	return dynamic_read(dynamic_find(segments, ehdr->e_phnum, image->bias), image->bias);
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
	struct dynamic d = dynamic_of(image);
	const char *found = NULL;
	uint32_t count = dynamic_symbol_count(&d);

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
	struct dynamic d = dynamic_of(image);
	uint32_t count = dynamic_symbol_count(&d);
	uint64_t *scratch;

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
	struct dynamic d = dynamic_of(image);
	uint32_t count = dynamic_symbol_count(&d);

	for (uint32_t i = 0; i < count; i++)
		if (d.symbols[i].st_shndx != SHN_UNDEF && strcmp(d.strings + d.symbols[i].st_name, name) == 0)
			return image->bias + d.symbols[i].st_value;
	return 0;
}

bool symbol_is_wanted(const struct agent_image *image, const char *name)
{
	struct dynamic d = dynamic_of(image);
	uint32_t count = dynamic_symbol_count(&d);

	for (uint32_t i = 1; i < count; i++)
		if (d.symbols[i].st_shndx == SHN_UNDEF && strcmp(d.strings + d.symbols[i].st_name, name) == 0)
			return true;
	return false;
}
