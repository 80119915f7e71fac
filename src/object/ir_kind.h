/*
 * ir_kind.h - what a link must know of LLVM bitcode before it takes it: which LLVM wrote it, and whether for ThinLTO.
 */
#ifndef WM_OBJECT_IR_KIND_H
#define WM_OBJECT_IR_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_kind {
	uint32_t major; /* of the LLVM that wrote it; 0: not said */
	bool is_thin;   /* has a summary for ThinLTO, so that a linker compiles it by itself, before full LTO */
};

/* Bytes begin as a bitcode file does. */
bool ir_kind_begins(const void *bytes, size_t len_bytes);

/* Reads untrusted bytes. false: no bitcode file, or a damaged one; *ret is untouched then. */
bool ir_kind_read(const void *bytes, size_t len_bytes, struct ir_kind *ret);

#endif
