/*
 * memory_file.h - files in memory, for the processes that this one starts or becomes.
 */
#ifndef WM_CLI_MEMORY_FILE_H
#define WM_CLI_MEMORY_FILE_H

#include <stddef.h>

#include "base/error.h"

/* *ret is the malloc'd path, /proc/self/fd/N, of a new file with these bytes. The descriptor stays open. what: named in errors. */
struct error *memory_file_create(const void *bytes, size_t len_bytes, const char *what, char **ret);

#endif
