/*
 * output.h - where a subcommand writes: standard output, or a file that appears whole or not at all.
 */
#ifndef WM_CLI_OUTPUT_H
#define WM_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "object/new_file.h"

struct output {
	FILE *file;
	const char *path;    /* NULL: standard output */
	struct new_file new; /* where the name is that of a regular file, or of nothing */
	bool is_new;
};

/*
 * path NULL or "-" means standard output. A path is written beside itself under another name until it is done. A file or a link of another
 * user is not replaced or followed.
 */
struct error *output_open(const char *path, struct output *ret);
/* After err NULL, all is written: flushes, checks and renames. Else removes the unfinished file and returns err. */
struct error *output_end(struct output *out, struct error *err);
/* All of it at once. */
struct error *output_write(const char *path, const void *bytes, size_t len_bytes);

#endif
