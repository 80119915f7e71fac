/*
 * wmk.c - bytes of a .wmk file to a model, in three steps: the header, the table of chunks, then one pass over the records
 * (wmk_records.c). Nothing is trusted: sizes are clamped to the bytes that are there, ranges of numbers must not overlap. A
 * file that grows is read in the same three steps, each of which goes on where it ended before: images and strings are written
 * one by one, and nodes are looked up where they stand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/order.h"
#include "base/vec.h"
#include "format/wmk.h"
#include "format/wmk_bytes.h"
#include "waymark/abi.h"

struct error *wmk_read_header(const void *bytes, size_t len_bytes, const char *name, struct wmk_header *ret)
{
	const uint8_t *p = bytes;
	struct wmk_header h;
	struct cursor c;

	cursor_init(&c, bytes, len_bytes, name);
	if (len_bytes == 0)
		return cursor_error(&c, "the file is empty, no .wmk file");
	if (memcmp(bytes, WMK_MAGIC, len_bytes < 8 ? len_bytes : 8) != 0)
		return cursor_error(&c, "this is no .wmk file");
	if (len_bytes < WMK_HEADER_BYTES)
		return cursor_error(&c, "truncated: %zu bytes, the header alone has %d", len_bytes, WMK_HEADER_BYTES);
	h = (struct wmk_header){WMK_HEADER_FIELDS(WMK_LOAD_FIELD)};
	memcpy(h.magic, p, sizeof h.magic);
	memcpy(h.program, p + offsetof(struct wmk_header, program), sizeof h.program);
	c.off = offsetof(struct wmk_header, chunk_bytes);
	if (h.version < WMK_VERSION_OLDEST || h.version > WMK_VERSION)
		return cursor_error(&c,
				    "version %" PRIu32 ", this waymark reads versions %d to %d: use the waymark that "
				    "built the program",
				    h.version, WMK_VERSION_OLDEST, WMK_VERSION);
	/* The three lay in another order. */
	if (h.version < WMK_VERSION_PEAK) {
		uint64_t live = h.heap_unknown_frees, peak = h.heap_live_bytes, unknown = h.heap_peak_bytes;

		h.heap_live_bytes = live;
		h.heap_peak_bytes = peak;
		h.heap_unknown_frees = unknown;
	}
	c.off = offsetof(struct wmk_header, run);
	if (h.chunk_bytes != WMK_CHUNK_BYTES && (h.chunk_bytes != WMK_UNIT_BYTES || h.version == WMK_VERSION_OLDEST))
		return cursor_error(&c, "chunks of %" PRIu32 " bytes, must be %d or %d: the file is damaged",
				    h.chunk_bytes, WMK_UNIT_BYTES, WMK_CHUNK_BYTES);
	c.off = offsetof(struct wmk_header, dropped_path_tables);
	if (!memchr(h.program, 0, sizeof h.program))
		return cursor_error(&c, "the program's path does not end: the file is damaged");
	*ret = h;
	return NULL;
}

const char *wmk_next_label(const struct wmk_file *w, size_t *off)
{
	const char *label = (const char *)w->bytes + WMK_LABELS_OFF + *off;
	size_t len = strnlen(label, WMK_LABELS_BYTES - *off);

	if (!len || len == WMK_LABELS_BYTES - *off || w->header.version == WMK_VERSION_OLDEST)
		return NULL;
	*off += len + 1;
	return label;
}

/* Where units are small, chunks of all kinds have several. */
static bool may_span(const struct wmk_file *w, uint32_t kind)
{
	return w->header.chunk_bytes == WMK_UNIT_BYTES || wmk_kinds[kind].may_span;
}

/* Checks what a chunk says it is. places: how many units its header may cover. */
static struct error *check_chunk(const struct wmk_file *w, const struct cursor *at, uint32_t magic, uint32_t kind,
				 uint32_t span, uint64_t places)
{
	if (magic != WMK_CHUNK_MAGIC)
		return cursor_error(at, "no chunk starts here: the file is damaged");
	if (kind < WMK_IMAGES || kind >= WMK_KIND_END || !wmk_kinds[kind].scan)
		return cursor_error(
			at, "a chunk of unknown kind, %" PRIu32 ": the file is damaged or of a newer waymark", kind);
	if (span > places || (span > 1 && !may_span(w, kind)))
		return cursor_error(at, "a chunk that spans %" PRIu32 ", %" PRIu64 " can be: the file is damaged", span,
				    may_span(w, kind) ? places : 1);
	return NULL;
}

