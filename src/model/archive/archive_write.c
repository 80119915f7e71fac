/* archive_write.c - a profile as bytes: numbers are LEB128, strings are numbers into one table, and zstd packs the whole. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "format/wmk_fields.h"
#include "model/archive/archive.h"

enum {
	ZSTD_LEVEL = 9, /* as of sections of metadata */
};

struct writer {
	const struct profile *p;
	const struct archive_options *options;
	struct buffer body;
	struct hashmap strings; /* by pointer */
	struct error *err;      /* the first one */
};

/* The number of a string. Texts that have two pointers are there twice. */
static uint32_t string_number(struct writer *w, const char *text)
{
	uint32_t number = 0;

	if (!w->err)
		w->err = hashmap_add(&w->strings, &(struct key){{(uintptr_t)text, 0, 0}}, &number);
	return number;
}

/* 0: none. */
static void put_optional(struct writer *w, const char *text)
{
	buffer_uleb128(&w->body, text ? (uint64_t)string_number(w, text) + 1 : 0);
}

static void put_string(struct writer *w, const char *text)
{
	buffer_uleb128(&w->body, string_number(w, text));
}

/* What is left of a path for those who may not know where it was. */
static const char *path_of(const struct writer *w, const char *path)
{
	const char *slash;

	if (!path || !w->options->is_anonymous)
		return path;
	slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static void put_frames(struct writer *w)
{
	buffer_uleb128(&w->body, w->p->frames.count);
	for (size_t i = 0; i < w->p->frames.count; i++) {
		const struct frame *f = &w->p->frames.items[i];

		put_string(w, f->name);
		put_string(w, f->link_name);
		put_optional(w, path_of(w, f->file));
		put_optional(w, path_of(w, f->image));
		buffer_uleb128(&w->body, f->line);
		buffer_uleb128(&w->body, f->column);
		buffer_uleb128(&w->body, f->flags);
	}
}

/* Without the root. A parent comes before its children. */
static void put_nodes(struct writer *w)
{
	buffer_uleb128(&w->body, w->p->nodes.count - 1);
	for (size_t i = 1; i < w->p->nodes.count; i++) {
		buffer_uleb128(&w->body, i - w->p->nodes.items[i].parent);
		buffer_uleb128(&w->body, w->p->nodes.items[i].frame);
	}
}

/* By metric that is the first of its group: it has events here, of which its numbers are the sums. */
static bool *find_events(const struct profile *p)
{
	bool *found = calloc(p->metrics.count + 1, sizeof *found);

	for (size_t i = 0; found && i < p->events.count; i++)
		found[p->events.items[i].metric] = true;
	return found;
}

/* Only the program knows what values mean. */
static bool is_kept(const struct writer *w, const struct metric *m)
{
	return !w->options->is_anonymous || m->unit != UNIT_VALUE;
}

static uint32_t kept_size(const struct writer *w, const struct metric *first)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < first->group_size; i++)
		size += is_kept(w, &first[i]);
	return size;
}

static unsigned flags_of(const struct metric *m)
{
	return (m->is_maximum ? ARCHIVE_MAXIMUM : 0) | (m->is_estimate ? ARCHIVE_ESTIMATE : 0) |
	       (m->is_of_heap ? ARCHIVE_OF_HEAP : 0);
}

static void put_metrics(struct writer *w, const bool *has_events)
{
	buffer_uleb128(&w->body, w->p->groups.count);
	for (size_t i = 0; i < w->p->groups.count; i++) {
		const struct metric *first = &w->p->metrics.items[w->p->groups.items[i]];

		buffer_uleb128(&w->body, kept_size(w, first));
		for (uint32_t j = 0; j < first->group_size; j++) {
			if (!is_kept(w, &first[j]))
				continue;
			put_string(w, first[j].name);
			buffer_uleb128(&w->body, first[j].unit);
			buffer_uleb128(&w->body, flags_of(&first[j]) |
							 (has_events[w->p->groups.items[i]] ? ARCHIVE_HAS_EVENTS : 0));
		}
	}
}

/* By metric that is the first of its group: the group's number. */
static uint32_t *number_groups(const struct profile *p)
{
	uint32_t *numbers = calloc(p->metrics.count + 1, sizeof *numbers);

	for (size_t i = 0; numbers && i < p->groups.count; i++)
		numbers[p->groups.items[i]] = (uint32_t)i;
	return numbers;
}

