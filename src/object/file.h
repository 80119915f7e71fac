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
/* Gives the memory of its pages back; what is read again comes from the file again. For large files that are walked through. */
void file_forget(const struct mapped_file *f);

#endif
