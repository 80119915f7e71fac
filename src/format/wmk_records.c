/*
 * wmk_records.c - the records of a .wmk file: one table of their kinds, the pass that checks and counts them, and walks over
 * them. The pass goes on in each chunk where it ended before: images and strings are taken out, all else stays where it is.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/cursor.h"
#include "base/sum.h"
#include "format/wmk.h"
#include "format/wmk_bytes.h"
#include "waymark/abi.h"

static struct error *check_state(struct wmk_file *w, struct cursor *c, size_t off, uint32_t state)
{
	if (state == WMK_STATE_OPEN)
		w->uncommitted++;
	if (state <= WMK_STATE_GIVEN_UP)
		return NULL;
	c->off = off;
	return cursor_error(c, "a record in state %" PRIu32 ": the file is damaged", state);
}

static struct error *take_image(struct wmk_file *w, struct cursor *c, size_t off)
{
	const uint8_t *p = w->bytes + off;
	struct wmk_file_image image = {.record_number = (uint32_t)w->place_count[WMK_IMAGES] - 1};
	struct wmk_image *ret = &image.record;

	*ret = (struct wmk_image){WMK_IMAGE_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	memcpy(ret->build_id, p + offsetof(struct wmk_image, build_id), sizeof ret->build_id);
	c->off = off;
	if (ret->build_id_bytes > sizeof ret->build_id)
		return cursor_error(c, "a build id of %" PRIu32 " bytes: the file is damaged", ret->build_id_bytes);
	if (ret->kind >= WMK_IMAGE_KIND_END || (ret->kind && ret->site_count))
		return cursor_error(c,
				    "an image of kind %" PRIu32 " with %" PRIu32
				    " sites: the file is damaged or of a newer waymark",
				    ret->kind, ret->site_count);
	if (ret->site_count == 0) /* only paths are counted in it, or its sites are records */
		ret->site_base = 0;
	else if (ret->site_base < WM_SITE_FIRST || ret->site_count > UINT32_MAX - ret->site_base)
		return cursor_error(c, "an image with sites %" PRIu32 " + %" PRIu32 ": the file is damaged",
				    ret->site_base, ret->site_count);
	return wmk_image_vec_append(&w->image_vec, image);
}

/* A place that a thread keeps for what is to come. */
static bool is_free_path_count(const uint8_t *p)
{
	return p[offsetof(struct wmk_path_count, kind)] == 0;
}

static struct error *scan_records(struct wmk_file *w, struct cursor *c, struct wmk_file_chunk *chunk)
{
	const struct wmk_kind_row *kind = &wmk_kinds[chunk->kind];
	size_t off = chunk->read_bytes;
	struct error *err = NULL;

	for (; chunk->len_bytes - off >= kind->record_bytes && !err; off += kind->record_bytes) {
		const uint8_t *p = w->bytes + chunk->off + off;
		uint32_t state = wmk_record_state(p, kind->record_bytes);

		if (kind->is_free && kind->is_free(p))
			continue;
		w->place_count[chunk->kind]++;
		err = check_state(w, c, chunk->off + off, state);
		if (err || state != WMK_STATE_WHOLE)
			continue;
		w->whole_count[chunk->kind]++;
		if (kind->take)
			err = kind->take(w, c, chunk->off + off);
	}
	chunk->read_bytes = off;
	return err;
}

/* Strings follow each other; one whose place was claimed and not filled hides what comes after it in its chunk only if its
 * length was not written either. */
static struct error *scan_strings(struct wmk_file *w, struct cursor *c, struct wmk_file_chunk *chunk)
{
	size_t head = sizeof(struct wmk_string);
	size_t off = chunk->read_bytes;
	struct error *err = NULL;

