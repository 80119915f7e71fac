/*
 * deep.c - libraries that are opened with RTLD_DEEPBIND; in libwaymark-rt.so only.
 *
 * Such a library looks for names in what it depends on first. So it finds the runtime of libwaymark-rt.so where all other code of the process
 * finds the program's, and would keep contexts of its own, without those who called it. When it registers, its relocations that name
 * something of the runtime are bound again, as the loader binds them without that flag; and so are those of libwaymark-rt.so.
 *
 * The loader has bound both before any code of the library runs, and no other thread is in it yet.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "recorder/agent.h"
#include "recorder/deep.h"
#include "recorder/dynamic.h"
#include "recorder/process.h"

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

enum {
	PAGE_BYTES = 4096
};

struct library {
	struct dynamic dynamic;
	char *sealed; /* what is read-only once it is bound */
	size_t sealed_bytes;
};

static struct library read_library(const Elf64_Ehdr *ehdr)
{
	const Elf64_Phdr *segments = (const Elf64_Phdr *)((const char *)ehdr + ehdr->e_phoff);
	uintptr_t base = (uintptr_t)ehdr;
	struct library ret = {.dynamic = dynamic_read(dynamic_find(segments, ehdr->e_phnum, base), base)};

	for (size_t i = 0; i < ehdr->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		uintptr_t start = segment->p_vaddr & -(uintptr_t)PAGE_BYTES;

		if (segment->p_type != PT_GNU_RELRO)
			continue;
		ret.sealed = (char *)(base + start); /* NOLINT(performance-no-int-to-ptr) */
		ret.sealed_bytes = ((segment->p_vaddr + segment->p_memsz) & -(uintptr_t)PAGE_BYTES) - start;
	}
	return ret;
}

static bool has_symbols(const struct library *library)
{
	return library->dynamic.symbols && library->dynamic.strings;
}

/* What a relocation's word holds if all of the process is asked for its name; 0: it stays as it is. */
static uintptr_t value_of(const struct dynamic *d, const Elf64_Rela *relocation, void *process)
{
	const char *name = d->strings + d->symbols[ELF64_R_SYM(relocation->r_info)].st_name;
	uintptr_t found;

	if (strncmp(name, "wm1_", 4) != 0 && strncmp(name, "wm_", 3) != 0 && strncmp(name, "__wrap_", 7) != 0)
		return 0;
	found = (uintptr_t)dlsym(process, name);
	if (!found)
		return 0;
	switch (ELF64_R_TYPE(relocation->r_info)) {
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		return found;
	case R_X86_64_64:
		return found + (uintptr_t)relocation->r_addend;
	case R_X86_64_TPOFF64:
		return found + (uintptr_t)relocation->r_addend - (uintptr_t)__builtin_thread_pointer();
	default:
		return 0;
	}
}

static uintptr_t *word_of(const struct dynamic *d, const Elf64_Rela *relocation)
{
	return (uintptr_t *)(d->bias + relocation->r_offset); /* NOLINT(performance-no-int-to-ptr) */
}

/* Those of calls may not be bound yet; those of the thread's words are from the start. */
static bool has_other_words(const struct dynamic *d, void *process)
{
	for (size_t i = 0; i < d->rela_count; i++) {
		const Elf64_Rela *relocation = &d->rela[i];
		uintptr_t value;

		if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_TPOFF64)
			continue;
		value = value_of(d, relocation, process);
		if (value && *word_of(d, relocation) != value)
			return true;
	}
	return false;
}

static void bind(const struct dynamic *d, const Elf64_Rela *all, size_t count, void *process)
{
	for (size_t i = 0; i < count; i++) {
		uintptr_t value = value_of(d, &all[i], process);

		if (value)
			*word_of(d, &all[i]) = value;
	}
}

static void bind_again(const struct library *library, void *process)
{
	const struct dynamic *d = &library->dynamic;

	if (library->sealed_bytes && mprotect(library->sealed, library->sealed_bytes, PROT_READ | PROT_WRITE))
		return;
	bind(d, d->rela, d->rela_count, process);
	bind(d, d->plt, d->plt_count, process);
	if (library->sealed_bytes)
		mprotect(library->sealed, library->sealed_bytes, PROT_READ);
}

void (*wmrt_bind_deep(const struct wm1_image *image))(struct wm1_image *)
{
	struct library library, own;
	void *process = wmrt_process.is_sealed ? NULL : dlopen(NULL, RTLD_LAZY); /* the program: need not be closed */
	void *front = process ? dlsym(process, "wm1_register") : NULL;

	if (!front || front == (void *)wmrt_own_register)
		return NULL;
	library = read_library((const Elf64_Ehdr *)image->ehdr);
	own = read_library(&__ehdr_start);
	if (!has_symbols(&library) || !has_other_words(&library.dynamic, process) || !has_symbols(&own))
		return NULL;
	bind_again(&library, process);
	bind_again(&own, process);
	return (void (*)(struct wm1_image *))front;
}
