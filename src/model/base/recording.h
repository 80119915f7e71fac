/*
 * recording.h - .wmk files on disk: opened whole, followed as they grow, or asked what their first page says.
 */
#ifndef WM_MODEL_CONTEXTS_RECORDING_H
#define WM_MODEL_CONTEXTS_RECORDING_H

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

/* Opens a recording with images, strings and nodes only; recording_follow reads what is added to them later. */
struct error *recording_open_contexts(const char *path, struct recording *ret);
/* *ret_is_new: there was something. Where the file is gone, or is another process's now, what was read of it stays. */
struct error *recording_follow(struct recording *r, bool *ret_is_new);

/* By the first page alone, without waiting for what is no file; false when it is no .wmk. */
bool recording_header(const char *path, struct wmk_header *ret);
/* A file with no header yet: one that a process is just making. */
bool recording_is_started(const char *path);

/* How a process ended, or that it has not. */
enum recording_end {
	RECORDING_UNKNOWN, /* it did not end itself, and is not seen to run */
	RECORDING_RUNS,
	RECORDING_EXIT,
	RECORDING_LEFT,     /* _exit(), _Exit(), quick_exit() */
	RECORDING_DETACHED, /* the process went on without its recorder */
	RECORDING_FILTERED, /* the same, under a seccomp filter */
};

/* A process is seen to run when it has the file at path mapped. */
enum recording_end recording_end(const char *path, const struct wmk_header *header);
/* The text behind a process's pid. */
const char *recording_end_text(enum recording_end end);
/* In JSON. */
const char *recording_end_name(enum recording_end end);

#endif
