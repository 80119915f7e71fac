/*
 * profile_view.h - a profile as a user asked to see it: which contexts, sorted how, and which metric stands in front. Renderers
 * (renderer.h) see only this.
 */
#ifndef WM_MODEL_CONTEXTS_PROFILE_VIEW_H
#define WM_MODEL_CONTEXTS_PROFILE_VIEW_H

#include "model/base/profile.h"
#include "model/base/suppressions.h"

struct view_options {
	const char *metric; /* NULL: "bytes" if there is a heap, else the most frequent event */
	const char *sort;   /* a metric; NULL: the same. "name" sorts by the names of the frames */
	size_t top;         /* 0: all */
	/* A context stays if one of its frames has a name that matches, and a module or an image that does; NULL or empty: any. */
	const struct pattern_vec *functions, *modules;
	const struct suppressions *suppressions; /* of contexts that are left out; NULL: none */
	double min;                              /* percent of the metric that a context must have */
	bool may_match_nothing;                  /* no frame has to match the patterns */
	bool keeps_zeros;                        /* contexts where the metric is 0 too */
	bool adds_up;                            /* its values will be added up: it must not be a maximum */
	bool is_coloured;                        /* the output is a terminal that takes colours */
};

/* What is to be said of a function, besides its numbers: "renamed from f". */
struct function_note {
	const char *function; /* its name */
	const char *text;
};
VEC_DECLARE(function_note_vec, struct function_note);

struct view_row {
	uint64_t value; /* of the metric in front */
	uint64_t sort_value;
	uint32_t node;
	uint32_t first_cell; /* in cells of the view */
	uint32_t cell_count;
	uint32_t rank; /* in the order of names */
};

struct view {
	const struct profile *profile;
	const char *producer; /* "waymark 0.1.0" */
	bool has_metric;      /* false: nothing was recorded */
	uint32_t metric;
	uint32_t sort; /* UINT32_MAX: by name */
	struct view_row *rows;
	size_t row_count;
	size_t matching_rows;    /* before `top` cut them: they are in rows, behind the others */
	size_t top;              /* as asked for */
	uint64_t matching_total; /* of the metric in them */
	size_t small_rows;       /* that had less than `min` */
	size_t suppressed_rows;
	uint64_t suppressed_total; /* of the metric in them */
	double min;                /* as asked for */
	bool is_filtered;          /* by function or module */
	bool is_coloured;
	bool has_change; /* it shows the change between two metrics of its profile */
	uint32_t before, after;
	const struct function_note_vec *notes; /* by name; NULL: none */
	bool *matching_nodes;                  /* when is_filtered: by node, whether its context stays */
	uint32_t *cells;                       /* of the rows: cells of the profile, of each row by rising group */
};

/*
 * ERROR_ARGUMENT names the metrics there are when one is not known, or says that the metric does not add up; ERROR_NOT_FOUND: no frame
 * matches the patterns.
 */
struct error *view_create(const struct profile *p, const struct view_options *options, const char *producer,
			  struct view *ret);
void view_deinit(struct view *v);

/* What is said of a function; NULL: nothing. */
const char *view_function_note(const struct view *v, const char *function);

/* The value of a metric in a row. */
uint64_t view_value(const struct view *v, const struct view_row *row, uint32_t metric);
/* All values of a row, one a metric of the profile. */
void view_values(const struct view *v, const struct view_row *row, uint64_t *ret);

/* By node, the metric of all matching rows, shown or not. The caller frees it. */
struct error *view_node_values(const struct view *v, uint64_t **ret);

/*
 * Whether what a renderer is about to write is in proportion to the files: a few bytes of a file can stand for millions of frames, in
 * each of thousands of contexts. ERROR_OVERFLOW says so, and what to do.
 */
struct error *view_check_size(const struct view *v, uint64_t bytes);
/* The same of the contexts of events, and of rows where is_of_rows, whose frames are printed by name. */
struct error *view_check_stacks(const struct view *v, bool is_of_rows, const struct profile_event *const *events,
				size_t event_count);
/* By node, the bytes of the names of its frames, each with a separator. The caller frees it. */
struct error *view_text_lengths(const struct profile *p, uint64_t **ret);
/* Frames of all rows. */
uint64_t view_depths(const struct view *v);

/* Events in contexts that are shown, in the order of time; the profile keeps_events. The caller frees the list. */
struct error *view_events(const struct view *v, const struct profile_event ***ret, size_t *ret_count);
/* Of those only the ones that the metric in front counts or sums. */
struct error *view_metric_events(const struct view *v, const struct profile_event ***ret, size_t *ret_count);
/* What one of those adds to the metric in front. */
uint64_t view_event_value(const struct view *v, const struct profile_event *e);

/* The frames of a node, outermost first; replaces what frames holds. */
struct error *view_frames(const struct profile *p, uint32_t node, struct frame_vec *frames);

#endif
