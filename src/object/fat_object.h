/*
 * fat_object.h - an object that holds machine code and, in a section .llvm.lto, bitcode (-ffat-lto-objects): whether a link
 * may take the bitcode.
 */
#ifndef WM_OBJECT_FAT_OBJECT_H
#define WM_OBJECT_FAT_OBJECT_H

#include <stdint.h>

#include "base/error.h"

enum fat_kind {
	FAT_NONE,   /* machine code only */
	FAT_SOUND,  /* the bitcode defines what the machine code does */
	FAT_MERGED, /* GNU `ld -r` put the bitcode of several objects one behind the other: nothing can read it again */
	FAT_CHANGED, /* a tool changed the symbols (objcopy --redefine-sym): the bitcode has the old ones */
};

/* The header of the section with the bitcode, and what to write there for nothing to take it for bitcode. */
struct fat_patch {
	uint64_t off; /* in the file */
	uint32_t name_and_type[2];
};

struct fat_object {
	enum fat_kind kind;
	const char *member;     /* of an archive; NULL: the file itself */
	struct fat_patch patch; /* FAT_MERGED, FAT_CHANGED */
	char symbol[256];       /* FAT_CHANGED: one that differs, cut at this length */
};

/* Calls visit for each relocatable object of an open file: an object, or an archive's members. Other files have none. */
struct error *fat_objects_each(int fd, struct error *(*visit)(void *data, const struct fat_object *object), void *data);

#endif
