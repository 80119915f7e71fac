/*
 * config.h - what the environment says: WAYMARK_OUT, WAYMARK_LIMIT, and the program's name.
 */
#ifndef WM_RECORDER_CONFIG_H
#define WM_RECORDER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waymark/wmk.h"

enum {
	WMRT_PATH_BYTES = 4096,
};

/* Written once, when it is first needed (the constructor at the latest); constant after. */
struct wmrt_config {
	uint64_t limit_bytes;
	uint64_t recent_bytes;         /* of events that have a record each; older ones are added up (sums.h) */
	const char *bad_limit;         /* what WAYMARK_LIMIT says if that is no size; NULL */
	bool tells_leaks;              /* WAYMARK_LEAKS: the heap, when the process ends */
	bool is_out_set;               /* WAYMARK_OUT was given */
	bool is_off;                   /* record nothing: a set-user-id program, a path too long, /dev/null */
	char program[1024];            /* /proc/self/exe */
	char name[256];                /* that it was called by: the link's, where it was started through one */
	char labels[WMK_LABELS_BYTES]; /* as in a recording's first page */
	char pattern[WMRT_PATH_BYTES]; /* absolute; %e, %p and %% are not expanded yet */
};

const struct wmrt_config *wmrt_config(void);
/* Sets what `waymark attach` says instead: an absolute pattern, and a limit (0: as it was). Before the next file is made. */
void wmrt_config_set(const char *pattern, uint64_t limit_bytes);
/* Expands %e, %p and %% of the pattern and puts `.attempt` before .wmk when attempt is not 0. False: too long. */
bool wmrt_config_path(uint32_t pid, unsigned int attempt, char *path, size_t size);
/* The rank of the process among those of its job (MPI, SLURM), as the environment says; NULL: it has none. */
const char *wmrt_config_rank(void);
/* 0 if files can be made in the directory of the pattern, else -errno. */
int wmrt_config_check(void);

#endif
