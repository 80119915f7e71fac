/*
 * progress.h - one line on the terminal for what takes over a second; nothing when standard error is no terminal.
 */
#ifndef WM_CLI_PROGRESS_H
#define WM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
	const char *what; /* "reading lua.wmk" */
	bool is_terminal;
	bool is_shown;
	struct timespec start;
	struct timespec last;
};

void progress_start(struct progress *p, const char *what);
/* total 0: not known. Cheap enough to call often, not in the innermost loop. */
void progress_update(struct progress *p, uint64_t done, uint64_t total);
/* Removes the line. */
void progress_end(struct progress *p);

#endif
