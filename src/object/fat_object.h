/*
 * fat_object.h - an object that holds machine code and, in a section .llvm.lto, bitcode (-ffat-lto-objects), or that is bitcode
 * alone: whether a link may take the bitcode.
 */
#ifndef WM_OBJECT_FAT_OBJECT_H
#define WM_OBJECT_FAT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum fat_kind {
	FAT_NONE,   /* machine code only */
	FAT_SOUND,  /* the bitcode defines what the machine code does */
	FAT_MERGED, /* GNU `ld -r` put the bitcode of several objects one behind the other: nothing can read it again */
	FAT_CHANGED, /* a tool changed the symbols (objcopy --redefine-sym): the bitcode has the old ones */
	FAT_THIN,    /* for ThinLTO: linkers make machine code of it by itself */
	FAT_NEWER,   /* of an LLVM after newest_llvm, which that one cannot read */
	FAT_FOREIGN, /* gcc's intermediate code, which no other linker reads, in place of machine code */
};

/* The header of the section with the bitcode, and what to write there for nothing to take it for bitcode. */
struct fat_patch {
	uint64_t off; /* in the file */
	uint32_t name_and_type[2];
};

struct fat_object {
	enum fat_kind kind;
	bool has_code;          /* machine code, which a linker may take instead */
	uint32_t llvm;          /* FAT_NEWER: the LLVM that wrote it */
	const char *member;     /* of an archive; NULL: the file itself */
	struct fat_patch patch; /* FAT_MERGED, FAT_CHANGED; FAT_NEWER with machine code */
	char symbol[256];       /* FAT_CHANGED: one that differs, cut at this length */
};

/* Calls visit for each relocatable object of an open file: an object, or an archive's members. Other files have none. */
struct error *fat_objects_each(int fd, uint32_t newest_llvm,
			       struct error *(*visit)(void *data, const struct fat_object *object), void *data);

#endif
