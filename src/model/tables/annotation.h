/*
 * annotation.h - the lines of chosen functions with what a view has there: self of contexts that end in the line, total of those that go
 * through it.
 */
#ifndef WM_MODEL_TABLES_ANNOTATION_H
#define WM_MODEL_TABLES_ANNOTATION_H

#include "model/base/pattern.h"
#include "model/base/profile_view.h"

struct annotated_line {
	const char *file; /* NULL: where the functions have no line */
	uint32_t line;
	uint64_t self;
	uint64_t total;
};

/* Lines of one file stand together, by rising number; a file for each run of them. */
struct annotated_file {
	const char *name; /* the profile's; NULL: no line is known */
	size_t first, count;
	uint64_t self;
};

struct annotation {
	struct annotated_line *lines;
	size_t line_count;
	struct annotated_file *files; /* by falling self, then by name */
	size_t file_count;
	uint64_t self; /* of all of the functions */
	uint64_t total;
};

/* Of a view whose metric adds up. ERROR_NOT_FOUND: no context has such a function. */
struct error *annotation_create(const struct view *v, const struct pattern_vec *functions, struct annotation *ret);
void annotation_deinit(struct annotation *a);

#endif
