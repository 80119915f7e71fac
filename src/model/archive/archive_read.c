/*
 * archive_read.c - adds an archive to a profile. Each list says how many items follow, of which each has at least a byte: no count is
 * believed that the rest of the body could not hold.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cursor.h"
#include "format/wmk_fields.h"
#include "model/archive/archive.h"
#include "model/base/heap_classes.h"
#include "model/contexts/thread_frames.h"

enum {
	UNPACKED_MIN = 1 << 24,
	UNPACKED_PER_BYTE = 256, /* repeated contexts pack well */
	METRICS_MAX = 64,        /* of a group */
	NO_GROUP = -1,           /* of metrics that the profile does not keep */
};

/* Where the items of the archive are in the profile. */
struct reader {
	struct profile *p;
	struct cursor c;
	uint32_t version;
	const char **strings;
	uint32_t string_count;
	uint32_t *frames;
	uint32_t frame_count;
	uint32_t *nodes; /* [0] is the root */
	uint32_t node_count;
	uint32_t *groups;
	uint32_t *group_sizes;
	bool *group_has_events;
	uint32_t group_count;
	uint32_t first_source;
	uint32_t source_count;
};

static struct error *read_count(struct reader *r, uint32_t *ret)
{
	uint32_t count;
	struct error *err = cursor_uleb32(&r->c, &count);

	if (!err && count > cursor_left(&r->c))
		err = cursor_error(&r->c, "a list of %" PRIu32 " items does not fit: the archive is damaged", count);
	if (!err)
		*ret = count;
	return err;
}

/* A number below count. */
static struct error *read_index(struct reader *r, uint32_t count, const char *what, uint32_t *ret)
{
	uint32_t index;
	struct error *err = cursor_uleb32(&r->c, &index);

	if (!err && index >= count)
		err = cursor_error(&r->c, "no %s has the number %" PRIu32 ": the archive is damaged", what, index);
	if (!err)
		*ret = index;
	return err;
}

static struct error *read_string(struct reader *r, const char **ret)
{
	uint32_t index;
	struct error *err = read_index(r, r->string_count, "string", &index);

	if (!err)
		*ret = r->strings[index];
	return err;
}

static struct error *read_optional(struct reader *r, const char **ret)
{
	uint32_t index;
	struct error *err = read_index(r, r->string_count + 1, "string", &index);

	if (!err)
		*ret = index ? r->strings[index - 1] : NULL;
	return err;
}

static struct error *read_strings(struct reader *r)
{
	struct error *err = read_count(r, &r->string_count);

	if (err)
		return err;
	r->strings = calloc((size_t)r->string_count + 1, sizeof *r->strings);
	if (!r->strings)
		return &error_no_memory;
	for (uint32_t i = 0; i < r->string_count && !err; i++) {
		const uint8_t *bytes;
		uint32_t len_bytes;
		char *text;

		err = cursor_uleb32(&r->c, &len_bytes) ?: cursor_bytes(&r->c, len_bytes, &bytes);
		if (err)
			break;
		text = strndup((const char *)bytes, len_bytes);
		err = text ? profile_copy_string(r->p, text, &r->strings[i]) : &error_no_memory;
		free(text);
	}
	return err;
}

static struct error *read_frames(struct reader *r)
{
	struct error *err = read_count(r, &r->frame_count);

	if (err)
		return err;
	r->frames = calloc((size_t)r->frame_count + 1, sizeof *r->frames);
	if (!r->frames)
		return &error_no_memory;
	for (uint32_t i = 0; i < r->frame_count && !err; i++) {
		struct frame f = {.flags = 0};

		err = read_string(r, &f.name) ?: read_string(r, &f.link_name) ?: read_optional(r, &f.file) ?: read_optional(r, &f.image) ?:
		      cursor_uleb32(&r->c, &f.line) ?: cursor_uleb32(&r->c, &f.column) ?:
		      cursor_uleb32(&r->c, &f.flags) ?: profile_intern_frame(r->p, &f, &r->frames[i]);
	}
	return err;
}

static struct error *read_nodes(struct reader *r)
{
	struct error *err = read_count(r, &r->node_count);

	if (err)
		return err;
	r->nodes = calloc((size_t)r->node_count + 1, sizeof *r->nodes);
	if (!r->nodes)
		return &error_no_memory;
	r->node_count++;
	for (uint32_t i = 1; i < r->node_count && !err; i++) {
		uint32_t distance, frame;

		err = cursor_uleb32(&r->c, &distance) ?: read_index(r, r->frame_count, "frame", &frame);
		if (!err && (!distance || distance > i))
			err = cursor_error(&r->c, "a context is not behind its caller's: the archive is damaged");
		if (!err)
			err = profile_add_node(r->p, r->nodes[i - distance], r->frames[frame], &r->nodes[i]);
	}
	return err;
}

