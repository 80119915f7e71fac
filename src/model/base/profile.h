/*
 * profile.h - what reports are made from: a tree of decoded contexts with numbers at their ends, merged from any number of
 * .wmk files. It owns copies of all it needs; files and images may be closed.
 *
 *      tree:   root --main--> 1 --f--> 2 --[qsort]--> 3 --cmp--> 4        a node is a context up to and with its frame
 *      cells:  (node 4, heap) = 4096 bytes, 3 allocations, ...            numbers of a group of metrics, summed over files
 *
 * Everything is counted somewhere: contexts that cannot be decoded end at a frame [unknown], with the reasons in warnings.
 */
#ifndef WM_MODEL_CONTEXTS_PROFILE_H
#define WM_MODEL_CONTEXTS_PROFILE_H

#include "base/hashmap.h"
#include "base/slotmap.h"
#include "model/base/context_frame.h"
#include "model/base/pattern.h"
#include "model/base/recording.h"
#include "model/source/source.h"
#include "waymark/wmk.h"

enum metric_unit {
	UNIT_COUNT,
	UNIT_BYTES,
	UNIT_TIME,  /* nanoseconds */
	UNIT_VALUE, /* of an event: only its program knows */
};

struct metric {
	const char *name; /* "bytes", "allocations", "EVENT", "EVENT:sum" */
	enum metric_unit unit;
	bool is_maximum;  /* the largest, not the sum, where contexts or files meet */
	bool is_estimate; /* some of it is of sampled allocations */
	bool is_of_heap;  /* the innermost functions of its contexts allocate */
	bool is_of_calls; /* its contexts end where the program calls the recorder, not where a timer finds it */
	uint32_t group;   /* number of the first metric of those that it was added with */
	uint32_t group_size;
	uint64_t total;
};
VEC_DECLARE(metric_vec, struct metric);

struct tree_node {
	uint32_t parent; /* of the root: itself, 0 */
	uint32_t frame;
	uint32_t depth; /* frames from the root; of the root 0 */
};
VEC_DECLARE(tree_node_vec, struct tree_node);

/* The numbers that a node has of one group. */
struct cell {
	uint32_t node;
	uint32_t group;
	uint32_t first; /* index in values of that of the group's first metric; the others follow */
};
VEC_DECLARE(cell_vec, struct cell);
VEC_DECLARE(profile_value_vec, uint64_t);
VEC_DECLARE(profile_group_vec, uint32_t);

/* One event, kept only for reports that list them. */
struct profile_event {
	uint64_t realtime_ns; /* CLOCK_REALTIME, from the clock of the process that recorded it */
	uint64_t value;       /* in the unit of the metric that follows its own, if that is of its group */
	const char *thread;   /* its name; NULL: it has none */
	uint32_t metric;      /* how often: the first one of its group. It bears the event's name */
	uint32_t source;
	uint32_t node;
	uint32_t tid; /* 0: not known */
};
VEC_DECLARE(profile_event_vec, struct profile_event);

/* The process of one file, with what the file lost. */
struct profile_source {
	const char *path;
	struct wmk_header header; /* of a merged file with the samples of all its recordings */
	enum recording_end end;
	bool has_heap;
	bool has_walked_heap; /* contexts of allocations were found by walks of the stack */
	bool has_paths;       /* which this report does not show */
	uint64_t event_count;
	uint64_t heap_count;
	uint64_t summed_events; /* of event_count, those of which only sums are known: they are in no list of events */
	uint64_t last_event_ns; /* after its start; 0: none */
	uint64_t uncommitted;
	/* blocks that were live when the process was forked */
	uint64_t inherited_count;
	uint64_t inherited_bytes;
	uint64_t inherited_live_bytes; /* not freed by it */
	const char *truncated;         /* NULL or a line */
	const char *labels;            /* "KEY=VALUE", each with a NUL, then one more NUL; NULL: none */
	const char *import_format; /* a file of another tool: "folded stacks"; it has no header. NULL: a recording */
};
VEC_DECLARE(profile_source_vec, struct profile_source);

struct profile_warning {
	const char *text;
	uint64_t count; /* contexts that could not be decoded */
};
VEC_DECLARE(profile_warning_vec, struct profile_warning);

VEC_DECLARE(profile_string_vec, const char *);

/* The live bytes of a process by time: from the record before it up to after_ns they were between low and high. */
struct profile_heap_time {
	uint64_t after_ns; /* its start */
	uint64_t live;     /* then */
	uint64_t low, high;
	uint32_t source;
};
VEC_DECLARE(profile_heap_time_vec, struct profile_heap_time);

/* A function of an image that was recorded, whether it ran or not. */
struct profile_function {
	const char *link_name;
	uint64_t size_bytes; /* of its code; 0: not known */
	uint64_t shape;      /* a hash of the lines of its calls, counted from its first; 0: not known */
};
VEC_DECLARE(profile_function_vec, struct profile_function);

/* Which events count. */
struct profile_filter {
	const struct pattern_vec *threads; /* by name or number; empty: all */
	uint64_t from_ns, to_ns;           /* CLOCK_REALTIME; to_ns is the first time behind it */
};