	while (!err && off + head <= chunk->len_bytes) {
		const uint8_t *p = w->bytes + chunk->off + off;
		uint32_t len = wmk_load_u32(p);
		uint32_t state = wmk_load_u32(p + 4);
		struct wmk_file_string string = {.number = chunk->first + off};

		err = check_state(w, c, chunk->off + off, state);
		if (err || (state != WMK_STATE_WHOLE && len == 0))
			break;
		if (len > chunk->body_bytes - head - off) {
			c->off = chunk->off + off;
			return cursor_error(c, "a string of %" PRIu32 " bytes: the file is damaged", len);
		}
		if (len > chunk->len_bytes - head - off)
			break; /* of a truncated file */
		if (state == WMK_STATE_WHOLE) {
			string.text = arena_strndup(&w->arena, (const char *)p + head, len);
			err = string.text ? wmk_string_vec_append(&w->strings, string) : &error_no_memory;
		}
		off += head + ((size_t)len + 7) / 8 * 8;
	}
	chunk->read_bytes = off;
	return err;
}

/* clang-format off */
const struct wmk_kind_row wmk_kinds[WMK_KIND_END] = {
	[WMK_IMAGES] = {.name = "image", .record_bytes = sizeof(struct wmk_image), .is_context = true, .scan = scan_records,
			.take = take_image},
	[WMK_NODES] = {.name = "prefix", .record_bytes = sizeof(struct wmk_node), .is_context = true, .is_numbered = true,
		       .scan = scan_records},
	[WMK_STRINGS] = {.name = "string", .is_context = true, .scan = scan_strings},
	[WMK_EVENTS] = {.name = "event", .record_bytes = sizeof(struct wmk_event), .scan = scan_records},
	[WMK_HEAP] = {.name = "heap record", .record_bytes = sizeof(struct wmk_heap), .scan = scan_records},
	[WMK_PATHS] = {.name = "path table", .may_span = true, .scan = wmk_scan_path_tables},
	[WMK_PATH_COUNTS] = {.name = "path count", .record_bytes = sizeof(struct wmk_path_count), .scan = scan_records,
			     .is_free = is_free_path_count, .take = wmk_check_path_count},
	[WMK_RUNS] = {.name = "run", .record_bytes = sizeof(struct wmk_run), .scan = scan_records},
	[WMK_FUNCTIONS] = {.name = "function", .record_bytes = sizeof(struct wmk_function), .is_context = true,
			   .is_numbered = true, .scan = scan_records},
	[WMK_SITES] = {.name = "site", .record_bytes = sizeof(struct wmk_site), .is_context = true, .is_numbered = true,
		       .scan = scan_records, .take = wmk_check_site},
	[WMK_LINES] = {.name = "line", .record_bytes = sizeof(struct wmk_line), .is_context = true, .scan = scan_records},
	[WMK_EPOCHS] = {.name = "epoch", .record_bytes = sizeof(struct wmk_epoch), .is_context = true, .scan = scan_records},
	[WMK_EPOCH_FUNCTIONS] = {.name = "function of an epoch", .record_bytes = sizeof(struct wmk_epoch_function),
				 .is_context = true, .scan = scan_records},
	[WMK_EPOCH_EDGES] = {.name = "call of an epoch", .record_bytes = sizeof(struct wmk_epoch_edge), .is_context = true,
			     .scan = scan_records, .take = wmk_check_edge},
	[WMK_SUMS] = {.name = "sum of events", .record_bytes = sizeof(struct wmk_sum), .scan = scan_records},
	[WMK_HEAP_SUMS] = {.name = "sum of heap records", .record_bytes = sizeof(struct wmk_heap_sum), .scan = scan_records},
	[WMK_THREADS] = {.name = "name of a thread", .record_bytes = sizeof(struct wmk_thread), .scan = scan_records},
	[WMK_HEAP_TIMES] = {.name = "time of the heap", .record_bytes = sizeof(struct wmk_heap_time), .scan = scan_records},
};
/* clang-format on */

const uint8_t *wmk_next_record(const struct wmk_file *w, struct wmk_walk *walk, enum wmk_kind kind)
{
	size_t size = wmk_kinds[kind].record_bytes;

	for (; walk->chunk < w->chunks.count; walk->chunk++, walk->off = 0) {
		const struct wmk_file_chunk *chunk = &w->chunks.items[walk->chunk];

		if (chunk->kind != kind)
			continue;
		while (chunk->len_bytes - walk->off >= size) {
			const uint8_t *p = w->bytes + chunk->off + walk->off;

			walk->off += size;
			if (wmk_record_state(p, size) == WMK_STATE_WHOLE)
				return p;
		}
	}
	return NULL;
}

