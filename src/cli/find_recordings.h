/*
 * find_recordings.h - which recordings a run has written, and what becomes of earlier ones.
 */
#ifndef WM_CLI_FIND_RECORDINGS_H
#define WM_CLI_FIND_RECORDINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "cli/recording_operands.h"

struct recordings_place {
	const char *dir;
	uint64_t session;                /* of the run: recordings of others are not named */
	bool is_any_name;                /* names need not have .wmk */
	bool is_quiet;                   /* say only which name is not the one that was asked for */
	bool is_checked;                 /* say how many samples agree with the stack, over all files */
	uint64_t since_ns;               /* CLOCK_REALTIME, when it began */
	struct timespec began;           /* a moment before, by the clock of the directory's file system */
	struct recording_paths *written; /* the files are added to it; NULL: nobody asks */
};

/* Says which files were written, and which of them are not complete. Returns how many were, said or not. */
unsigned int recordings_print(const struct recordings_place *place);

/* Paths of the recordings of the run that there are so far. *ret is empty before. */
struct error *recordings_find(const struct recordings_place *place, struct recording_paths *ret);

/*
 * Renames a recording at path to path.old, as perf-record does, so that the next one gets the name. What is no recording of this user's
 * stays, and is an ERROR_ARGUMENT. One that is in use stays, too: that of a process that still runs, or of a run that has not ended. An
 * earlier path.old is replaced, if it is a recording that is not in use; one in use keeps both where they are. *is_moved is set if it was renamed.
 */
struct error *recordings_set_aside(const char *path, bool *is_moved);

#endif
