/*
 * table.h - a view as a table: a row for each function, line and so on with its self and its total (tree_sums.h) of the view's metric, over
 * all contexts that the filters leave.
 */
#ifndef WM_MODEL_TABLES_TABLE_H
#define WM_MODEL_TABLES_TABLE_H

#include "base/word_table.h"
#include "model/base/profile_view.h"
#include "model/tables/frame_keys.h"

enum table_order {
	TABLE_BY_SELF, /* falling, then by total */
	TABLE_BY_TOTAL,
	TABLE_BY_NAME,
};

struct table_kind {
	struct word by;      /* as in --by=function */
	const char *heading; /* "Functions" */
	const char *column;  /* "function" */
	enum frame_key key;
};

extern const struct word_table table_kinds; /* of struct table_kind */

struct table_options {
	const struct table_kind *kind;
	enum table_order order;
	size_t top; /* 0: all */
	double min; /* percent of the metric's total that the total of a row must have */
};

struct table_row {
	const char *name;          /* of the function, module ...; of a context the names of its frames, as main;f;g */
	const struct frame *frame; /* one that has what the row is of; the profile's */
	uint64_t self;
	uint64_t total;
	uint32_t node; /* of a context: one that has these frames */
};

struct table {
	const struct table_kind *kind;
	enum table_order order;
	struct table_row *rows;
	size_t row_count;
	size_t all_rows;       /* before `min` and `top` left some out */
	bool skips_allocators; /* self is that of callers of malloc and its like */
	struct arena arena;    /* of names */
};

/* Of a view that has a metric whose values add up. */
struct error *table_create(const struct view *v, const struct table_options *options, struct table *ret);
void table_deinit(struct table *t);

#endif
