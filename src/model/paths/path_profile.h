/*
 * path_profile.h - how often each path of each function ran: tables of any number of .wmk files, of the same or of different
 * programs, joined with the metadata of their images.
 *
 *      .wmk  table (image, name_key, cfg_key)  --find by build id-->  .debug_waymark_paths
 *             number 0: 12, number 3: 7                                 the graph of the function
 *                  \                                                   /
 *                   '--> paths of the function, blocks, edges, activations, begun and unfinished
 *
 * Numbers of one function of one image are added up over tables (one a thread), files and processes. Nothing is dropped:
 * what has no metadata is kept as a function of which only the keys are known, contradictions are reported in
 * warnings. The profile owns copies of all it needs; files may be closed. Not thread-safe.
 */
#ifndef WM_MODEL_PATHS_PATH_PROFILE_H
#define WM_MODEL_PATHS_PATH_PROFILE_H

#include "core/paths/path_number.h"
#include "format/pathmeta.h"
#include "model/paths/hidden.h"
#include "model/base/profile.h"
#include "model/contexts/context.h"
#include "waymark/paths.h"
#include "waymark/wmk.h"

struct path_image {
	struct build_id build_id; /* len_bytes 0: has none, its path names it */
	const char *path;         /* where it was when it was loaded */
	struct pathmeta meta;
	bool has_meta;
	struct error *why; /* !has_meta */
	uint64_t total;    /* paths counted in it */
	uint64_t unknown;  /* of them in functions that its metadata does not have */
};
VEC_DECLARE(path_image_vec, struct path_image *);

struct path_entry {
	uint64_t number; /* Ball-Larus; below the function's path_count */
	uint64_t count;
	uint64_t inherited; /* counted in the parent by the thread that forked: says only which activations go on */
	uint32_t function;
};
VEC_DECLARE(path_entry_vec, struct path_entry);

#define PATH_UNKNOWN UINT64_MAX

struct path_function {
	uint32_t image;
	uint64_t name_key;
	uint64_t cfg_key;
	uint64_t path_count;
	const struct pathmeta_function *meta; /* NULL: only the keys are known, and below as far as it needs no graph */
	const char *name;                     /* demangled; "[name_key:cfg_key]" without metadata */
	const char *link_name;                /* the same without metadata */
	enum wm1_path_kind kind;
	bool is_at_entry;
	bool is_superseded; /* never ran, and another function of this name and image did: one of two versions was linked */
	uint32_t table_count;
	const struct path_entry *entries; /* by rising number; the counts of some may be 0 */
	uint32_t entry_count;
	uint32_t run_count;   /* paths with a count */
	uint64_t total;       /* sum of counts */
	uint64_t activations; /* activations: entries, and returns of calls that return twice */
	uint64_t inherited;   /* of the parent's activations at fork, those that went on here */
	uint64_t ended;
	uint64_t unfinished; /* activations + inherited - ended */
	uint64_t calls;      /* how often it was entered */
	uint64_t residual;   /* counted outside the plan */
	bool is_part; /* of what it did: copies in other functions may have run that nothing counts (path_folded.h) */
	struct path_numbering numbering; /* from here on: only with meta */
	uint64_t *blocks;                /* [node_count]; of the entry unfinished activations too */
	uint64_t *edges; /* [edge_count]; PATH_UNKNOWN: jumps of which only the sum at their target is known */
};
VEC_DECLARE(path_function_vec, struct path_function);

/* A residual path's count in one calling context. */
struct path_residual {
	uint32_t function;
	uint64_t number;
	uint64_t count;
	uint32_t node; /* of contexts.nodes: the capture; 0 when it was not recorded */
};
VEC_DECLARE(path_residual_vec, struct path_residual);

struct path_recording {
	const char *path;
	struct wmk_header header; /* merged_runs is 0 unless it was merged */
	uint64_t table_count;
	uint64_t single_count; /* records of single paths */
	uint64_t uncommitted;
	enum recording_end end;
	const char *truncated; /* NULL or a line */
};
VEC_DECLARE(path_recording_vec, struct path_recording);

VEC_DECLARE(path_index_vec, uint32_t);

/* Code that may have run uncounted (path_folded.h). */
struct path_folded {
	struct hidden hidden;
	struct hashmap names;    /* hash of a name in the metadata, image -> functions of that name */
	uint32_t *first_of_name; /* [names.count]: index in functions */
	uint32_t *next_of_name;  /* [functions.count]; UINT32_MAX: no more */
};

struct path_profile {
	struct arena arena;
	const struct object_search *search;
	struct image_cache *contexts_cache; /* NULL: calling contexts are not decoded */
	struct path_image_vec images;
	struct hashmap function_map;
	struct path_function_vec functions; /* after path_profile_finish by image, name_key, cfg_key */
	struct hashmap entry_map;
	struct path_entry_vec entries;
	struct path_folded folded;
	struct path_residual_vec residuals; /* after path_profile_finish by falling count */
	struct profile contexts; /* its tree has the contexts of residuals, its warnings all of the profile */
	struct path_recording_vec recordings;
	struct hashmap run_map; /* run -> run_recordings */
	struct path_index_vec run_recordings;
	uint64_t total; /* paths counted */
	uint64_t saturated;
};

/* search and contexts_cache stay the caller's and outlive the profile. */
struct error *path_profile_init(struct path_profile *p, const struct object_search *search,
				struct image_cache *contexts_cache);
void path_profile_deinit(struct path_profile *p);

/* Gives the metadata of an image that need not be searched for; m is taken over and left empty, also on failure. */
struct error *path_profile_add_image(struct path_profile *p, const struct object_wanted *wanted, struct pathmeta *m);

/* Adds all tables of a file. A file without any is fine here. */
struct error *path_profile_add_file(struct path_profile *p, const struct wmk_file *w);

/* After the last file: computes what the comments above say. */
struct error *path_profile_finish(struct path_profile *p);

/* ERROR_NOT_FOUND when no file has any counts. After path_profile_finish. */
struct error *path_profile_check_counts(const struct path_profile *p);
/* A warning of field's if runs in it are in tested, too. */
struct error *path_profile_note_shared(struct path_profile *field, const struct path_profile *tested);
/* When no image has metadata: the reason of the first. After path_profile_finish. */
struct error *path_profile_check_metadata(const struct path_profile *p);

/* A count of 0 that is a part is not known to be never. */
static inline bool path_count_is_known(uint64_t count, bool is_part)
{
	return count || !is_part;
}

/* f->meta only. */
static inline const struct pathmeta_unit *path_function_unit(const struct path_profile *p,
							     const struct path_function *f)
{
	return &p->images.items[f->image]->meta.units[f->meta->unit];
}

#endif
