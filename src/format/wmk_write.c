/*
 * wmk_write.c - .wmk bytes from records: field by field, so that the host's layout of structs does not matter.
 */
#include "format/wmk_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

void wmk_write_image(struct wmk_writer *w, const struct wmk_image *image)
{
	begin_record(w, WMK_IMAGES, sizeof *image);
	buffer_u64(&w->out, image->meta_key);
	buffer_u64(&w->out, image->load_address);
	buffer_u32(&w->out, image->site_base);
	buffer_u32(&w->out, image->site_count);
	buffer_u64(&w->out, image->path);
	buffer_bytes(&w->out, image->build_id, sizeof image->build_id);
	buffer_u32(&w->out, image->build_id_bytes);
	buffer_u32(&w->out, image->kind);
	put_zeros(&w->out, sizeof image->zero);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_node(struct wmk_writer *w, const struct wmk_node *node)
{
	begin_record(w, WMK_NODES, sizeof *node);
	buffer_u64(&w->out, node->id);
	buffer_u32(&w->out, node->parent);
	buffer_u32(&w->out, node->site);
	buffer_u32(&w->out, node->run);
	buffer_u32(&w->out, node->epoch);
	buffer_u32(&w->out, 0);
	buffer_u32(&w->out, STATE_WHOLE);
}

/* Makes room for record `number` of a kind whose records have numbers. */
static void begin_numbered(struct wmk_writer *w, enum wmk_kind kind, uint32_t number, size_t record_bytes)
{
	if (w->kind == kind && record_bytes <= w->end_off - w->out.len_bytes &&
	    w->first + body_used(w) / record_bytes == number)
		return;
	end_chunk(w);
	begin_chunk(w, kind, number, record_bytes);
}

void wmk_write_function(struct wmk_writer *w, uint32_t number, const struct wmk_function *function)
{
	begin_numbered(w, WMK_FUNCTIONS, number, sizeof *function);
	buffer_u64(&w->out, function->address);
	buffer_u32(&w->out, function->image);
	buffer_u32(&w->out, function->name);
	buffer_u32(&w->out, function->owner);
	buffer_u32(&w->out, function->descriptor);
	buffer_u32(&w->out, function->file);
	buffer_u32(&w->out, function->line);
	buffer_u32(&w->out, function->flags);
	put_zeros(&w->out, sizeof function->zero);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_site(struct wmk_writer *w, uint32_t number, const struct wmk_site *site)
{
	begin_numbered(w, WMK_SITES, number, sizeof *site);
	buffer_u32(&w->out, site->function);
	buffer_u32(&w->out, site->kind);
	buffer_u32(&w->out, site->name);
	buffer_u32(&w->out, site->position);
	buffer_u32(&w->out, site->line);
	buffer_u32(&w->out, site->flags);
	buffer_u32(&w->out, 0);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_line(struct wmk_writer *w, const struct wmk_line *line)
{
	begin_record(w, WMK_LINES, sizeof *line);
	buffer_u32(&w->out, line->function);
	buffer_u32(&w->out, line->position);
	buffer_u32(&w->out, line->line);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_epoch(struct wmk_writer *w, const struct wmk_epoch *epoch)
{
	begin_record(w, WMK_EPOCHS, sizeof *epoch);
	buffer_u64(&w->out, epoch->start_ns);
	buffer_u32(&w->out, epoch->epoch);
	buffer_u32(&w->out, epoch->function_count);
	buffer_u32(&w->out, epoch->edge_count);
	put_zeros(&w->out, sizeof epoch->zero);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_epoch_function(struct wmk_writer *w, const struct wmk_epoch_function *function)
{
	begin_record(w, WMK_EPOCH_FUNCTIONS, sizeof *function);
	buffer_u64(&w->out, function->contexts);
	buffer_u64(&w->out, function->restart);
	buffer_u32(&w->out, function->epoch);
	buffer_u32(&w->out, function->function);
	buffer_u32(&w->out, function->flags);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_epoch_edge(struct wmk_writer *w, const struct wmk_epoch_edge *edge)
{
	begin_record(w, WMK_EPOCH_EDGES, sizeof *edge);
	buffer_u64(&w->out, edge->addend);
	buffer_u32(&w->out, edge->epoch);
	buffer_u32(&w->out, edge->site);
	buffer_u32(&w->out, edge->callee);
	buffer_u32(&w->out, edge->kind);
	buffer_u32(&w->out, 0);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_run(struct wmk_writer *w, uint64_t run)
{
	begin_record(w, WMK_RUNS, sizeof(struct wmk_run));
	buffer_u64(&w->out, run);
	buffer_u32(&w->out, 0);
	buffer_u32(&w->out, STATE_WHOLE);
}

void wmk_write_path_table(struct wmk_writer *w, const struct wmk_paths *head, uint64_t activations,
			  const uint64_t *words)
{
	size_t word_count = (size_t)head->entry_count * (head->kind == WM1_PATHS_ARRAY ? 1 : 2);
	size_t bytes = sizeof *head + 16 + word_count * 8;
	size_t padding = (TABLE_ALIGN - bytes % TABLE_ALIGN) % TABLE_ALIGN;

	begin_record(w, WMK_PATHS, bytes + padding);
	buffer_u64(&w->out, head->name_key);
	buffer_u64(&w->out, head->cfg_key);
	buffer_u64(&w->out, head->path_count);
	buffer_u32(&w->out, head->image);
	buffer_u8(&w->out, head->kind);
	buffer_u8(&w->out, head->bits);
	buffer_u16(&w->out, head->flags);
	buffer_u32(&w->out, head->entry_count);
	put_zeros(&w->out, sizeof head->zero);
	buffer_u32(&w->out, STATE_WHOLE);
	buffer_u64(&w->out, activations);
	buffer_u64(&w->out, 0);
	for (size_t i = 0; i < word_count; i++)
		buffer_u64(&w->out, words[i]);
	put_zeros(&w->out, padding);
}

void wmk_write_path_count(struct wmk_writer *w, const struct wmk_path_count *count)
{
	begin_record(w, WMK_PATH_COUNTS, sizeof *count);
	buffer_u64(&w->out, count->name_key);
	buffer_u64(&w->out, count->cfg_key);
	buffer_u64(&w->out, count->path_count);
	buffer_u64(&w->out, count->r);
	buffer_u64(&w->out, count->count);
	buffer_u64(&w->out, count->id);
	buffer_u32(&w->out, count->prefix);
	buffer_u32(&w->out, count->site);
	buffer_u32(&w->out, count->image);
	buffer_u8(&w->out, count->kind);
	buffer_u8(&w->out, count->bits);
	buffer_u16(&w->out, count->flags);
	buffer_u32(&w->out, count->epoch);
	buffer_u32(&w->out, STATE_WHOLE);
}

/* The header, which has a page of zeros at the start of out, byte for byte. */
static void put_header(struct buffer *b, const struct wmk_header *h, uint32_t chunk_count)
{
	const uint64_t counts[] = {h->start_realtime_ns, h->start_monotonic_ns, h->limit_bytes, h->dropped_events,
				   h->dropped_prefixes,  h->dropped_heap_calls, h->drop_errno,  h->heap_live_bytes,
				   h->heap_peak_bytes,   h->heap_unknown_frees};
	const uint64_t samples[] = {h->samples,         h->samples_unknown, h->samples_in_agent,
				    h->samples_checked, h->samples_agreed,  h->samples_unchecked};

	buffer_bytes(b, WMK_MAGIC, 8);
	buffer_u32(b, WMK_VERSION);
	buffer_u32(b, WMK_CHUNK_BYTES);
	buffer_u64(b, h->run);
	buffer_u64(b, h->parent_run);
	buffer_u32(b, h->pid);
	buffer_u32(b, h->flags);
	buffer_u32(b, chunk_count);
	buffer_u32(b, 0);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		buffer_u64(b, counts[i]);
	buffer_bytes(b, h->program, sizeof h->program);
	buffer_u64(b, h->dropped_path_tables);
	buffer_u64(b, h->dropped_paths);
	buffer_u64(b, h->merged_runs);
	buffer_u64(b, h->dropped_code);
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
		buffer_u64(b, samples[i]);
	buffer_u64(b, h->lost_children);
	buffer_u64(b, h->session);
	buffer_u32(b, h->session_pid);
	buffer_u32(b, h->agent);
	buffer_u64(b, h->missed_programs);
	buffer_u64(b, h->sample_period_ns);
	buffer_u64(b, h->samples_cut);
	buffer_u64(b, h->samples_guessed);
}

struct error *wmk_writer_finish(struct wmk_writer *w, const struct wmk_header *header)
{
	struct buffer bytes = {0};
	struct error *err;

	end_chunk(w);
	w->kind = 0;
	put_header(&bytes, header, w->chunk_count);
	err = buffer_error(&bytes);
	if (!err)
		err = buffer_error(&w->out);
	if (!err)
		memcpy(w->out.bytes, bytes.bytes, bytes.len_bytes);
	buffer_deinit(&bytes);
	return err;
}
