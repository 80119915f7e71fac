/*
 * crash.h - what a stopped program tells: for every frame of every thread the last paths, coverage and calling context.
 * crash.c joins object/stopped.h (machine frames, memory) with the metadata (format/tracemeta.h, tracepoint.h, bbmap.h);
 * renderers only read it.
 *
 * Where control is (crash_position.c): points say from which address on which node and path register hold; machine blocks
 * (bbmap) say how control can get from one address to another. A forward data-flow analysis over the machine blocks of the function
 * gives, for each function that has code in it, the points that can be the last one passed at the address. Nearly always
 * that is one; of several, those that no path fits are left out.
 */
#ifndef WM_REPORT_CRASH_H
#define WM_REPORT_CRASH_H

#include "core/activity.h"
#include "format/bbmap.h"
#include "format/pathmeta.h"
#include "format/tracepoint.h"
#include "object/stopped.h"

/* Metadata of one module. Parts that it does not have are empty. */
struct crash_image {
	bool is_traced;
	struct tracemeta meta;
	struct pathmeta flow;
	struct tracepoints points;
	struct bbmap blocks;
	const struct pathmeta_function **flows; /* [meta.function_count] of each function */
	struct path_numbering *numberings; /* [meta.function_count], made when first needed: node_paths NULL before */
};

/* One path of a frame: a complete one of the ring, or the one in progress. */
struct crash_path {
	struct path path; /* edges are the crash's arena's */
	uint64_t number;  /* of a complete one */
	bool is_current;
};

enum crash_trace {
	CRASH_TRACE_NONE = 0, /* the function is not traced, or not with paths in this run */
	CRASH_TRACE_WHOLE,    /* all since the activation began */
	CRASH_TRACE_LAST,     /* the last ones; `count` have ended in all */
	CRASH_TRACE_LOST,     /* should be there but cannot be read: `why` */
};

/* One activation of a function of the source; several of a machine frame where functions were inlined. */
struct crash_frame {
	const char *function; /* linkage name; NULL: not known */
	const char *name;     /* demangled */
	const char *file;
	uint32_t line;
	uint32_t column;
	bool is_inlined; /* into the next frame: no machine frame of its own */
	const struct stopped_frame *machine;
	uint32_t image;                          /* index of module; UINT32_MAX */
	const struct tracemeta_function *meta;   /* NULL: not known to the metadata */
	const struct pathmeta_function *flow;    /* NULL: the same */
	const struct tracemeta_variant *variant; /* NULL: not traced in this run */
	uint32_t *nodes;                         /* where control is: one node, seldom several; none when not known */
	uint32_t node_count;
	uint32_t call; /* call in progress, index in meta->calls; UINT32_MAX: none or not known */
	enum crash_trace trace;
	const char *why;          /* CRASH_TRACE_LOST */
	uint64_t ended;           /* paths that have ended in this activation */
	struct crash_path *paths; /* oldest first; the last one is in progress */
	uint32_t path_count;
	uint8_t *calls_used; /* [meta->call_count] enum activity_point, of this activation; NULL: not traced */
	uint8_t *nodes_used; /* [flow->cfg.node_count] */
	const char *context; /* calling context when contexts are on too: text; NULL */
};

struct crash_thread {
	const struct stopped_thread *machine;
	struct crash_frame *frames; /* innermost first, inlined ones too */
	uint32_t frame_count;
};

struct crash {
	struct arena arena;
	const struct stopped *stopped;
	struct crash_image *images; /* [stopped->module_count] */
	struct crash_thread *threads;
	uint32_t thread_count;
	/* Coverage over the whole run. */
	uint8_t **calls_used; /* [all functions: crash_function_index][call]; NULL where not traced */
	uint8_t **nodes_used;
	uint8_t *entered;
	uint32_t *first_function; /* [module_count + 1]: index of each image's first function among all */
	const char **notes;       /* what is missing, one line each */
	uint32_t note_count;
};

struct error *crash_create(struct stopped *s, const struct object_search *search, struct crash *ret);
void crash_deinit(struct crash *c);

/* Active code: core/activity.h over all images (crash_activity.c). result's functions are numbered as above. */
struct error *crash_analyse(const struct crash *c, struct arena *arena, struct activity_result *ret);

#endif
