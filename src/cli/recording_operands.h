/*
 * recording_operands.h - which recordings the operands of a command name: files, directories with all their recordings, or, where there is
 * none, the newest run in the working directory.
 */
#ifndef WM_CLI_RECORDING_OPERANDS_H
#define WM_CLI_RECORDING_OPERANDS_H

#include "base/error.h"
#include "base/vec.h"

/* Paths, malloc'd; those of one directory by name. */
VEC_DECLARE(recording_paths, char *);

void recording_paths_free(struct recording_paths *paths);

/*
 * operands ends with NULL. The recordings of a directory are its regular files NAME.wmk that have the header of a recording. The newest run
 * is the recording whose process started last, with all others of its `waymark run`. A file of a named directory that is no recording is said
 * in the command's name. ERROR_NOT_FOUND: a directory has none. *ret is empty before.
 */
struct error *recording_operands(const char *command, char *const *operands, struct recording_paths *ret);

#endif