/* Reads the chunk header at c->off. ret->kind 0: space that no one has begun to use. *span: units that it covers. */
static struct error *read_chunk(const struct wmk_file *w, struct cursor *c, uint64_t places, struct wmk_file_chunk *ret,
				uint32_t *span)
{
	struct cursor at = *c;
	uint32_t magic, kind, used;
	struct error *err;

	err = cursor_u32(c, &magic) ?:
	      cursor_u32(c, &kind) ?:
	      cursor_u32(c, &used) ?:
	      cursor_u32(c, &ret->tid) ?:
	      cursor_u64(c, &ret->first) ?:
	      cursor_u32(c, span) ?:
	      cursor_skip(c, sizeof(((struct wmk_chunk_header *)0)->zero));
	if (err)
		return err;
	ret->off = c->off;
	ret->kind = 0;
	ret->len_bytes = 0;
	if (magic == 0 && used == 0) {
		*span = 1;
		return NULL;
	}
	if (*span == 0)
		*span = 1;
	err = check_chunk(w, &at, magic, kind, *span, places);
	if (err)
		return err;
	ret->kind = (enum wmk_kind)kind;
	ret->body_bytes = (size_t)*span * w->header.chunk_bytes - WMK_CHUNK_HEADER_BYTES;
	ret->len_bytes = used < ret->body_bytes ? used : ret->body_bytes;
	if ((kind == WMK_HEAP || kind == WMK_HEAP_SUMS) && w->header.version < WMK_VERSION_HEAP)
		ret->len_bytes = 0;
	if (ret->len_bytes > cursor_left(c))
		ret->len_bytes = cursor_left(c);
	return NULL;
}

/* Can it take another record? Of strings that is not known. */
static bool has_room(const struct wmk_file_chunk *chunk)
{
	return chunk->body_bytes - chunk->len_bytes >= wmk_kinds[chunk->kind].record_bytes;
}

static struct error *keep_chunk(struct wmk_file *w, const struct wmk_file_chunk *chunk)
{
	size_t index = w->chunks.count;
	struct error *err = wmk_chunk_vec_append(&w->chunks, *chunk);

	if (!err && wmk_kinds[chunk->kind].is_numbered)
		err = wmk_index_vec_append(&w->numbered[chunk->kind], index);
	return err ? err : wmk_index_vec_append(&w->growing, index);
}

static struct error *read_chunks(struct wmk_file *w, struct cursor *c)
{
	uint64_t announced = w->header.chunk_count, unit_bytes = w->header.chunk_bytes;
	uint64_t present = (w->len_bytes - WMK_HEADER_BYTES + unit_bytes - 1) / unit_bytes;
	uint64_t count = announced < present ? announced : present;
	uint32_t span = 1;
	struct error *err = NULL;

	for (; w->next_chunk < count && !err; w->next_chunk += span) {
		struct wmk_file_chunk chunk = {0};

		err = cursor_seek(c, WMK_HEADER_BYTES + (size_t)w->next_chunk * unit_bytes);
		if (!err && cursor_left(c) < WMK_CHUNK_HEADER_BYTES)
			break;
		if (!err)
			err = read_chunk(w, c, announced - w->next_chunk, &chunk, &span);
		if (!err && chunk.kind && (!w->has_contexts_only || wmk_kinds[chunk.kind].is_context))
			err = keep_chunk(w, &chunk);
	}
	return err;
}

/* How much is in use now of the chunks that were read before. */
static struct error *measure_growing(struct wmk_file *w, struct cursor *c)
{
	struct error *err = NULL;

	for (size_t i = 0; i < w->growing.count && !err; i++) {
		struct wmk_file_chunk *chunk = &w->chunks.items[w->growing.items[i]];
		struct wmk_file_chunk now = {0};
		uint32_t span;

		err = cursor_seek(c, chunk->off - WMK_CHUNK_HEADER_BYTES);
		if (!err)
			err = read_chunk(w, c, UINT32_MAX, &now, &span);
		if (!err && (now.kind != chunk->kind || now.first != chunk->first || now.len_bytes < chunk->len_bytes))
			err = cursor_error(c, "a chunk became another one: the file is damaged");
		if (!err)
			chunk->len_bytes = now.len_bytes;
	}
	return err;
}

