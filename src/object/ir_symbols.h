/*
 * ir_symbols.h - the symbol table inside an LLVM bitcode file: the names as the linker sees them.
 *
 * LLVM writes it for linkers beside the module (llvm/Object/IRSymtab.h, format 3). LLVM 19 is what is read; of any other
 * format nothing is known.
 */
#ifndef WM_OBJECT_IR_SYMBOLS_H
#define WM_OBJECT_IR_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct ir_symbol {
	const char *name; /* not terminated; a view into the bitcode */
	uint32_t len_bytes;
	bool is_undefined;
	bool is_weak;    /* also what the linker may leave out */
	bool is_special; /* local, or of the format only: no name that other objects see */
};

VEC_DECLARE(ir_symbol_vec, struct ir_symbol);

/* ERROR_FORMAT: not one bitcode file with such a table. */
struct error *ir_symbols_read(const void *bytes, size_t len_bytes, const char *name, struct ir_symbol_vec *ret);

#endif
