/* symbol.c - looks an address up in .dynsym, whose length the GNU hash table tells. */
#include "agent/symbol.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "agent/image.h"
#include "recorder/text.h"

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

/* buckets[], then a chain value for each symbol from symoffset on, whose lowest bit ends a chain. */
static uint32_t count_symbols(const struct dynamic *d)
{
	uint32_t bucket_count, first, words, last = 0;
	const uint32_t *buckets, *chains;

	if (d->hash)
		return d->hash[1];
	if (!d->gnu_hash)
		return 0;
	bucket_count = d->gnu_hash[0];
	first = d->gnu_hash[1];
	words = d->gnu_hash[2];
	buckets = d->gnu_hash + 4 + (size_t)words * 2;
	chains = buckets + bucket_count;
	for (uint32_t i = 0; i < bucket_count; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < first)
		return first;
	while (!(chains[last - first] & 1))
		last++;
	return last + 1;
}

static const char *find_name(const struct agent_image *image, uintptr_t address)
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
		unsigned int type = ELF64_ST_TYPE(s->st_info);

		if (s->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    image->bias + s->st_value != address)
			continue;
		/* Of several names the one that the C standard would know. */
		if (!found || (*found == '_' && *name != '_'))
			found = name;
	}
	return found;
}

void symbol_name(uintptr_t address, char *name, size_t size)
{
	const struct agent_image *image = agent_image_at(address);
	const char *found = image ? find_name(image, address) : NULL;
	struct wmrt_text text = {name, size, 0};
	const char *slash;

	if (found) {
		wmrt_text_add(&text, found);
		return;
	}
	slash = image ? strrchr(image->path, '/') : NULL;
	wmrt_text_add(&text, slash ? slash + 1 : image ? image->path : "code");
	wmrt_text_add(&text, "+0x");
	wmrt_text_number(&text, image ? address - (uintptr_t)image->ehdr : address, 16, 1);
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
