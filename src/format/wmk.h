/*
 * wmk.h - reader of .wmk files: bytes to a model. The layout is include/waymark/wmk.h (its structs serve here as plain
 * values; bytes are read through a cursor, never overlaid) and docs/format.md.
 *
 * The bytes stay the caller's and must outlive the model. Images, strings and the table of chunks are read at once; prefix
 * nodes are looked up, events and heap records walked, straight from the bytes, so a file may be larger than memory.
 *
 * A file of a process that was killed, or that still runs, is whole: what was not committed is counted. A file that ends
 * early is read as far as it goes and says so in `truncated`. Anything else that does not fit is an ERROR_FORMAT.
 *
 * The file of a process that still runs grows. wmk_follow reads what is new in it, in time proportional to that.
 */
#ifndef WM_FORMAT_WMK_H
#define WM_FORMAT_WMK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "waymark/wmk.h"

struct wmk_file_image {
	struct wmk_image record; /* site_base is 0 when it has no sites */
	uint32_t record_number;  /* in the order of the file: what wmk_paths.image means */
	const char *path;        /* "" when it was not recorded */
};

struct wmk_file_string {
	uint64_t number;
	const char *text; /* NUL-terminated copy, cut at a NUL inside */
};

struct wmk_file_chunk {
	size_t off;        /* of the body in the file */
	size_t len_bytes;  /* of the body that is in use and there */
	size_t read_bytes; /* of them, those whose records were read */
	size_t body_bytes; /* the whole body, over all chunks that it spans, there or not */
	enum wmk_kind kind;
	uint32_t tid;
	uint64_t first;
};

VEC_DECLARE(wmk_image_vec, struct wmk_file_image);
VEC_DECLARE(wmk_string_vec, struct wmk_file_string);
VEC_DECLARE(wmk_chunk_vec, struct wmk_file_chunk);
VEC_DECLARE(wmk_index_vec, size_t);

struct wmk_file {
	struct arena arena;
	const char *name; /* for messages */
	const uint8_t *bytes;
	size_t len_bytes;
	struct wmk_header header;
	struct wmk_file_image *images; /* by rising site_base; their ranges do not overlap */
	uint32_t image_count;
	struct wmk_file_image **images_by_record; /* [place_count[WMK_IMAGES]], NULL for those that are not whole */
	bool has_contexts_only;                   /* other kinds of chunks are not read */
	struct wmk_image_vec image_vec;           /* what `images` points to */
	struct wmk_string_vec strings;            /* by rising number */
	struct wmk_chunk_vec chunks;              /* in file order */
	struct wmk_index_vec
		numbered[WMK_KIND_END];     /* by kind whose records have numbers: its chunks by rising `first` */
	struct wmk_index_vec growing;       /* indices of those that had room for more when they were read */
	uint64_t next_chunk;                /* unit of the file: the first whose header was not read */
	uint64_t place_count[WMK_KIND_END]; /* by kind: records of fixed size, those that are not whole included */
	uint64_t whole_count[WMK_KIND_END]; /* by kind: whole ones, and whole tables of paths; not of strings */
	uint64_t lost_path_tables;          /* known of, but cut off by the end of a truncated file */
	uint64_t uncommitted;               /* records whose writer was killed or is still at it */
	const char *truncated;              /* NULL, or what is missing, one line */
};

/* Reads the first page only: for finding the file of a run. Needs only its bytes to be there. */
struct error *wmk_read_header(const void *bytes, size_t len_bytes, const char *name, struct wmk_header *ret);

/*
 * Labels of the first page, each "KEY=VALUE". *off: from 0 on. NULL behind the last one; a label that does not end in the page is none.
 */
const char *wmk_next_label(const struct wmk_file *w, size_t *off);

/* name must outlive ret. */
struct error *wmk_read(const void *bytes, size_t len_bytes, const char *name, struct wmk_file *ret);
/* Only what contexts are decoded with: no events, heap records and path counters. */
struct error *wmk_read_contexts(const void *bytes, size_t len_bytes, const char *name, struct wmk_file *ret);
/*
 * Reads what was added to a file since it was read with wmk_read_contexts or followed. bytes: the same file, mapped anew, at
 * least as long; they take the place of the former, also on failure. *ret_is_new: there was something. Pointers to images and
 * strings of before are no longer good.
 */
