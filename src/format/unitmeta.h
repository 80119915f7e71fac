/*
 * unitmeta.h - what the sections of paths and of tracing have in common: units one behind the other, each with a string pool, tables, and
 * the functions that it leaves out.
 *
 * Private to src/format.
 */
#ifndef WM_FORMAT_UNITMETA_H
#define WM_FORMAT_UNITMETA_H

#include "format/section.h"
#include "format/skipped.h"
#include "format/strings.h"

struct unitmeta_reader {
	struct cursor c; /* over the raw body of the unit */
	struct string_pool strings;
	struct arena *arena;
	uint32_t unit; /* index of the one that is read */
	struct skipped_vec skipped;
};

/* Unpacks each unit and calls read_unit for it, with r->c behind its strings; key: the unit's. The caller deinits r->skipped. */
struct error *unitmeta_read(const void *bytes, size_t len_bytes, const char *name, const struct section_kind *kind,
			    struct unitmeta_reader *r,
			    struct error *(*read_unit)(struct unitmeta_reader *r, uint64_t key));
struct error *unitmeta_read_text(struct unitmeta_reader *r, const char **ret);
/* The line that is `step` behind the one before; at: where it says so. */
struct error *unitmeta_read_line(const struct cursor *at, int64_t step, uint32_t before, uint32_t *ret);
/* Producer and name, with a text of their own where they are empty. */
struct error *unitmeta_read_origin(struct unitmeta_reader *r, const char **ret_producer, const char **ret_name);
/* The functions that are left out, and the end of the unit. */
struct error *unitmeta_read_skipped(struct unitmeta_reader *r);

struct unitmeta_writer {
	struct string_table strings;
	struct buffer tables;
};

void unitmeta_write_text(struct unitmeta_writer *w, const char *text);
void unitmeta_write_skipped(struct unitmeta_writer *w, const struct skipped_function *skipped, uint32_t count);
/* ERROR_ARGUMENT: there is not one unit, or a skipped function has no text; what: "paths". */
struct error *unitmeta_check(const char *what, uint32_t unit_count, const struct skipped_function *skipped,
			     uint32_t skipped_count);
/* Appends the unit to out, unless err, which it returns. Deinits w either way. */
struct error *unitmeta_write(struct unitmeta_writer *w, const struct section_kind *kind, struct error *err,
			     uint64_t *ret_key, struct buffer *out);

#endif