struct profile {
	struct arena arena;
	struct hashmap string_map; /* by hash: number of the string */
	struct profile_string_vec strings;
	struct slotmap frame_map;   /* by all that a frame has */
	struct frame_vec frames;    /* strings of the arena: equal text is an equal pointer */
	struct slotmap node_map;    /* by parent and frame; nodes, but for the root */
	struct tree_node_vec nodes; /* nodes.items[0] is the root; a parent comes before its children */
	struct slotmap cell_map;    /* by node and group */
	struct cell_vec cells;
	struct profile_value_vec values;
	struct hashmap
		metric_map; /* of the first metric of a group, by name, unit, is_maximum and the group's size: number of the group */
	struct profile_group_vec groups; /* first metrics */
	struct metric_vec metrics;
	struct profile_source_vec sources;
	struct profile_warning_vec warnings;
	struct profile_heap_time_vec heap_times; /* by source, then by time */
	struct profile_event_vec events;         /* in file order; empty unless keeps_events */
	struct hashmap text_map;                 /* by file and line */
	struct source_text_vec texts;            /* lines of source that an archive has, for its frames */
	struct profile_function_vec functions;   /* of images; empty unless keeps_functions */
	struct hashmap function_images;          /* whose functions are there */
	const struct profile_filter *filter;     /* of what is added; NULL: all counts */
	uint64_t filtered_events;                /* that it left out */
	bool keeps_events;
	bool keeps_functions;
	const char *
		group_label; /* contexts begin with that label of their recording, `[KEY=VALUE]` (thread_frames.h); NULL: they do not */
	bool keeps_threads; /* contexts of events begin with their threads (thread_frames.h) */
	bool keeps_classes; /* metrics of the heap by sizes and life times of blocks (heap_classes.h) */
	bool keeps_columns; /* of samples: else those of one line are one context */
	bool folds_tasks; /* contexts are those of the threads that ran, whoever has enqueued what they did (task_frames.h) */
	uint64_t saturated; /* sums that did not fit 64 bits; they stay at the largest number */
	size_t max_depth;
	uint64_t file_bytes; /* of all files */
	/*
	 * Frames that may still be decoded. A few bytes can stand for millions of frames (a run of pushes), so work is limited by the
	 * size of the files: each adds a number of frames a byte.
	 */
	uint64_t frames_left;
};

struct error *profile_init(struct profile *p);
void profile_deinit(struct profile *p);

/* The value of a label; NULL: the recording has none of that key. */
const char *profile_source_label(const struct profile_source *s, const char *key);

/* Whether an event counts, of a thread that has a name or not (NULL). */
bool profile_takes(const struct profile *p, uint64_t realtime_ns, uint32_t tid, const char *thread);

/* Gives back the memory that only adding needs. Nothing is added afterwards. */
void profile_finish(struct profile *p);

/* The first metric of that name; false: there is none. */
bool profile_find_metric(const struct profile *p, const char *name, uint32_t *ret);
/* Names of the metrics of heap use; NULL behind the last one. */
const char *profile_heap_metric(size_t index);

/* The parts of it, for tests and other sources of contexts. */
struct error *profile_add_frame(struct profile *p, uint32_t parent, const struct frame *frame, uint32_t *ret_node);
/* Interns a frame in two steps: the frame's number, then its node. */
struct error *profile_intern_frame(struct profile *p, const struct frame *frame, uint32_t *ret_frame);
struct error *profile_add_node(struct profile *p, uint32_t parent, uint32_t frame, uint32_t *ret_node);
/* A group of metrics that have values at the same nodes, by names, units and is_maximum of `rows`; *ret: the first. */
struct error *profile_add_metrics(struct profile *p, const struct metric *rows, uint32_t count, uint32_t *ret);
/* Adds a value for each metric of the group. */
struct error *profile_add_values(struct profile *p, uint32_t node, uint32_t group, const uint64_t *values);
struct error *profile_add_value(struct profile *p, uint32_t node, uint32_t metric, uint64_t value);
/* Adds what a file of that size may cost; takes frames from it, or ERROR_OVERFLOW. */
void profile_allow(struct profile *p, uint64_t file_bytes);
struct error *profile_spend(struct profile *p, uint64_t frames);
/* Takes as many as there are. */
void profile_spend_most(struct profile *p, uint64_t frames);
struct error *profile_warn(struct profile *p, const char *text);
struct error *profile_warn_times(struct profile *p, const char *text, uint64_t count);
/* Adds a note about something that costs no context; its count is 0. */
struct error *profile_note(struct profile *p, const char *text);
/* The filter leaves the heap of the file out, whose numbers are sums over all times and threads. */
struct error *profile_note_no_heap(struct profile *p, const char *path);
/* Adds a line of source; of one that is there already the first text stays, and a note says if they differ. */
struct error *profile_add_text(struct profile *p, const struct source_text *text);
struct error *profile_copy_string(struct profile *p, const char *text, const char **ret);

#endif