bool wmk_next_event(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_event *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_EVENTS);

	if (p)
		*ret = (struct wmk_event){WMK_EVENT_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

bool wmk_next_thread(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_thread *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_THREADS);

	if (p)
		*ret = (struct wmk_thread){WMK_THREAD_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

static void load_lives(uint64_t *ret, const uint8_t *p)
{
	for (size_t i = 0; i < WMK_LIVES; i++)
		ret[i] = wmk_load_u64(p + i * sizeof *ret);
}

bool wmk_next_heap(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_heap *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_HEAP);

	if (p) {
		*ret = (struct wmk_heap){WMK_HEAP_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
		load_lives(ret->lives, p + offsetof(struct wmk_heap, lives));
	}
	return p;
}

bool wmk_next_heap_time(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_heap_time *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_HEAP_TIMES);

	if (p)
		*ret = (struct wmk_heap_time){WMK_HEAP_TIME_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

uint64_t wmk_heap_live(const struct wmk_heap *h)
{
	uint64_t all = h->bytes + h->inherited_bytes, freed = h->freed_bytes + h->inherited_freed_bytes;

	return all > freed ? all - freed : 0;
}

uint64_t wmk_heap_freed(const struct wmk_heap *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < WMK_LIVES; i++)
		sum = sum_limited(sum, h->lives[i]);
	return sum;
}

uint64_t wmk_heap_at_peak(const struct wmk_file *w, const struct wmk_heap *h)
{
	return h->at_peak_of == w->header.heap_peak_bytes ? h->at_peak_bytes : wmk_heap_live(h);
}

static uint64_t left_of(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

struct wmk_heap_sum wmk_sum_of_heap(const struct wmk_file *w, const struct wmk_heap *h)
{
	struct wmk_heap_sum sum = {.id = h->id,
				   .prefix = h->prefix,
				   .site = h->site,
				   .count = h->count,
				   .bytes = h->bytes,
				   .freed_count = wmk_heap_freed(h),
				   .freed_bytes = h->freed_bytes,
				   .at_peak_bytes = wmk_heap_at_peak(w, h),
				   .inherited_count = h->inherited_count,
				   .inherited_bytes = h->inherited_bytes,
				   .inherited_freed_count = h->inherited_freed_count,
				   .inherited_freed_bytes = h->inherited_freed_bytes,
				   .temporary_count = h->temporary_count,
				   .epoch = h->epoch,
				   .size_class = h->size_class};

	if (w->header.flags & (WMK_FLAG_CLOSED | WMK_FLAG_LEFT))
		sum.flags = WMK_HEAP_SUM_ENDED;
	if (!w->header.heap_interval_bytes)
		memcpy(sum.lives, h->lives, sizeof sum.lives);
	if (w->header.heap_reach == WMK_REACH_TOLD || w->header.heap_reach == WMK_REACH_THREADS) {
		sum.reachable_count = left_of(left_of(h->count, sum.freed_count), h->unreached_count);
		sum.reachable_bytes = left_of(left_of(h->bytes, h->freed_bytes), h->unreached_bytes);
	}
	if (w->header.heap_reach == WMK_REACH_TOLD) {
		sum.lost_count = h->unreached_count;
		sum.lost_bytes = h->unreached_bytes;
	}
	return sum;
}

bool wmk_next_sum(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_sum *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_SUMS);

	if (p)
		*ret = (struct wmk_sum){WMK_SUM_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

bool wmk_next_heap_sum(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_heap_sum *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_HEAP_SUMS);

	if (p) {
		*ret = (struct wmk_heap_sum){WMK_HEAP_SUM_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
		load_lives(ret->lives, p + offsetof(struct wmk_heap_sum, lives));
	}
	return p;
}

bool wmk_next_run(const struct wmk_file *w, struct wmk_walk *walk, uint64_t *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_RUNS);

	if (p)
		*ret = wmk_load_u64(p);
	return p != NULL;
}