/* Says so when the file ends before what its header announces. */
static struct error *note_truncation(struct wmk_file *w)
{
	uint64_t announced = w->header.chunk_count, unit_bytes = w->header.chunk_bytes;
	char tables[64] = "";

	if (announced <= (w->len_bytes - WMK_HEADER_BYTES) / unit_bytes) {
		if (!(w->header.flags & WMK_FLAG_LOST))
			return NULL;
		w->truncated = arena_printf(&w->arena,
					    "%s: another process truncated it, or its file system failed, while it was "
					    "recorded: the recording ends there",
					    w->name);
		return w->truncated ? NULL : &error_no_memory;
	}
	if (w->lost_path_tables)
		snprintf(tables, sizeof tables, ", with %" PRIu64 " tables of paths or more", w->lost_path_tables);
	w->truncated = arena_printf(&w->arena,
				    "%s: truncated: %zu bytes, its header announces %" PRIu64
				    ": what is there was read, the rest is lost%s",
				    w->name, w->len_bytes, (uint64_t)WMK_HEADER_BYTES + announced * unit_bytes, tables);
	return w->truncated ? NULL : &error_no_memory;
}

/* Reads what is new in the chunks that grow; those that are full are done. */
static struct error *scan_growing(struct wmk_file *w, struct cursor *c)
{
	size_t kept = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < w->growing.count && !err; i++) {
		size_t index = w->growing.items[i];
		struct wmk_file_chunk *chunk = &w->chunks.items[index];

		err = wmk_kinds[chunk->kind].scan(w, c, chunk);
		if (has_room(chunk))
			w->growing.items[kept++] = index;
	}
	if (!err)
		w->growing.count = kept;
	return err;
}

static int compare_strings(const void *a, const void *b)
{
	return compare_u64(((const struct wmk_file_string *)a)->number, ((const struct wmk_file_string *)b)->number);
}

static int compare_chunks(const void *a, const void *b, void *data)
{
	const struct wmk_file_chunk *chunks = data;

	return compare_u64(chunks[*(const size_t *)a].first, chunks[*(const size_t *)b].first);
}

static int compare_images(const void *a, const void *b)
{
	const struct wmk_file_image *i = a, *j = b;

	return compare_u64(i->record.site_base, j->record.site_base) ?: compare_u64(i->record_number, j->record_number);
}

/* Sorts what is new of strings, images and nodes into what there was. */
static struct error *sort_all(struct wmk_file *w)
{
	w->images = w->image_vec.items;
	w->image_count = (uint32_t)w->image_vec.count;
	w->images_by_record = arena_calloc(&w->arena, w->place_count[WMK_IMAGES] + 1, sizeof *w->images_by_record);
	if (!w->images_by_record)
		return &error_no_memory;
	if (w->strings.count)
		qsort(w->strings.items, w->strings.count, sizeof *w->strings.items, compare_strings);
	if (w->image_count)
		qsort(w->images, w->image_count, sizeof *w->images, compare_images);
	for (size_t kind = 0; kind < WMK_KIND_END; kind++)
		if (w->numbered[kind].count)
			qsort_r(w->numbered[kind].items, w->numbered[kind].count, sizeof *w->numbered[kind].items,
				compare_chunks, w->chunks.items);
	for (uint32_t i = 0; i < w->image_count; i++) {
		const char *path = wmk_find_string(w, w->images[i].record.path);

		w->images[i].path = path ? path : "";
		w->images_by_record[w->images[i].record_number] = &w->images[i];
	}
	return NULL;
}

static const struct wmk_file_chunk *numbered_chunk(const struct wmk_file *w, enum wmk_kind kind, size_t i)
{
	return &w->chunks.items[w->numbered[kind].items[i]];
}

/* How many numbers the chunk takes, from `first` on. */
static uint64_t number_count(const struct wmk_file_chunk *chunk)
{
	return chunk->len_bytes / wmk_kinds[chunk->kind].record_bytes;
}