static struct error *read_metric(struct reader *r, struct metric *ret, bool *ret_has_events)
{
	uint32_t unit, flags;
	struct error *err = read_string(r, &ret->name) ?: cursor_uleb32(&r->c, &unit) ?: cursor_uleb32(&r->c, &flags);

	if (!err && unit > UNIT_VALUE)
		err = cursor_error(&r->c, "no unit has the number %" PRIu32 ": the archive is damaged", unit);
	if (err)
		return err;
	ret->unit = (enum metric_unit)unit;
	ret->is_maximum = flags & ARCHIVE_MAXIMUM;
	ret->is_estimate = flags & ARCHIVE_ESTIMATE;
	ret->is_of_heap = flags & ARCHIVE_OF_HEAP;
	*ret_has_events = flags & ARCHIVE_HAS_EVENTS;
	return NULL;
}

static struct error *read_group(struct reader *r, uint32_t index)
{
	struct metric metrics[METRICS_MAX] = {{.name = NULL}};
	uint32_t size;
	struct error *err = cursor_uleb32(&r->c, &size);

	if (!err && (!size || size > METRICS_MAX))
		err = cursor_error(&r->c, "a group of %" PRIu32 " metrics: the archive is damaged", size);
	for (uint32_t i = 0; !err && i < size; i++)
		err = read_metric(r, &metrics[i], &r->group_has_events[index]);
	if (err)
		return err;
	r->group_sizes[index] = size;
	if (metrics[0].is_of_heap && heap_class_is_metric(metrics[0].name) && !r->p->keeps_classes) {
		r->groups[index] = (uint32_t)NO_GROUP;
		return NULL;
	}
	err = profile_add_metrics(r->p, metrics, size, &r->groups[index]);
	if (err)
		return err;
	for (uint32_t i = 0; i < size; i++)
		r->p->metrics.items[r->groups[index] + i].is_estimate |= metrics[i].is_estimate;
	return NULL;
}

static struct error *read_groups(struct reader *r)
{
	struct error *err = read_count(r, &r->group_count);

	if (err)
		return err;
	r->groups = calloc((size_t)r->group_count + 1, sizeof *r->groups);
	r->group_sizes = calloc((size_t)r->group_count + 1, sizeof *r->group_sizes);
	r->group_has_events = calloc((size_t)r->group_count + 1, sizeof *r->group_has_events);
	if (!r->groups || !r->group_sizes || !r->group_has_events)
		return &error_no_memory;
	for (uint32_t i = 0; i < r->group_count && !err; i++)
		err = read_group(r, i);
	return err;
}

/* What is asked of threads and times is for events to say, of which a cell has the sum. */
static bool is_by_event(const struct reader *r, uint32_t group)
{
	return r->group_has_events[group] && (r->p->keeps_threads || r->p->filter);
}

static struct error *read_cells(struct reader *r)
{
	uint64_t values[METRICS_MAX];
	uint32_t count, node, group;
	struct error *err = read_count(r, &count);

	for (uint32_t i = 0; !err && i < count; i++) {
		err = read_index(r, r->node_count, "context", &node) ?: read_index(r, r->group_count, "group", &group);
		for (uint32_t j = 0; !err && j < r->group_sizes[group]; j++)
			err = cursor_uleb128(&r->c, &values[j]);
		if (!err && r->groups[group] != (uint32_t)NO_GROUP && !is_by_event(r, group) && !r->p->filter)
			err = profile_add_values(r->p, r->nodes[node], r->groups[group], values);
	}
	return err;
}

/* Fields that this version does not know follow those that it knows. */
static struct error *read_header(struct reader *r, struct wmk_header *ret)
{
	uint64_t value;
	uint32_t left;
	struct error *err = read_count(r, &left);

#define READ_FIELD(bits, name)                             \
	if (!err && left) {                                \
		err = cursor_uleb128(&r->c, &value);       \
		if (!err)                                  \
			ret->name = (uint##bits##_t)value; \
		left--;                                    \
	}
	WMK_HEADER_FIELDS(READ_FIELD)
#undef READ_FIELD
	for (; !err && left; left--)
		err = cursor_uleb128(&r->c, &value);
	return err;
}

static struct error *read_program(struct reader *r, char program[WMK_PROGRAM_BYTES])
{
	const uint8_t *bytes;
	uint32_t len_bytes;
	struct error *err = cursor_uleb32(&r->c, &len_bytes) ?: cursor_bytes(&r->c, len_bytes, &bytes);

