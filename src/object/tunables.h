/*
 * tunables.h - the functions of a program or shared library that were compiled with several schemes of tracing, and which of them
 * is chosen (sections wm1_tunables and wm1_chosen, waymark/trace.h). Both are loaded: they stay in stripped files.
 *
 * The file is changed by writing a copy beside it and renaming that: a program that is running keeps the old one, and a file
 * is the old or the new one, whatever happens. Only bytes of wm1_chosen differ: build id and debug files still fit.
 */
#ifndef WM_OBJECT_TUNABLES_H
#define WM_OBJECT_TUNABLES_H

#include <stdint.h>
#include <waymark/trace.h>

#include "base/arena.h"
#include "base/error.h"
#include "object/file.h"

struct tune_function {
	const char *name;  /* linkage name */
	const char *plain; /* without scope and parameters; "" when not known */
	const char *shown; /* demangled */
	const char *file;  /* "" when not known */
	uint8_t schemes[WM1_SCHEMES];
	uint8_t scheme_count;
	uint8_t chosen; /* index; may be changed */
	uint8_t before; /* what the file says */
	uint64_t off;   /* of its byte in the file */
};

struct tune_image {
	struct arena arena;
	const char *name; /* as it was given, for messages */
	const char *path; /* the file itself: no symbolic link */
	struct mapped_file file;
	struct tune_function *functions; /* in the order of the file */
	uint32_t function_count;
};

/* ERROR_NOT_FOUND: no function of it has several schemes; ERROR_FORMAT, ERROR_ARGUMENT: a file that has none by its kind. */
struct error *tune_read(const char *path, struct tune_image *ret);
void tune_deinit(struct tune_image *t);

/* ERROR_NOT_FOUND when the scheme is not compiled into f, naming those that are. */
struct error *tune_choose(const struct tune_image *t, struct tune_function *f, uint8_t scheme);

/* Functions whose choice is another one than the file's. */
uint32_t tune_changed(const struct tune_image *t);

/*
 * Writes a copy with the present choices as `path`, which may be t->path: then mode, owner and extended attributes are kept
 * (an error if they cannot be; nothing has happened then), else the mode only, without set-user-ID.
 */
struct error *tune_write(const struct tune_image *t, const char *path);

#endif
