/*
 * wmk_write.c - .wmk bytes from records: field by field, whatever the order of bytes of the host.
 */
#include "format/wmk_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "format/wmk_fields.h"
#include "waymark/abi.h"
#include "waymark/paths.h"

enum {
	STATE_WHOLE = 1,
	TABLE_ALIGN = 16,
};

static void put_zeros(struct buffer *b, size_t count)
{
	static const uint8_t zeros[4096];

	for (; count > sizeof zeros; count -= sizeof zeros)
		buffer_bytes(b, zeros, sizeof zeros);
	buffer_bytes(b, zeros, count);
}

void wmk_writer_init(struct wmk_writer *w)
{
	*w = (struct wmk_writer){0};
	put_zeros(&w->out, WMK_HEADER_BYTES);
}

void wmk_writer_deinit(struct wmk_writer *w)
{
	buffer_deinit(&w->out);
}

static size_t body_used(const struct wmk_writer *w)
{
	return w->out.len_bytes - w->chunk_off - WMK_CHUNK_HEADER_BYTES;
}

static void end_chunk(struct wmk_writer *w)
{
	if (!w->kind || w->out.failed)
		return;
	buffer_put_u32(&w->out, w->chunk_off + offsetof(struct wmk_chunk_header, used_bytes), (uint32_t)body_used(w));
	if (w->kind == WMK_STRINGS)
		w->first += WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES;
	else if (w->kind == WMK_NODES)
		w->first += body_used(w) / sizeof(struct wmk_node);
	put_zeros(&w->out, w->end_off - w->out.len_bytes);
}

static void begin_chunk(struct wmk_writer *w, enum wmk_kind kind, uint64_t first, size_t record_bytes)
{
	size_t span = (WMK_CHUNK_HEADER_BYTES + record_bytes + WMK_CHUNK_BYTES - 1) / WMK_CHUNK_BYTES;

	w->kind = kind;
	w->first = first;
	w->chunk_off = w->out.len_bytes;
	w->end_off = w->chunk_off + span * WMK_CHUNK_BYTES;
	w->chunk_count += (uint32_t)span;
	buffer_u32(&w->out, WMK_CHUNK_MAGIC);
	buffer_u32(&w->out, kind);
	buffer_u32(&w->out, 0); /* used_bytes */
	buffer_u32(&w->out, 0); /* tid */
	buffer_u64(&w->out, w->first);
	buffer_u32(&w->out, span > 1 ? (uint32_t)span : 0);
	put_zeros(&w->out, sizeof(((struct wmk_chunk_header *)0)->zero));
}

/* Makes room for a record in a chunk of its kind. */
static void begin_record(struct wmk_writer *w, enum wmk_kind kind, size_t record_bytes)
{
	bool is_same = w->kind == kind;

	if (is_same && record_bytes <= w->end_off - w->out.len_bytes)
		return;
	end_chunk(w);
	begin_chunk(w, kind, is_same ? w->first : kind == WMK_NODES ? WM_PREFIX_FIRST : 0, record_bytes);
}

uint64_t wmk_write_string(struct wmk_writer *w, const char *text)
{
	size_t len = strlen(text), padding = (8 - len % 8) % 8;
	uint64_t number;

	begin_record(w, WMK_STRINGS, sizeof(struct wmk_string) + len + padding);
	number = w->first + body_used(w);
	buffer_u32(&w->out, (uint32_t)len);
	buffer_u32(&w->out, STATE_WHOLE);
	buffer_bytes(&w->out, text, len);
	put_zeros(&w->out, padding);
	return number;
}

/* Begins a whole record of zeros, whose fields are put then. Returns where it is. */
static size_t put_whole(struct wmk_writer *w, size_t record_bytes)
{
	put_zeros(&w->out, record_bytes - 4);
	buffer_u32(&w->out, STATE_WHOLE);
	return w->out.len_bytes - record_bytes;
}

static size_t begin_whole(struct wmk_writer *w, enum wmk_kind kind, size_t record_bytes)
{
	begin_record(w, kind, record_bytes);
	return put_whole(w, record_bytes);
}

/* The same with record `number` of a kind whose records have numbers. */
static size_t begin_numbered(struct wmk_writer *w, enum wmk_kind kind, uint32_t number, size_t record_bytes)
{
	if (w->kind != kind || record_bytes > w->end_off - w->out.len_bytes ||
	    w->first + body_used(w) / record_bytes != number) {
		end_chunk(w);
		begin_chunk(w, kind, number, record_bytes);
	}
	return put_whole(w, record_bytes);
}

/* A field of *r, in the record at off. */
#define PUT_FIELD(bits, name) buffer_put(&w->out, off + offsetof(__typeof__(*r), name), r->name, (bits) / 8);

void wmk_write_image(struct wmk_writer *w, const struct wmk_image *r)
{
	size_t off = begin_whole(w, WMK_IMAGES, sizeof *r);

	WMK_IMAGE_FIELDS(PUT_FIELD)
	for (size_t i = 0; i < sizeof r->build_id; i++)
		buffer_put(&w->out, off + offsetof(struct wmk_image, build_id) + i, r->build_id[i], 1);
}