	if (!err && len_bytes >= WMK_PROGRAM_BYTES)
		err = cursor_error(&r->c, "a program's path of %" PRIu32 " bytes: the archive is damaged", len_bytes);
	if (!err)
		memcpy(program, bytes, len_bytes);
	return err;
}

/* Those of a file, in one piece. Each begins with at least a byte of the archive's strings. */
static struct error *read_labels(struct reader *r, const char **ret)
{
	struct buffer labels = {0};
	uint32_t count = 0;
	struct error *err = r->version < 2 ? NULL : read_count(r, &count);
	char *copy;

	for (uint32_t i = 0; !err && i < count; i++) {
		const char *label;

		err = read_string(r, &label);
		if (!err && labels.len_bytes + strlen(label) >= WMK_LABELS_BYTES)
			err = cursor_error(&r->c, "more labels than a recording has: the archive is damaged");
		if (!err && *label)
			buffer_bytes(&labels, label, strlen(label) + 1);
	}
	buffer_u8(&labels, 0);
	err = err ?: buffer_error(&labels);
	copy = err || !count ? NULL : arena_calloc(&r->p->arena, labels.len_bytes, 1);
	if (!err && count && !copy)
		err = &error_no_memory;
	if (copy) {
		memcpy(copy, labels.bytes, labels.len_bytes);
		*ret = copy;
	}
	buffer_deinit(&labels);
	return err;
}

static struct error *read_source(struct reader *r)
{
	struct profile_source s = {.path = NULL};
	uint32_t end, flags;
	struct error *err = read_string(r, &s.path) ?: read_optional(r, &s.import_format) ?:
			    read_program(r, s.header.program) ?: read_header(r, &s.header) ?:
			    read_index(r, RECORDING_FILTERED + 1, "end", &end) ?: cursor_uleb32(&r->c, &flags) ?:
			    cursor_uleb128(&r->c, &s.event_count) ?: cursor_uleb128(&r->c, &s.heap_count) ?:
			    cursor_uleb128(&r->c, &s.last_event_ns) ?: cursor_uleb128(&r->c, &s.uncommitted) ?:
			    cursor_uleb128(&r->c, &s.inherited_count) ?: cursor_uleb128(&r->c, &s.inherited_bytes) ?:
			    cursor_uleb128(&r->c, &s.inherited_live_bytes) ?: read_optional(r, &s.truncated) ?:
			    read_labels(r, &s.labels);

	if (err)
		return err;
	s.end = (enum recording_end)end;
	s.has_heap = flags & 1;
	s.has_walked_heap = flags & 2;
	s.has_paths = flags & 4;
	err = profile_source_vec_append(&r->p->sources, s);
	return err || !s.has_heap || !r->p->filter ? err : profile_note_no_heap(r->p, s.path);
}

static struct error *read_sources(struct reader *r)
{
	struct error *err = read_count(r, &r->source_count);

	r->first_source = (uint32_t)r->p->sources.count;
	for (uint32_t i = 0; !err && i < r->source_count; i++)
		err = read_source(r);
	return err;
}

static struct error *read_warnings(struct reader *r)
{
	uint64_t saturated, times;
	uint32_t count = 0;
	const char *text;
	struct error *err = cursor_uleb128(&r->c, &saturated) ?: read_count(r, &count);

	if (!err)
		r->p->saturated += saturated;
	for (uint32_t i = 0; !err && i < count; i++) {
		err = read_string(r, &text) ?: cursor_uleb128(&r->c, &times);
		if (!err)
			err = profile_warn_times(r->p, text, times);
	}
	return err;
}

static struct error *add_event(struct reader *r, struct profile_event *e, uint32_t group)
{
	const uint64_t values[METRICS_MAX] = {1, e->value};
	struct error *err = NULL;

	if (!profile_takes(r->p, e->realtime_ns, e->tid, e->thread)) {
		r->p->filtered_events++;
		return NULL;
	}
	if (r->p->keeps_threads) {
		profile_spend_most(r->p, r->p->nodes.items[e->node].depth);
		err = thread_frames_add(r->p, e->node, e->tid, e->thread, &e->node);
	}
	if (!err && is_by_event(r, group))
		err = profile_add_values(r->p, e->node, r->groups[group], values);
	return err || !r->p->keeps_events ? err : profile_event_vec_append(&r->p->events, *e);
}

static struct error *read_events(struct reader *r)
{
	uint64_t time = 0, difference;
	uint32_t count, group, source, node;
	struct error *err = read_count(r, &count);