static void put_cells(struct writer *w, const uint32_t *group_numbers)
{
	buffer_uleb128(&w->body, w->p->cells.count);
	for (size_t i = 0; i < w->p->cells.count; i++) {
		const struct cell *cell = &w->p->cells.items[i];
		const struct metric *first = &w->p->metrics.items[cell->group];

		buffer_uleb128(&w->body, cell->node);
		buffer_uleb128(&w->body, group_numbers[cell->group]);
		for (uint32_t j = 0; j < first->group_size; j++)
			if (is_kept(w, &first[j]))
				buffer_uleb128(&w->body, w->p->values.items[cell->first + j]);
	}
}

/* How many fields there are comes first: a later version has more. */
static void put_header(struct writer *w, const struct wmk_header *h)
{
#define COUNT_FIELD(bits, name) +1
	buffer_uleb128(&w->body, 0 WMK_HEADER_FIELDS(COUNT_FIELD));
#undef COUNT_FIELD
#define PUT_FIELD(bits, name) buffer_uleb128(&w->body, h->name);
	WMK_HEADER_FIELDS(PUT_FIELD)
#undef PUT_FIELD
}

static void put_source(struct writer *w, const struct profile_source *s)
{
	const char *program = path_of(w, s->header.program);

	put_string(w, path_of(w, s->path));
	put_optional(w, s->import_format);
	buffer_uleb128(&w->body, strlen(program));
	buffer_bytes(&w->body, program, strlen(program));
	put_header(w, &s->header);
	buffer_uleb128(&w->body, s->end);
	buffer_uleb128(&w->body,
		       (uint64_t)s->has_heap | (uint64_t)s->has_walked_heap << 1 | (uint64_t)s->has_paths << 2);
	buffer_uleb128(&w->body, s->event_count);
	buffer_uleb128(&w->body, s->heap_count);
	buffer_uleb128(&w->body, s->last_event_ns);
	buffer_uleb128(&w->body, s->uncommitted);
	buffer_uleb128(&w->body, s->inherited_count);
	buffer_uleb128(&w->body, s->inherited_bytes);
	buffer_uleb128(&w->body, s->inherited_live_bytes);
	put_optional(w, w->options->is_anonymous && s->truncated ? "truncated" : s->truncated);
}

static void put_labels(struct writer *w, const char *labels)
{
	uint64_t count = 0;

	if (w->options->is_anonymous)
		labels = NULL;
	for (const char *label = labels; label && *label; label += strlen(label) + 1)
		count++;
	buffer_uleb128(&w->body, count);
	for (const char *label = labels; label && *label; label += strlen(label) + 1)
		put_string(w, label);
}

static void put_sources(struct writer *w)
{
	buffer_uleb128(&w->body, w->p->sources.count);
	for (size_t i = 0; i < w->p->sources.count; i++) {
		put_source(w, &w->p->sources.items[i]);
		put_labels(w, w->p->sources.items[i].labels);
	}
}

/* Texts of warnings name files. */
static void put_warnings(struct writer *w)
{
	buffer_uleb128(&w->body, w->p->saturated);
	buffer_uleb128(&w->body, w->p->warnings.count);
	for (size_t i = 0; i < w->p->warnings.count; i++) {
		const struct profile_warning *warning = &w->p->warnings.items[i];

		put_string(w, w->options->is_anonymous ? "something could not be decoded" : warning->text);
		buffer_uleb128(&w->body, warning->count);
	}
}

/* Times are differences to the event before, which may be a later one: the sign is the lowest bit. */
static void put_events(struct writer *w, const uint32_t *group_numbers)
{
	uint64_t before = 0;

	buffer_uleb128(&w->body, w->p->events.count);
	for (size_t i = 0; i < w->p->events.count; i++) {
		const struct profile_event *e = &w->p->events.items[i];
		int64_t difference = (int64_t)(e->realtime_ns - before);
		const struct metric *first = &w->p->metrics.items[e->metric];
		bool has_value = first->group_size < 2 || is_kept(w, &first[1]);

		before = e->realtime_ns;
		buffer_uleb128(&w->body, (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63));
		buffer_uleb128(&w->body, has_value ? e->value : 0);
		put_optional(w, w->options->is_anonymous ? NULL : e->thread);
		buffer_uleb128(&w->body, group_numbers[e->metric]);
		buffer_uleb128(&w->body, e->source);
		buffer_uleb128(&w->body, e->node);
		buffer_uleb128(&w->body, e->tid);
	}
}

