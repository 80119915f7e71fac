/*
 * find_recordings.h - which recordings a run has written, and what becomes of earlier ones.
 */
#ifndef WM_CLI_FIND_RECORDINGS_H
#define WM_CLI_FIND_RECORDINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct recordings_place {
	const char *dir;
	bool is_any_name;  /* names need not end in .wmk */
	bool is_quiet;     /* say only which name is not the one that was asked for */
	bool is_checked;   /* say how many samples agree with the stack, over all files */
	uint64_t since_ns; /* CLOCK_REALTIME: files begun then or later */
};

/* Says on f which files were written. Returns how many were, said or not. */
unsigned int recordings_print(const struct recordings_place *place, FILE *f);

/* Renames a recording at path to path.old, as perf-record does, so that the next one gets the name. What is no recording
 * stays, and is an ERROR_ARGUMENT. *is_moved is set when there was one. */
struct error *recordings_set_aside(const char *path, bool *is_moved);

#endif
