/*
 * unseen_exec.c - looks symbols up that such programs export, in the program's own table: dlsym allocates memory when it finds nothing, and a
 * program's malloc may not be ready.
 */
#include "native/unseen_exec.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "recorder/dynamic.h"
#include "recorder/gnu_hash.h"

static struct dynamic read_own(void)
{
	const Elf64_Phdr *p = (const Elf64_Phdr *)getauxval(AT_PHDR); /* NOLINT(performance-no-int-to-ptr) */
	size_t count = getauxval(AT_PHNUM);
	uintptr_t bias = 0;

	for (size_t i = 0; p && i < count; i++)
		if (p[i].p_type == PT_PHDR)
			bias = (uintptr_t)p - p[i].p_vaddr;
	return dynamic_read(p ? dynamic_find(p, count, bias) : NULL, bias);
}

static bool exports(const struct dynamic *d, const char *name)
{
	return gnu_hash_defines(d->gnu_hash, d->symbols, d->strings, name);
}

bool unseen_exec(void)
{
	struct dynamic own = read_own();

	return own.symbols && own.strings &&
	       (exports(&own, "qemu_plugin_register_vcpu_tb_trans_cb") || /* for plugins of qemu */
		exports(&own, "_cgo_topofstack"));                        /* for C code of Go programs */
}