static struct error *check_numbers(const struct wmk_file *w, enum wmk_kind kind)
{
	for (size_t i = 0; i < w->numbered[kind].count; i++) {
		const struct wmk_file_chunk *chunk = numbered_chunk(w, kind, i);

		if (chunk->first > UINT32_MAX - number_count(chunk))
			return error_create(ERROR_FORMAT,
					    "%s: offset 0x%zx: a record of %s %" PRIu64 ": the file is damaged",
					    w->name, chunk->off, wmk_kinds[kind].name, chunk->first);
	}
	for (size_t i = 1; i < w->numbered[kind].count; i++) {
		const struct wmk_file_chunk *a = numbered_chunk(w, kind, i - 1);
		const struct wmk_file_chunk *b = numbered_chunk(w, kind, i);

		if (b->first - a->first < number_count(a))
			return error_create(ERROR_FORMAT,
					    "%s: offset 0x%zx: two records of %s %" PRIu64 ": the file is damaged",
					    w->name, b->off, wmk_kinds[kind].name, b->first);
	}
	return NULL;
}

/* Sites that are records and sites of images have different numbers. */
static struct error *check_sites(const struct wmk_file *w)
{
	for (size_t i = 0; i < w->numbered[WMK_SITES].count; i++) {
		const struct wmk_file_chunk *chunk = numbered_chunk(w, WMK_SITES, i);
		uint64_t count = number_count(chunk);

		if (chunk->first < WM_SITE_FIRST || chunk->first > WM1_SITE_ELIDED - count)
			return error_create(ERROR_FORMAT,
					    "%s: offset 0x%zx: sites %" PRIu64 " + %" PRIu64 ": the file is damaged",
					    w->name, chunk->off, chunk->first, count);
		for (uint32_t k = 0; k < w->image_count; k++) {
			const struct wmk_image *image = &w->images[k].record;

			if (chunk->first < (uint64_t)image->site_base + image->site_count &&
			    image->site_base < chunk->first + count)
				return error_create(ERROR_FORMAT,
						    "%s: offset 0x%zx: image %s has the sites of records, too: the "
						    "file is damaged",
						    w->name, chunk->off, w->images[k].path);
		}
	}
	return NULL;
}

/* Numbers must name one thing: of a site or a prefix that two records claim, neither could be trusted. */
static struct error *check_ranges(const struct wmk_file *w)
{
	struct error *err = NULL;

	for (uint32_t i = 1; i < w->image_count; i++) {
		const struct wmk_image *a = &w->images[i - 1].record;
		const struct wmk_image *b = &w->images[i].record;

		if (b->site_base - a->site_base < a->site_count)
			return error_create(ERROR_FORMAT,
					    "%s: images %s and %s share site %" PRIu32 ": the file is damaged", w->name,
					    w->images[i - 1].path, w->images[i].path, b->site_base);
	}
	for (int kind = WMK_IMAGES; kind < WMK_KIND_END && !err; kind++)
		err = check_numbers(w, (enum wmk_kind)kind);
	return err ? err : check_sites(w);
}

/* How many records there are that contexts are decoded with: it grows when one is added. */
static uint64_t context_places(const struct wmk_file *w)
{
	uint64_t count = w->strings.count;

	for (size_t kind = 0; kind < WMK_KIND_END; kind++)
		if (wmk_kinds[kind].is_context)
			count += w->place_count[kind];
	return count;
}

/* From the start, or from where it ended before. */
static struct error *read_on(struct wmk_file *w, bool *ret_is_new)
{
	uint64_t places = context_places(w);
	struct cursor c;
	struct error *err;

	cursor_init(&c, w->bytes, w->len_bytes, w->name);
	err = wmk_read_header(w->bytes, w->len_bytes, w->name, &w->header) ?:
	      measure_growing(w, &c) ?:
	      read_chunks(w, &c) ?:
	      scan_growing(w, &c);
	*ret_is_new = places != context_places(w);
	if (!err && (*ret_is_new || !w->images_by_record))
		err = sort_all(w);
	return err || !*ret_is_new ? err : check_ranges(w);
}

static struct error *read_kinds(const void *bytes, size_t len_bytes, const char *name, bool has_contexts_only,
				struct wmk_file *ret)
{
	struct wmk_file w = {
		.name = name, .bytes = bytes, .len_bytes = len_bytes, .has_contexts_only = has_contexts_only};
	bool is_new;
	struct error *err;