void wmk_write_node(struct wmk_writer *w, const struct wmk_node *r)
{
	size_t off = begin_whole(w, WMK_NODES, sizeof *r);

	WMK_NODE_FIELDS(PUT_FIELD)
}

void wmk_write_function(struct wmk_writer *w, uint32_t number, const struct wmk_function *r)
{
	size_t off = begin_numbered(w, WMK_FUNCTIONS, number, sizeof *r);

	WMK_FUNCTION_FIELDS(PUT_FIELD)
}

void wmk_write_site(struct wmk_writer *w, uint32_t number, const struct wmk_site *r)
{
	size_t off = begin_numbered(w, WMK_SITES, number, sizeof *r);

	WMK_SITE_FIELDS(PUT_FIELD)
}

void wmk_write_line(struct wmk_writer *w, const struct wmk_line *r)
{
	size_t off = begin_whole(w, WMK_LINES, sizeof *r);

	WMK_LINE_FIELDS(PUT_FIELD)
}

void wmk_write_epoch(struct wmk_writer *w, const struct wmk_epoch *r)
{
	size_t off = begin_whole(w, WMK_EPOCHS, sizeof *r);

	WMK_EPOCH_FIELDS(PUT_FIELD)
}

void wmk_write_epoch_function(struct wmk_writer *w, const struct wmk_epoch_function *r)
{
	size_t off = begin_whole(w, WMK_EPOCH_FUNCTIONS, sizeof *r);

	WMK_EPOCH_FUNCTION_FIELDS(PUT_FIELD)
}

void wmk_write_epoch_edge(struct wmk_writer *w, const struct wmk_epoch_edge *r)
{
	size_t off = begin_whole(w, WMK_EPOCH_EDGES, sizeof *r);

	WMK_EPOCH_EDGE_FIELDS(PUT_FIELD)
}

void wmk_write_sum(struct wmk_writer *w, const struct wmk_sum *r)
{
	size_t off = begin_whole(w, WMK_SUMS, sizeof *r);

	WMK_SUM_FIELDS(PUT_FIELD)
}

void wmk_write_heap_sum(struct wmk_writer *w, const struct wmk_heap_sum *r)
{
	size_t off = begin_whole(w, WMK_HEAP_SUMS, sizeof *r);

	WMK_HEAP_SUM_FIELDS(PUT_FIELD)
	for (size_t i = 0; i < WMK_LIVES; i++)
		buffer_put(&w->out, off + offsetof(struct wmk_heap_sum, lives) + i * sizeof r->lives[i], r->lives[i],
			   sizeof r->lives[i]);
}

void wmk_write_run(struct wmk_writer *w, uint64_t run)
{
	buffer_put(&w->out, begin_whole(w, WMK_RUNS, sizeof(struct wmk_run)), run, sizeof run);
}

void wmk_write_path_table(struct wmk_writer *w, const struct wmk_paths *r, uint64_t activations, const uint64_t *words)
{
	size_t word_count = (size_t)r->entry_count * (r->kind == WM1_PATHS_ARRAY ? 1 : 2);
	size_t bytes = sizeof *r + 16 + word_count * 8;
	size_t padding = (TABLE_ALIGN - bytes % TABLE_ALIGN) % TABLE_ALIGN, off;

	begin_record(w, WMK_PATHS, bytes + padding);
	off = put_whole(w, sizeof *r);
	WMK_PATHS_FIELDS(PUT_FIELD)
	buffer_u64(&w->out, activations);
	buffer_u64(&w->out, 0);
	for (size_t i = 0; i < word_count; i++)
		buffer_u64(&w->out, words[i]);
	put_zeros(&w->out, padding);
}

void wmk_write_path_count(struct wmk_writer *w, const struct wmk_path_count *r)
{
	size_t off = begin_whole(w, WMK_PATH_COUNTS, sizeof *r);

	WMK_PATH_COUNT_FIELDS(PUT_FIELD)
}

struct error *wmk_writer_finish(struct wmk_writer *w, const struct wmk_header *r)
{
	const size_t off = 0;
	struct error *err;

	end_chunk(w);
	w->kind = 0;
	err = buffer_error(&w->out);
	if (err)
		return err;
	WMK_HEADER_FIELDS(PUT_FIELD)
	memcpy(w->out.bytes, WMK_MAGIC, sizeof r->magic);
	memcpy(w->out.bytes + offsetof(struct wmk_header, program), r->program, sizeof r->program);
	buffer_put_u32(&w->out, offsetof(struct wmk_header, version), WMK_VERSION);
	buffer_put_u32(&w->out, offsetof(struct wmk_header, chunk_bytes), WMK_CHUNK_BYTES);
	buffer_put_u32(&w->out, offsetof(struct wmk_header, chunk_count), w->chunk_count);
	return NULL;
}