struct error *wmk_follow(struct wmk_file *w, const void *bytes, size_t len_bytes, bool *ret_is_new);
void wmk_file_deinit(struct wmk_file *w);

/* False when no such prefix was committed. */
bool wmk_find_node(const struct wmk_file *w, uint32_t prefix, struct wmk_node *ret);
/* Where it is, as a number below wmk_node_places, for arrays by prefix; false when no such prefix was committed. */
bool wmk_node_place(const struct wmk_file *w, uint32_t prefix, size_t *ret);
size_t wmk_node_places(const struct wmk_file *w);
/* The image that has this site number of the process; NULL when none has. */
const struct wmk_file_image *wmk_find_image(const struct wmk_file *w, uint32_t site);
/* NULL when there is none. */
const char *wmk_find_string(const struct wmk_file *w, uint64_t number);

/* Walks committed records in file order, that is in time order for one thread. Start from {0}. */
struct wmk_walk {
	size_t chunk;
	size_t off; /* in the chunk's body */
};
bool wmk_next_event(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_event *ret);
bool wmk_next_thread(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_thread *ret);
bool wmk_next_heap(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_heap *ret);
bool wmk_next_sum(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_sum *ret);
bool wmk_next_heap_sum(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_heap_sum *ret);
bool wmk_next_heap_time(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_heap_time *ret);
/* Live bytes of the record's context, inherited ones included: last, and when those of the process were the most. */
uint64_t wmk_heap_live(const struct wmk_heap *h);
/* Blocks of `count` that were freed. */
uint64_t wmk_heap_freed(const struct wmk_heap *h);
uint64_t wmk_heap_at_peak(const struct wmk_file *w, const struct wmk_heap *h);
/* As the sum of this record alone. */
struct wmk_heap_sum wmk_sum_of_heap(const struct wmk_file *w, const struct wmk_heap *h);

/* Recorded code. What the records refer to is not checked. */
bool wmk_next_function(const struct wmk_file *w, struct wmk_walk *walk, uint32_t *ret_number, struct wmk_function *ret);
bool wmk_next_site(const struct wmk_file *w, struct wmk_walk *walk, uint32_t *ret_number, struct wmk_site *ret);
bool wmk_next_line(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_line *ret);
bool wmk_next_epoch(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_epoch *ret);
bool wmk_next_epoch_function(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_epoch_function *ret);
bool wmk_next_epoch_edge(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_epoch_edge *ret);

/* The recordings that a merged file adds up. */
bool wmk_next_run(const struct wmk_file *w, struct wmk_walk *walk, uint64_t *ret);

/* One committed table of path counters; its numbers are read with wmk_table_count. */
struct wmk_path_table {
	struct wmk_paths record;
	uint64_t activations; /* word 0; nothing under WMK_PATHS_AT_ENTRY */
	size_t off;           /* of word 0 in the file */
};
bool wmk_next_path_table(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_path_table *ret);

/* Entry i of a table (i < record.entry_count): false when it counts nothing. *number is the path's Ball-Larus number, below
 * path_count. */
bool wmk_table_count(const struct wmk_file *w, const struct wmk_path_table *table, uint32_t i, uint64_t *number,
		     uint64_t *count);

/* Counts of single paths; *number is the Ball-Larus number of ret->r. */
bool wmk_next_path_count(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_path_count *ret, uint64_t *number);

/* The image with this record number, NULL when there is none. */
const struct wmk_file_image *wmk_image_by_record(const struct wmk_file *w, uint32_t record_number);

/* Why something could not be written, of a header's drop_errno: the end of a sentence. Until the next call. */
const char *wmk_drop_text(uint64_t drop_errno);
/* Why it is not told which blocks of the heap could be reached; NULL: it is told. */
const char *wmk_reach_text(uint64_t reach);
/* Why the agent did not start; NULL: it did, or none was to. */
const char *wmk_agent_text(uint32_t agent);

#endif
