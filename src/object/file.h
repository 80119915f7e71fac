/*
 * file.h - whole files as read-only bytes. The owner unmaps; not thread-safe.
 */
#ifndef WM_OBJECT_FILE_H
#define WM_OBJECT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mapped_file {
	const uint8_t *bytes; /* not NULL, even for an empty file */
	size_t len_bytes;
};

/* Regular files only. Errors name the path. */
struct error *file_map(const char *path, struct mapped_file *ret);
void file_unmap(struct mapped_file *f);

#endif
