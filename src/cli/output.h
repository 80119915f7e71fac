/*
 * output.h - where a subcommand writes: standard output, or a file that appears whole or not at all.
 */
#ifndef WM_CLI_OUTPUT_H
#define WM_CLI_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

struct output {
	FILE *file;
	const char *path; /* NULL: standard output */
	char *temp_path;
};

/* path NULL or "-" means standard output. A path is written beside itself under another name until it is done. */
struct error *output_open(const char *path, struct output *ret);
/* All is written: flushes, checks and renames. */
struct error *output_commit(struct output *out);
/* Something failed: removes the unfinished file. Does nothing after output_commit. */
void output_abandon(struct output *out);

#endif