static int compare_texts(const void *a, const void *b)
{
	const struct source_text *x = a, *y = b;

	return strcmp(x->file, y->file) ?: compare_u64(x->line, y->line);
}

/* The lines of the file of texts[0], of which there are `count`. */
static void put_file(struct writer *w, const struct source_text *texts, size_t count)
{
	uint32_t before = 0;

	put_string(w, texts->file);
	buffer_uleb128(&w->body, texts->changed_ns);
	buffer_uleb128(&w->body, count);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(texts[i].text);

		buffer_uleb128(&w->body, texts[i].line - before);
		buffer_uleb128(&w->body, len);
		buffer_bytes(&w->body, texts[i].text, len);
		before = texts[i].line;
	}
}

static size_t count_lines(const struct source_text *texts, size_t count)
{
	size_t lines = 0;

	while (lines < count && texts[lines].file == texts->file)
		lines++;
	return lines;
}

static void put_texts(struct writer *w)
{
	size_t count = w->options->is_anonymous ? 0 : w->p->texts.count, files = 0, lines;
	struct source_text *texts = malloc((count + 1) * sizeof *texts);

	if (!texts) {
		w->err = w->err ?: &error_no_memory;
		return;
	}
	if (count) {
		memcpy(texts, w->p->texts.items, count * sizeof *texts);
		qsort(texts, count, sizeof *texts, compare_texts);
	}
	for (size_t i = 0; i < count; i += count_lines(texts + i, count - i))
		files++;
	buffer_uleb128(&w->body, files);
	for (size_t i = 0; i < count; i += lines) {
		lines = count_lines(texts + i, count - i);
		put_file(w, texts + i, lines);
	}
	free(texts);
}

static void put_strings(const struct writer *w, struct buffer *out)
{
	buffer_uleb128(out, w->strings.count);
	for (uint32_t i = 0; i < w->strings.count; i++) {
		const char *text = (const char *)(uintptr_t)w->strings.keys[i].words[0];

		buffer_uleb128(out, strlen(text));
		buffer_bytes(out, text, strlen(text));
	}
}

static struct error *pack(const struct buffer *raw, struct buffer *out)
{
	size_t bound = ZSTD_compressBound(raw->len_bytes), packed;
	uint8_t *bytes = malloc(bound);

	if (!bytes)
		return &error_no_memory;
	packed = ZSTD_compress(bytes, bound, raw->bytes, raw->len_bytes, ZSTD_LEVEL);
	if (ZSTD_isError(packed)) {
		free(bytes);
		return &error_no_memory;
	}
	buffer_bytes(out, ARCHIVE_MAGIC, ARCHIVE_MAGIC_BYTES);
	buffer_u32(out, ARCHIVE_VERSION);
	buffer_u32(out, 0);
	buffer_u64(out, raw->len_bytes);
	buffer_bytes(out, bytes, packed);
	free(bytes);
	return buffer_error(out);
}

struct error *archive_write(const struct profile *p, const struct archive_options *options, struct buffer *out)
{
	struct writer w = {.p = p, .options = options};
	struct buffer raw = {0};
	uint32_t *group_numbers = number_groups(p);
	bool *has_events = find_events(p);

	if (!group_numbers || !has_events) {
		free(group_numbers);
		free(has_events);
		return &error_no_memory;
	}
	put_frames(&w);
	put_nodes(&w);
	put_metrics(&w, has_events);
	put_cells(&w, group_numbers);
	put_sources(&w);
	put_warnings(&w);
	put_events(&w, group_numbers);
	put_texts(&w);
	put_strings(&w, &raw); /* all are known now */
	buffer_bytes(&raw, w.body.bytes, w.body.len_bytes);
	w.err = w.err ?: buffer_error(&w.body) ?: buffer_error(&raw) ?: pack(&raw, out);
	buffer_deinit(&raw);
	buffer_deinit(&w.body);
	hashmap_deinit(&w.strings);
	free(group_numbers);
	free(has_events);
	return w.err;
}
