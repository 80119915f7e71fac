/*
 * merged_object.h - objects that `ld -r` made of several.
 *
 * GNU ld puts the bitcode of the parts one behind the other, which no linker can read again. Such an object is linked as
 * what its machine code is: foreign code.
 */
#ifndef WM_CLI_MERGED_OBJECT_H
#define WM_CLI_MERGED_OBJECT_H

#include "base/error.h"

/*
 * If word names such an object, *ret is the malloc'd name of a copy in memory whose bitcode linkers pass over, seen by this
 * process's children as /proc/self/fd/N; else NULL. What cannot be read is left to the linker.
 */
struct error *merged_object_replace(const char *word, char **ret);

#endif