	for (uint32_t i = 0; !err && i < count; i++) {
		struct profile_event e = {.thread = NULL};

		err = cursor_uleb128(&r->c, &difference) ?: cursor_uleb128(&r->c, &e.value) ?:
		      read_optional(r, &e.thread) ?: read_index(r, r->group_count, "group", &group) ?:
		      read_index(r, r->source_count, "source", &source) ?:
		      read_index(r, r->node_count, "context", &node) ?: cursor_uleb32(&r->c, &e.tid);
		if (!err && r->groups[group] == (uint32_t)NO_GROUP)
			err = cursor_error(&r->c, "an event of the heap: the archive is damaged");
		if (err)
			break;
		time += difference >> 1 ^ -(difference & 1);
		e.realtime_ns = time;
		e.metric = r->groups[group];
		e.source = r->first_source + source;
		e.node = r->nodes[node];
		err = add_event(r, &e, group);
	}
	return err;
}

static struct error *read_file(struct reader *r)
{
	struct source_text text = {.line = 0};
	const uint8_t *bytes;
	uint32_t count, step, len_bytes;
	struct error *err = read_string(r, &text.file) ?: cursor_uleb128(&r->c, &text.changed_ns) ?: read_count(r, &count);

	for (uint32_t i = 0; !err && i < count; i++) {
		char *copy;

		err = cursor_uleb32(&r->c, &step) ?: cursor_uleb32(&r->c, &len_bytes) ?: cursor_bytes(&r->c, len_bytes, &bytes);
		if (!err && (!step || step > UINT32_MAX - text.line))
			err = cursor_error(&r->c, "lines of a source file are not in order: the archive is damaged");
		if (err)
			break;
		text.line += step;
		copy = strndup((const char *)bytes, len_bytes);
		text.text = copy;
		err = copy ? profile_add_text(r->p, &text) : &error_no_memory;
		free(copy);
	}
	return err;
}

static struct error *read_texts(struct reader *r)
{
	uint32_t count = 0;
	struct error *err = r->version < 3 ? NULL : read_count(r, &count);

	for (uint32_t i = 0; !err && i < count; i++)
		err = read_file(r);
	return err;
}

bool archive_is_one(const struct mapped_file *file)
{
	return file->len_bytes >= ARCHIVE_MAGIC_BYTES && memcmp(file->bytes, ARCHIVE_MAGIC, ARCHIVE_MAGIC_BYTES) == 0;
}

/* *ret: the body, malloc'd. */
static struct error *unpack(struct cursor *c, uint32_t *version, uint8_t **ret, size_t *ret_bytes)
{
	uint64_t limit = UNPACKED_MIN + (uint64_t)c->len_bytes * UNPACKED_PER_BYTE, len_bytes;
	uint32_t zero;
	uint8_t *body;
	struct error *err = cursor_seek(c, ARCHIVE_MAGIC_BYTES) ?: cursor_u32(c, version) ?: cursor_u32(c, &zero) ?:
			    cursor_u64(c, &len_bytes);

	if (err)
		return err;
	if (!*version || *version > ARCHIVE_VERSION)
		return cursor_error(c, "version %" PRIu32 ", this waymark reads versions 1 to %d", *version,
				    ARCHIVE_VERSION);
	if (len_bytes > limit)
		return cursor_error(c, "it unpacks to %" PRIu64 " bytes, which no archive of its size does", len_bytes);
	body = malloc((size_t)len_bytes + 1);
	if (!body)
		return &error_no_memory;
	if (ZSTD_decompress(body, (size_t)len_bytes, c->start + c->off, cursor_left(c)) != len_bytes) {
		free(body);
		return cursor_error(c, "it cannot be unpacked: the archive is damaged or cut");
	}
	*ret = body;
	*ret_bytes = (size_t)len_bytes;
	return NULL;
}

struct error *archive_add(struct profile *p, const char *path, const struct mapped_file *file)
{
	struct reader r = {.p = p};
	struct cursor packed;
	uint8_t *body;
	size_t body_bytes;
	struct error *err;

	cursor_init(&packed, file->bytes, file->len_bytes, path);
	err = unpack(&packed, &r.version, &body, &body_bytes);
	if (err)
		return err;
	profile_allow(p, body_bytes);
	cursor_init(&r.c, body, body_bytes, path);
	err = read_strings(&r) ?: read_frames(&r) ?: read_nodes(&r) ?: read_groups(&r) ?: read_cells(&r) ?:
	      read_sources(&r) ?: read_warnings(&r) ?: read_events(&r) ?: read_texts(&r);
	if (!err && cursor_left(&r.c))
		err = cursor_error(&r.c, "more than an archive has: it is damaged");
	free(body);
	free(r.strings);
	free(r.frames);
	free(r.nodes);
	free(r.groups);
	free(r.group_sizes);
	free(r.group_has_events);
	return err;
}
