/*
 * recording.h - .wmk files on disk: opened whole, or asked what their first page says.
 */
#ifndef WM_REPORT_RECORDING_H
#define WM_REPORT_RECORDING_H

#include <stdbool.h>

#include "format/wmk.h"
#include "object/file.h"

struct recording {
	struct mapped_file file;
	struct wmk_file wmk; /* of its bytes */
};

/* Errors name the path. */
struct error *recording_open(const char *path, struct recording *ret);
void recording_close(struct recording *r);

/* By the first page alone, without waiting for what is no file; false when it is no .wmk. */
bool recording_header(const char *path, struct wmk_header *ret);

#endif
