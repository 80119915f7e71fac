/*
 * source.h - the text of source files, wherever they are now. Files are read once and kept; a file that is not there keeps
 * the reason. Not thread-safe.
 */
#ifndef WM_MODEL_PATHS_SOURCE_H
#define WM_MODEL_PATHS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "object/file.h"

enum {
	SOURCE_AROUND = 3, /* lines that are shown before and behind one with numbers, so that these can be read */
};

/* A line whose text is known without its file. */
struct source_text {
	const char *file; /* as the program was built with */
	const char *text;
	uint64_t changed_ns; /* as of struct source_file */
	uint32_t line;
};
VEC_DECLARE(source_text_vec, struct source_text);
VEC_DECLARE(source_text_pointer_vec, const struct source_text *);

struct source_file {
	const char *name;    /* as the program was built with */
	const char *path;    /* where it was found; NULL: was not */
	const char *why;     /* path is NULL: why */
	uint64_t changed_ns; /* when its text was last changed, CLOCK_REALTIME */
	struct mapped_file file;
	size_t *line_offs; /* [line_count + 1]; line n is [n - 1, n) */
	uint32_t line_count;
	struct source_text_pointer_vec
		texts;       /* by rising line: all that is known of it. Then it has no bytes, and line_count is 0 */
	uint8_t **is_inside; /* source_tokens.c */
	bool is_missed;      /* it is not there, and a reader would have seen its text */
};
VEC_DECLARE(source_file_vec, struct source_file *);

struct source_place {
	const char *from; /* a prefix of names, by whole components; NULL: any */
	const char *to;
};
VEC_DECLARE(source_place_vec, struct source_place);

struct sources {
	struct arena arena;
	struct source_place_vec places; /* tried in this order, then the name itself */
	struct source_file_vec files;
	const struct source_text_vec *texts; /* tried behind places; NULL: none. Outlives this */
};

void sources_init(struct sources *s);
void sources_deinit(struct sources *s);

/*
 * --source-dir: "OLD=NEW" (names that begin with the directory OLD are looked for under NEW) or "DIR" (any name is looked for
 * under DIR: the whole, and without its first directories). ERROR_NOT_FOUND when the directory does not exist.
 */
struct error *sources_add_place(struct sources *s, const char *text);

/* *ret stays the sources'. Fails only for want of memory. */
struct error *sources_get(struct sources *s, const char *name, const struct source_file **ret);
/* Reads a source file whose absence is no loss. */
struct error *sources_try(struct sources *s, const char *name, const struct source_file **ret);

/* A file is_missed. */
bool sources_are_missing(const struct sources *s);

/* The text of a line (from 1) without its end, NULs as blanks; the arena's. NULL when the file has no such line. */
struct error *source_line(const struct source_file *f, uint32_t line, struct arena *arena, const char **ret);

/* A name of a file without "x/.." and "./", as far as links do not matter for reading. The arena's; NULL when memory is short. */
const char *source_plain_name(const char *name, struct arena *arena);

#endif
