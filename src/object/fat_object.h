/*
 * fat_object.h - an object that holds machine code and, in a section .llvm.lto, bitcode (-ffat-lto-objects): whether a link
 * may take the bitcode.
 */
#ifndef WM_OBJECT_FAT_OBJECT_H
#define WM_OBJECT_FAT_OBJECT_H

#include <libelf.h>
#include <stdint.h>

#include "base/error.h"

enum fat_kind {
	FAT_NONE,   /* machine code only */
	FAT_SOUND,  /* the bitcode defines what the machine code does */
	FAT_MERGED, /* GNU `ld -r` put the bitcode of several objects one behind the other: nothing can read it again */
	FAT_CHANGED, /* a tool changed the symbols (objcopy --redefine-sym): the bitcode has the old ones */
};

struct fat_object {
	enum fat_kind kind;
	uint64_t header_off;   /* in the object: of the header of the section with the bitcode */
	uint32_t section_name; /* its sh_name */
	char symbol[256];      /* FAT_CHANGED: one that differs, cut at this length */
};

/* elf: a relocatable object, also a member of an archive. */
struct error *fat_object_read(Elf *elf, struct fat_object *ret);

#endif
