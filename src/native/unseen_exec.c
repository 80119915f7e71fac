/*
 * unseen_exec.c - looks symbols up that such programs export, in the program's own table: dlsym allocates memory when it finds nothing, and a
 * program's malloc may not be ready.
 */
#include "native/unseen_exec.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "recorder/gnu_hash.h"

/* Of the program: addresses. */
struct names {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static const void *at(uintptr_t address)
{
	return (const void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

static const Elf64_Dyn *find_dynamic(uintptr_t *ret_bias)
{
	const Elf64_Phdr *p = at(getauxval(AT_PHDR));
	const Elf64_Dyn *dynamic = NULL;

	*ret_bias = 0;
	for (unsigned long i = 0; p && i < getauxval(AT_PHNUM); i++)
		if (p[i].p_type == PT_PHDR)
			*ret_bias = (uintptr_t)p - p[i].p_vaddr;
	for (unsigned long i = 0; p && i < getauxval(AT_PHNUM); i++)
		if (p[i].p_type == PT_DYNAMIC)
			dynamic = at(*ret_bias + p[i].p_vaddr);
	return dynamic;
}

/* The dynamic linker has made addresses of what the file has, but for programs whose table it cannot write. */
static bool find_names(struct names *ret)
{
	uintptr_t bias;
	const Elf64_Dyn *d = find_dynamic(&bias);

	*ret = (struct names){NULL, NULL, NULL};
	for (; d && d->d_tag != DT_NULL; d++) {
		uintptr_t address = d->d_un.d_ptr < bias ? d->d_un.d_ptr + bias : d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			ret->symbols = at(address);
		else if (d->d_tag == DT_STRTAB)
			ret->strings = at(address);
		else if (d->d_tag == DT_GNU_HASH)
			ret->hash = at(address);
	}
	return ret->symbols && ret->strings && ret->hash;
}

static bool exports(const struct names *n, const char *name)
{
	return gnu_hash_defines(n->hash, n->symbols, n->strings, name);
}

bool unseen_exec(void)
{
	struct names names;

	return find_names(&names) &&
	       (exports(&names, "qemu_plugin_register_vcpu_tb_trans_cb") || /* for plugins of qemu */
		exports(&names, "_cgo_topofstack"));                        /* for C code of Go programs */
}
