/*
 * crash.h - what is known of a stopped program: for every frame of every thread the last paths, coverage and calling context.
 * crash.c joins snapshot/snapshot.h (machine frames, memory) with the metadata (object_find_trace); renderers only read it.
 *
 *      machine frame --pc--> crash_site (once for each address): names and lines, points that can be the last one passed
 *                                                                 (crash_position.c), the call in progress
 *                    --memory--> paths, coverage of this activation (crash_paths.c, crash_frame_coverage.c)
 *
 * Metadata of a module is read once; numbers of a function's paths are made when the first frame of it is seen.
 */
#ifndef WM_MODEL_CRASH_CRASH_H
#define WM_MODEL_CRASH_CRASH_H

#include "core/activity/activity.h"
#include "snapshot/snapshot.h"
#include "base/hashmap.h"

/* Metadata of one module. Parts that it does not have are empty. */
struct crash_image {
	bool is_traced;
	struct object_trace trace;
	/* [meta.function_count], made when first needed: starts, nodes NULL before */
	struct path_numbering *numberings;
	struct coverage_points *own_calls, *own_blocks;
	struct hashmap names;    /* hash of a function's name -> functions of that name */
	uint32_t *first_of_name; /* [names.count]: index in meta.functions */
	uint32_t *next_of_name;  /* [meta.function_count]; UINT32_MAX: no more */
};

/* One path of a frame: a complete one of the ring, or the one in progress. */
struct crash_path {
	struct path path; /* edges are the crash's arena's */
	uint64_t number;  /* of a complete one */
	uint64_t ordinal; /* how many have ended with it; 0: in progress, or rounds */
	bool is_complete;
	bool is_current;    /* control is on it, or at its end: END points; the last one only */
	bool is_iterations; /* of a loop with one way round, once or more: known from the start of the next one */
	bool follows_gap;   /* it does not begin where the one before ends: longjmp */
};

enum crash_trace {
	CRASH_TRACE_NONE = 0, /* the function is not traced, or not with paths in this run */
	CRASH_TRACE_WHOLE,    /* all since the activation began */
	CRASH_TRACE_LAST,     /* the last ones; `ended` have ended in all */
	CRASH_TRACE_LOST,     /* should be there but cannot be read: `why` */
};

enum crash_position_kind {
	CRASH_POSITION_NONE = 0, /* not known */
	CRASH_POSITION_POINTS,   /* from the instrumented code: sure */
	CRASH_POSITION_CALL,     /* from the line of the call in progress */
	CRASH_POSITION_LINE,     /* from the line of the instruction, which an optimizer may have moved */
};

/* One activation of a function of the source; several of a machine frame where functions were inlined. */
struct crash_frame {
	const char *function; /* linkage name; NULL: not known */
	const char *name;     /* demangled; NULL: not known */
	const char *file;
	uint32_t line;
	uint32_t column;
	bool is_inlined;  /* into the next frame: no machine frame of its own */
	bool calls_bound; /* through WM1_CALL_BOUND, which is no frame here but where the thread stopped in it */
	const struct snapshot_frame *machine;
	uint32_t image;                          /* index of module; UINT32_MAX */
	const struct tracemeta_function *meta;   /* NULL: not known to the metadata */
	const struct pathmeta_function *flow;    /* NULL: the same */
	const struct tracemeta_variant *variant; /* NULL: not traced in this run */
	enum crash_position_kind position;
	const uint32_t *nodes; /* where control is: one node, seldom several; none when not known */
	uint32_t node_count;
	uint32_t call; /* call in progress, index in meta->calls; UINT32_MAX: none or not known */
	enum crash_trace trace;
	const char *why;          /* CRASH_TRACE_LOST */
	uint64_t ended;           /* paths that have ended in this activation, modulo 2^32 */
	struct crash_path *paths; /* oldest first; the last one is in progress */
	uint32_t path_count;
	uint8_t *calls_used; /* [meta->call_count] enum activity_point, of this activation; NULL: not traced */
	uint8_t *nodes_used; /* [flow->cfg.node_count] */
	const char *context; /* calling context when contexts are on too: text; NULL */
};

struct crash_thread {
	const struct snapshot_thread *machine;
	struct crash_frame *frames; /* innermost first, inlined ones too */
	uint32_t frame_count;
};

struct crash {
	struct arena arena;
	struct snapshot *stopped;
	const struct object_search *search;
	struct crash_image *images; /* [stopped->module_count] */
	struct crash_thread *threads;
	uint32_t thread_count;
	/* Coverage over the whole run; first_function numbers the functions of all images. */
	uint8_t **calls_used; /* [function][call] enum activity_point; NULL where not traced */
	uint8_t **nodes_used;
	uint8_t *entered;
	uint32_t *first_function; /* [module_count + 1] */
	const char **notes;       /* what is missing, one line each: those of stopped, too */
	uint32_t note_count;
	void *builder; /* private */
};

/* s and search outlive it. */
struct error *crash_create(struct snapshot *s, const struct object_search *search, struct crash *ret);
void crash_deinit(struct crash *c);

/* Nodes of a path in order; nodes[] has room for node_count. Returns how many. */
uint32_t crash_path_nodes(const struct crash *c, const struct crash_frame *f, const struct crash_path *path,
			  uint32_t *nodes);

/* Active code: core/activity/activity.h over all images (crash_activity.c). result's functions are numbered as above. */
struct error *crash_analyse(const struct crash *c, struct arena *arena, struct activity_result *ret);

/* The activity of one frame's activation alone; r is crash_analyse's, the frame has `meta`. nodes[node_count], edges[edge_count] are the
 * caller's. */
struct error *crash_frame_activity(const struct crash *c, const struct activity_result *r, uint32_t thread,
				   uint32_t frame, uint8_t *nodes, uint8_t *edges);

enum crash_standing {
	CRASH_STANDS_OUTSIDE, /* no activation of a traced function: code outside, or inlined into the next frame */
	CRASH_STANDS_UNSURE,  /* one of code of ours, it is not known of which function */
	CRASH_STANDS_HERE,    /* an activation of f->meta */
};
enum crash_standing crash_frame_standing(const struct crash *c, uint32_t thread, uint32_t frame);

/* Index in the crash's functions of all images; f->meta only. */
uint32_t crash_function_id(const struct crash *c, const struct crash_frame *f);

#endif
