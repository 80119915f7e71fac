/*
 * frame_sizes.h - how much stack the functions of a linked program take, by their code and their call frame information.
 *
 * Each call instruction of a function is looked at. Where the CFA is the stack pointer plus one number at all of them, that is the size:
 * the distance from the function's frame down to that of any function it calls. Where the CFA counts from another register (alloca, arrays
 * of variable length, -fno-omit-frame-pointer, realigned stacks), or the number is not the same at all calls, the function has none.
 */
#ifndef WM_OBJECT_FRAME_SIZES_H
#define WM_OBJECT_FRAME_SIZES_H

#include "format/frame_table.h"

/*
 * The global functions of the symbol table, and the local ones that link-time optimization has made; several of one name have no size. ret is
 * empty. ERROR_NOT_FOUND: there is no symbol table.
 */
struct error *frame_sizes_read(const char *path, struct frame_table *ret);

#endif
