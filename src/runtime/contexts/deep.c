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
#include "recorder/process.h"

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

enum {
	PAGE_BYTES = 4096
};

struct relocations {
	const Elf64_Rela *first;
	size_t count;
};

/* What the loader reads of an image. */
struct dynamic {
	uintptr_t base;
	const Elf64_Sym *symbols;
	const char *strings;
	struct relocations data, calls;
	char *sealed; /* what is read-only once it is bound */
	size_t sealed_bytes;
};

static const Elf64_Dyn *read_segments(const Elf64_Ehdr *ehdr, struct dynamic *d)
{
	const Elf64_Phdr *segment = (const Elf64_Phdr *)((const char *)ehdr + ehdr->e_phoff);
	const Elf64_Dyn *found = NULL;
	char *base = (char *)(uintptr_t)ehdr; /* NOLINT(performance-no-int-to-ptr) */

	d->base = (uintptr_t)ehdr;
	for (size_t i = 0; i < ehdr->e_phnum; i++, segment++) {
		uintptr_t start = segment->p_vaddr & -(uintptr_t)PAGE_BYTES;

		if (segment->p_type == PT_DYNAMIC)
			found = (const Elf64_Dyn *)(base + segment->p_vaddr);
		if (segment->p_type != PT_GNU_RELRO)
			continue;
		d->sealed = base + start;
		d->sealed_bytes = ((segment->p_vaddr + segment->p_memsz) & -(uintptr_t)PAGE_BYTES) - start;
	}
	return found;
}

/* The loader has made addresses absolute. False: it has no symbols. */
static bool read_dynamic(const Elf64_Ehdr *ehdr, struct dynamic *d)
{
	const Elf64_Dyn *entry = read_segments(ehdr, d);

	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = (const void *)entry->d_un.d_ptr; /* NOLINT(performance-no-int-to-ptr) */
		size_t count = entry->d_un.d_val / sizeof(Elf64_Rela);

		if (entry->d_tag == DT_SYMTAB)
			d->symbols = (const Elf64_Sym *)at;
		else if (entry->d_tag == DT_STRTAB)
			d->strings = (const char *)at;
		else if (entry->d_tag == DT_RELA)
			d->data.first = (const Elf64_Rela *)at;
		else if (entry->d_tag == DT_RELASZ)
			d->data.count = count;
		else if (entry->d_tag == DT_JMPREL)
			d->calls.first = (const Elf64_Rela *)at;
		else if (entry->d_tag == DT_PLTRELSZ)
			d->calls.count = count;
	}
	return d->symbols && d->strings;
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
	return (uintptr_t *)(d->base + relocation->r_offset); /* NOLINT(performance-no-int-to-ptr) */
}

/* Those of calls may not be bound yet; those of the thread's words are from the start. */
static bool has_other_words(const struct dynamic *d, void *process)
{
	for (size_t i = 0; i < d->data.count; i++) {
		const Elf64_Rela *relocation = &d->data.first[i];
		uintptr_t value;

		if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_TPOFF64)
			continue;
		value = value_of(d, relocation, process);
		if (value && *word_of(d, relocation) != value)
			return true;
	}
	return false;
}

static void bind(const struct dynamic *d, struct relocations all, void *process)
{
	for (size_t i = 0; i < all.count; i++) {
		uintptr_t value = value_of(d, &all.first[i], process);

		if (value)
			*word_of(d, &all.first[i]) = value;
	}
}

static void bind_again(const struct dynamic *d, void *process)
{
	if (d->sealed_bytes && mprotect(d->sealed, d->sealed_bytes, PROT_READ | PROT_WRITE))
		return;
	bind(d, d->data, process);
	bind(d, d->calls, process);
	if (d->sealed_bytes)
		mprotect(d->sealed, d->sealed_bytes, PROT_READ);
}

void (*wmrt_bind_deep(const struct wm1_image *image))(struct wm1_image *)
{
	struct dynamic library = {0}, own = {0};
	void *process = wmrt_process.is_sealed ? NULL : dlopen(NULL, RTLD_LAZY); /* the program: need not be closed */
	void *front = process ? dlsym(process, "wm1_register") : NULL;

	if (!front || front == (void *)wmrt_own_register)
		return NULL;
	if (!read_dynamic((const Elf64_Ehdr *)image->ehdr, &library) || !has_other_words(&library, process) ||
	    !read_dynamic(&__ehdr_start, &own))
		return NULL;
	bind_again(&library, process);
	bind_again(&own, process);
	return (void (*)(struct wm1_image *))front;
}
