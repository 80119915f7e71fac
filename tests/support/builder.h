/*
 * builder.h - builds metadata and .wmk bytes by hand for tests and fuzz seeds: no binary files are kept.
 *
 * A builder aborts when memory is short: it is for tests.
 */
#ifndef WM_TESTS_BUILDER_H
#define WM_TESTS_BUILDER_H

#include <stdint.h>

#include "base/vec.h"
#include "format/meta.h"
#include "waymark/abi.h"
#include "waymark/wmk.h"

enum {
	BUILD_MAX = 64, /* functions, sites, locations of a built model */
};

struct meta_builder {
	struct meta meta;
	struct meta_function functions[BUILD_MAX];
	struct meta_site sites[BUILD_MAX];
	struct meta_location locations[BUILD_MAX];
	struct meta_alias alias;
};

void build_meta_init(struct meta_builder *b, const char *unit);
/* Each returns the index: of the function, the site (from 1), the location + 1. */
uint32_t build_function(struct meta_builder *b, const char *name, uint32_t flags, uint64_t contexts, uint64_t restart);
uint32_t build_location(struct meta_builder *b, const char *function, const char *file, uint32_t line,
			uint32_t inlined_at);
uint32_t build_call(struct meta_builder *b, enum meta_site_kind kind, uint32_t caller, uint32_t callee,
		    uint64_t addend);
uint32_t build_site(struct meta_builder *b, enum meta_site_kind kind, uint32_t caller, const char *foreign);

/* A section with this raw body: header, right key, compressed; and a unit of .debug_waymark_paths. */
void build_section(struct buffer *out, const uint8_t *raw, size_t raw_bytes);
void build_paths_section(struct buffer *out, const uint8_t *raw, size_t raw_bytes);
void build_trace_section(struct buffer *out, const uint8_t *raw, size_t raw_bytes);

struct wmk_builder {
	struct buffer out;
	uint32_t chunk_count;
	size_t chunk_off; /* of the open chunk's header */
	uint32_t used_bytes;
	size_t table_off; /* of the last table's head */
};

void build_wmk_init(struct wmk_builder *b, uint64_t run, const char *program);
void build_chunk(struct wmk_builder *b, enum wmk_kind kind, uint64_t first, uint32_t tid);
/* Returns the string's number. */
uint64_t build_string(struct wmk_builder *b, uint64_t first, const char *text);
void build_image(struct wmk_builder *b, uint64_t key, uint32_t site_base, uint32_t site_count, uint64_t path,
		 const uint8_t *build_id, uint32_t build_id_bytes);
void build_node(struct wmk_builder *b, uint32_t parent, uint64_t id, uint32_t site, uint32_t run);
void build_event(struct wmk_builder *b, uint64_t time_ns, uint64_t value, uint64_t id, uint32_t prefix, uint32_t site,
		 uint32_t name);
void build_thread(struct wmk_builder *b, uint64_t time_ns, uint32_t tid, uint32_t name);
void build_heap(struct wmk_builder *b, uint64_t id, uint32_t prefix, uint32_t site, uint64_t count, uint64_t bytes,
		uint64_t freed_count, uint64_t freed_bytes, uint64_t peak);
/* Of the last heap record: heap_peak_bytes of the header when its peak was stored. */
void build_heap_peak(struct wmk_builder *b, uint64_t at_peak_of);
void build_heap_time(struct wmk_builder *b, uint64_t time_ns, uint64_t live, uint64_t low, uint64_t high);
/* inherited: count, bytes, freed count, freed bytes. */
void build_forked_heap(struct wmk_builder *b, uint64_t id, uint32_t prefix, uint32_t site, uint64_t count,
		       uint64_t bytes, uint64_t freed_count, uint64_t freed_bytes, uint64_t peak,
		       const uint64_t inherited[4]);
/* A table of path counters: word_count is entry_count (ARRAY) or twice that. The chunk grows over as many as it takes. */
void build_table(struct wmk_builder *b, const struct wmk_paths *head, uint64_t begun, const uint64_t *words,
		 uint32_t word_count);
void build_path_count(struct wmk_builder *b, const struct wmk_path_count *r);
void build_run(struct wmk_builder *b, uint64_t run);
/* Code that no file describes. strings and kinds as in the records; each in a chunk of its kind. */
void build_image_kind(struct wmk_builder *b, uint32_t kind); /* of the last image */
void build_recorded_function(struct wmk_builder *b, const struct wmk_function *f);
void build_recorded_site(struct wmk_builder *b, uint32_t function, uint32_t kind, uint32_t name, uint32_t position,
			 uint32_t line, uint32_t flags);
void build_recorded_line(struct wmk_builder *b, uint32_t function, uint32_t position, uint32_t line);
void build_epoch_function(struct wmk_builder *b, uint32_t epoch, uint32_t function, uint64_t contexts, uint64_t restart,
			  uint32_t flags);
void build_epoch_edge(struct wmk_builder *b, uint32_t epoch, uint32_t site, uint32_t callee, uint32_t kind,
		      uint64_t addend);
void build_epoch_record(struct wmk_builder *b, uint32_t epoch, uint32_t function_count, uint32_t edge_count);
/* Of a dictionary by ranks. */
void build_ranked_epoch_record(struct wmk_builder *b, uint32_t epoch, uint32_t base, uint32_t function_count,
			       uint32_t edge_count);
/* Sets the epoch of the last record: a node, an event, a heap record or a path count. */
void build_epoch(struct wmk_builder *b, uint32_t epoch);
/* Sets the state of the last record, which is no table; of the last table. */
void build_state(struct wmk_builder *b, uint32_t state);
void build_table_state(struct wmk_builder *b, uint32_t state);
/* Pads the last chunk and fills the header in. b->out then holds the file. */
void build_wmk_finish(struct wmk_builder *b);
/* Overwrites a header field of 8 or 4 bytes: build_header_u64(&b, offsetof(struct wmk_header, limit_bytes), 1). */
void build_header_u64(struct wmk_builder *b, size_t off, uint64_t v);
void build_header_u32(struct wmk_builder *b, size_t off, uint32_t v);

/* "wm1:...:check" into buf of 96 bytes. build: "0", 8 digits or m and digits. */
const char *build_token(char *buf, uint64_t run, const char *build, uint32_t site, uint64_t id, uint32_t prefix);
const char *build_epoch_token(char *buf, uint64_t run, const char *build, uint32_t site, uint64_t id, uint32_t prefix,
			      uint32_t epoch);

#endif
