/*
 * wmk_write.h - .wmk bytes from records, one after the other, for files that no process is writing.
 *
 * Each call appends a whole record, in a new chunk when the last one is of another kind or full. Memory that runs out is
 * remembered and told by wmk_writer_finish.
 */
#ifndef WM_FORMAT_WMK_WRITE_H
#define WM_FORMAT_WMK_WRITE_H

#include "base/vec.h"
#include "waymark/wmk.h"

struct wmk_writer {
	struct buffer out;
	uint32_t chunk_count;
	size_t chunk_off;   /* of the open chunk */
	size_t end_off;     /* where its body ends */
	enum wmk_kind kind; /* of it; 0: none is open */
	uint64_t first;     /* of the next chunk of strings or nodes */
};

void wmk_writer_init(struct wmk_writer *w);
void wmk_writer_deinit(struct wmk_writer *w);

/* Returns the string's number. At most 65464 bytes; all strings before any record of another kind. */
uint64_t wmk_write_string(struct wmk_writer *w, const char *text);
/* Record numbers count up from 0, prefixes from WM_PREFIX_FIRST: all nodes one after the other. */
void wmk_write_image(struct wmk_writer *w, const struct wmk_image *r);
void wmk_write_node(struct wmk_writer *w, const struct wmk_node *r);
void wmk_write_sum(struct wmk_writer *w, const struct wmk_sum *r);
void wmk_write_heap_sum(struct wmk_writer *w, const struct wmk_heap_sum *r);
void wmk_write_run(struct wmk_writer *w, uint64_t run);
/* By rising number, else each begins a chunk. */
void wmk_write_function(struct wmk_writer *w, uint32_t number, const struct wmk_function *r);
void wmk_write_site(struct wmk_writer *w, uint32_t number, const struct wmk_site *r);
void wmk_write_line(struct wmk_writer *w, const struct wmk_line *r);
void wmk_write_epoch_function(struct wmk_writer *w, const struct wmk_epoch_function *r);
void wmk_write_epoch_edge(struct wmk_writer *w, const struct wmk_epoch_edge *r);
void wmk_write_epoch(struct wmk_writer *w, const struct wmk_epoch *r);
/* words: entry_count, or twice that of kinds with pairs. */
void wmk_write_path_table(struct wmk_writer *w, const struct wmk_paths *r, uint64_t activations, const uint64_t *words);
void wmk_write_path_count(struct wmk_writer *w, const struct wmk_path_count *r);

/* Closes the last chunk and fills the header in, chunk_count included. w->out then has the file. */
struct error *wmk_writer_finish(struct wmk_writer *w, const struct wmk_header *r);

#endif
