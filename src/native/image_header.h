/*
 * image_header.h - the ELF header of a loaded image that _dl_find_object has found, and a hash by which the image is known again.
 *
 * Everything here is signal-safe and takes no lock.
 */
#ifndef WM_NATIVE_IMAGE_HEADER_H
#define WM_NATIVE_IMAGE_HEADER_H

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IMAGE_HEADER_BYTES = 4096, /* the ELF header and the program headers are among the first bytes of an image */
};

/* NULL: not found. */
const Elf64_Ehdr *image_header_of(const struct dl_find_object *found);

static inline const Elf64_Phdr *image_program_headers(const Elf64_Ehdr *ehdr)
{
	return (const Elf64_Phdr *)(const void *)((const char *)ehdr + ehdr->e_phoff);
}

/* Hashes the first bytes of an image, which hold its build id. */
uint64_t image_header_hash(const void *header, size_t bytes);

/* Reads memory of this process that may not be mapped. False: it is not. */
bool image_memory_read(uintptr_t address, void *bytes, size_t len);

#endif