	arena_init(&w.arena);
	err = read_on(&w, &is_new);
	if (!err)
		err = note_truncation(&w);
	if (err)
		wmk_file_deinit(&w);
	else
		*ret = w;
	return err;
}

struct error *wmk_read(const void *bytes, size_t len_bytes, const char *name, struct wmk_file *ret)
{
	return read_kinds(bytes, len_bytes, name, false, ret);
}

struct error *wmk_read_contexts(const void *bytes, size_t len_bytes, const char *name, struct wmk_file *ret)
{
	return read_kinds(bytes, len_bytes, name, true, ret);
}

struct error *wmk_follow(struct wmk_file *w, const void *bytes, size_t len_bytes, bool *ret_is_new)
{
	w->bytes = bytes;
	w->len_bytes = len_bytes;
	return read_on(w, ret_is_new);
}

void wmk_file_deinit(struct wmk_file *w)
{
	wmk_image_vec_deinit(&w->image_vec);
	wmk_string_vec_deinit(&w->strings);
	wmk_chunk_vec_deinit(&w->chunks);
	for (size_t kind = 0; kind < WMK_KIND_END; kind++)
		wmk_index_vec_deinit(&w->numbered[kind]);
	wmk_index_vec_deinit(&w->growing);
	arena_deinit(&w->arena);
	*w = (struct wmk_file){0};
}

/* The record of that number, if it is whole. */
static const uint8_t *find_numbered(const struct wmk_file *w, enum wmk_kind kind, uint64_t number)
{
	size_t low = 0, high = w->numbered[kind].count, size = wmk_kinds[kind].record_bytes;
	const struct wmk_file_chunk *chunk;
	const uint8_t *p;

	while (low < high) { /* the first chunk that starts behind it */
		size_t middle = low + (high - low) / 2;

		if (numbered_chunk(w, kind, middle)->first <= number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	chunk = numbered_chunk(w, kind, low - 1);
	if (number - chunk->first >= number_count(chunk))
		return NULL;
	p = w->bytes + chunk->off + (size_t)(number - chunk->first) * size;
	return wmk_record_state(p, size) == WMK_STATE_WHOLE ? p : NULL;
}

bool wmk_find_node(const struct wmk_file *w, uint32_t prefix, struct wmk_node *ret)
{
	const uint8_t *p = find_numbered(w, WMK_NODES, prefix);

	if (!p)
		return false;
	*ret = (struct wmk_node){.id = wmk_load_u64(p),
				 .parent = wmk_load_u32(p + 8),
				 .site = wmk_load_u32(p + 12),
				 .run = wmk_load_u32(p + 16),
				 .epoch = wmk_load_u32(p + 20)};
	ret->state = WMK_STATE_WHOLE;
	return true;
}

bool wmk_node_place(const struct wmk_file *w, uint32_t prefix, size_t *ret)
{
	const uint8_t *p = find_numbered(w, WMK_NODES, prefix);

	if (p)
		*ret = (size_t)(p - w->bytes) / sizeof(struct wmk_node);
	return p != NULL;
}

size_t wmk_node_places(const struct wmk_file *w)
{
	return w->len_bytes / sizeof(struct wmk_node) + 1;
}

const struct wmk_file_image *wmk_find_image(const struct wmk_file *w, uint32_t site)
{
	size_t count = COUNT_UP_TO(w->images, w->image_count, record.site_base, site);
	const struct wmk_file_image *image = count ? &w->images[count - 1] : NULL;

	return image && site - image->record.site_base < image->record.site_count ? image : NULL;
}

const struct wmk_file_image *wmk_image_by_record(const struct wmk_file *w, uint32_t record_number)
{
	return record_number < w->place_count[WMK_IMAGES] ? w->images_by_record[record_number] : NULL;
}

const char *wmk_find_string(const struct wmk_file *w, uint64_t number)
{
	struct wmk_file_string key = {.number = number};
	const struct wmk_file_string *found = NULL;

	if (w->strings.count)
		found = bsearch(&key, w->strings.items, w->strings.count, sizeof key, compare_strings);
	return found ? found->text : NULL;
}
