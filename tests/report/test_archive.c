/*
 * test_archive.c - random profiles through an archive: what is read back is what was written, also beside another profile; and archives
 * with any byte changed, or cut, which must be refused or read without harm.
 *
 *     test_archive [SEED]
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "check.h"
#include "model/archive/archive.h"
#include "model/base/profile_view.h"
#include "model/imports/import.h"

enum {
	ROUNDS = 30,
	NODES = 200,
	CELLS = 150,
	EVENTS = 60,
	TEXTS = 40,
};

static uint64_t state;

static uint32_t below(uint32_t count)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 33) % count);
}

static void add_frames(struct profile *p)
{
	for (int i = 0; i < NODES; i++) {
		char name[32], file[32];
		struct frame frame = {.name = name,
				      .link_name = below(2) ? name : "link",
				      .file = below(3) ? file : NULL,
				      .image = below(3) ? "/home/me/lib.so" : NULL,
				      .line = below(100),
				      .column = below(10),
				      .flags = below(2) ? FRAME_INLINED : 0};
		uint32_t node;

		snprintf(name, sizeof name, "f%" PRIu32, below(20));
		snprintf(file, sizeof file, "/home/me/dir%" PRIu32 "/a.c", below(3));
		CHECK_OK(profile_add_frame(p, below((uint32_t)p->nodes.count), &frame, &node));
	}
}

static void add_numbers(struct profile *p)
{
	static const struct metric heap[] = {
		{.name = "bytes", .unit = UNIT_BYTES, .is_estimate = true, .is_of_heap = true},
		{.name = "peak", .unit = UNIT_BYTES, .is_maximum = true},
		{.name = "allocations", .unit = UNIT_COUNT}};
	static const struct metric event[] = {{.name = "tick", .unit = UNIT_COUNT},
					      {.name = "tick:sum", .unit = UNIT_VALUE}};
	uint32_t heap_group, event_group;

	CHECK_OK(profile_add_metrics(p, heap, 3, &heap_group));
	p->metrics.items[heap_group].is_estimate = true;
	CHECK_OK(profile_add_metrics(p, event, 2, &event_group));
	for (int i = 0; i < CELLS; i++) {
		uint64_t values[3] = {below(UINT32_MAX), (uint64_t)below(1000) << 32, below(5)};

		CHECK_OK(profile_add_values(p, below(NODES / 2), below(2) ? heap_group : event_group, values));
	}
	for (int i = 0; i < EVENTS; i++) {
		struct profile_event e = {.realtime_ns = UINT64_C(1700000000000000000) + below(1000) - 500,
					  .value = below(9),
					  .metric = event_group,
					  .source = below(2),
					  .node = below(NODES / 2),
					  .tid = below(4)};

		if (e.tid)
			CHECK_OK(profile_copy_string(p, e.tid == 1 ? "one" : "other", &e.thread));
		CHECK_OK(profile_event_vec_append(&p->events, e));
	}
}

static void add_sources(struct profile *p)
{
	struct profile_source s = {.header = {.program = "/home/me/bin/prog",
					      .run = UINT64_MAX - below(9),
					      .pid = 1 + below(1000),
					      .samples = below(50),
					      .heap_guessed = below(9)},
				   .end = RECORDING_LEFT,
				   .has_heap = true,
				   .event_count = below(7),
				   .last_event_ns = below(1000)};

	CHECK_OK(profile_copy_string(p, "/home/me/one.wmk", &s.path));
	CHECK_OK(profile_source_vec_append(&p->sources, s));
	CHECK_OK(profile_copy_string(p, "cut here", &s.truncated));
	CHECK_OK(profile_source_vec_append(&p->sources, s));
	CHECK_OK(profile_warn_times(p, "/home/me/lib.so: not found", below(4)));
	p->saturated = below(3);
}

static void add_texts(struct profile *p)
{
	for (int i = 0; i < TEXTS; i++) {
		char file[32], line[32];
		const struct source_text text = {
			.file = file, .text = line, .changed_ns = 77, .line = 1 + below(below(2) ? 30 : UINT32_MAX)};

		snprintf(file, sizeof file, "/home/me/dir%" PRIu32 "/a.c", below(3));
		snprintf(line, sizeof line, "%.*s/* home */ %" PRIu32, (int)below(3), "\t\t\t", text.line);
		CHECK_OK(profile_add_text(p, &text));
	}
}

static void build(struct profile *p)
{
	CHECK_OK(profile_init(p));
	p->keeps_events = true;
	add_frames(p);
	add_numbers(p);
	add_sources(p);
	add_texts(p);
}

static struct mapped_file pack(const struct profile *p, bool is_anonymous, struct buffer *bytes)
{
	*bytes = (struct buffer){0};
	CHECK_OK(archive_write(p, &(struct archive_options){.is_anonymous = is_anonymous}, bytes));
	return (struct mapped_file){bytes->bytes, bytes->len_bytes};
}

static void check_frames(const struct profile *a, const struct profile *b)
{
	CHECK_U64(b->frames.count, a->frames.count);
	CHECK_U64(b->nodes.count, a->nodes.count);
	for (size_t i = 1; i < a->nodes.count; i++) {
		const struct frame *x = &a->frames.items[a->nodes.items[i].frame];
		const struct frame *y = &b->frames.items[b->nodes.items[i].frame];

		CHECK_U64(b->nodes.items[i].parent, a->nodes.items[i].parent);
		CHECK_TEXT(y->name, x->name);
		CHECK_TEXT(y->link_name, x->link_name);
		CHECK(!x->file == !y->file && (!x->file || strcmp(x->file, y->file) == 0));
		CHECK(!x->image == !y->image && (!x->image || strcmp(x->image, y->image) == 0));
		CHECK(x->line == y->line && x->column == y->column && x->flags == y->flags);
	}
}

/* times: how often the numbers of a are in b. */
static void check_numbers(const struct profile *a, const struct profile *b, uint64_t times)
{
	CHECK_U64(b->metrics.count, a->metrics.count);
	for (size_t i = 0; i < a->metrics.count; i++) {
		const struct metric *x = &a->metrics.items[i], *y = &b->metrics.items[i];

		CHECK_TEXT(y->name, x->name);
		CHECK(x->unit == y->unit && x->is_maximum == y->is_maximum && x->is_estimate == y->is_estimate &&
		      x->is_of_heap == y->is_of_heap);
		CHECK_U64(y->total, x->is_maximum ? x->total : x->total * times);
	}
	CHECK_U64(b->cells.count, a->cells.count);
	for (size_t i = 0; i < a->cells.count; i++) {
		const struct cell *x = &a->cells.items[i], *y = &b->cells.items[i];

		CHECK(x->node == y->node && x->group == y->group);
		for (uint32_t j = 0; j < a->metrics.items[x->group].group_size; j++)
			CHECK_U64(b->values.items[y->first + j],
				  a->values.items[x->first + j] *
					  (a->metrics.items[x->group + j].is_maximum ? 1 : times));
	}
}

static void check_sources(const struct profile *a, const struct profile *b)
{
	CHECK_U64(b->sources.count, a->sources.count);
	for (size_t i = 0; i < a->sources.count; i++) {
		const struct profile_source *x = &a->sources.items[i], *y = &b->sources.items[i];

		CHECK_TEXT(y->path, x->path);
		CHECK(memcmp(&x->header, &y->header, sizeof x->header) == 0);
		CHECK(x->end == y->end && x->has_heap == y->has_heap && x->event_count == y->event_count);
		CHECK(!x->truncated == !y->truncated);
	}
	CHECK_U64(b->warnings.count, a->warnings.count);
	CHECK_TEXT(b->warnings.items[0].text, a->warnings.items[0].text);
	CHECK_U64(b->warnings.items[0].count, a->warnings.items[0].count);
	CHECK_U64(b->saturated, a->saturated);
}

static void check_events(const struct profile *a, const struct profile *b)
{
	CHECK_U64(b->events.count, a->events.count);
	for (size_t i = 0; i < a->events.count; i++) {
		const struct profile_event *x = &a->events.items[i], *y = &b->events.items[i];

		CHECK_U64(y->realtime_ns, x->realtime_ns);
		CHECK(x->value == y->value && x->metric == y->metric && x->source == y->source && x->node == y->node &&
		      x->tid == y->tid);
		CHECK(!x->thread == !y->thread && (!x->thread || strcmp(x->thread, y->thread) == 0));
	}
}

static void check_texts(const struct profile *a, const struct profile *b)
{
	CHECK_U64(b->texts.count, a->texts.count);
	for (size_t i = 0; i < a->texts.count; i++) {
		const struct source_text *x = &a->texts.items[i], *y = NULL;

		for (size_t j = 0; j < b->texts.count; j++)
			if (b->texts.items[j].line == x->line && strcmp(b->texts.items[j].file, x->file) == 0)
				y = &b->texts.items[j];
		if (!CHECK(y))
			continue;
		CHECK_TEXT(y->text, x->text);
		CHECK_U64(y->changed_ns, x->changed_ns);
	}
}

static void check_round_trip(void)
{
	struct profile a, b;
	struct buffer bytes;
	struct mapped_file file;
	bool is_known;

	build(&a);
	file = pack(&a, false, &bytes);
	CHECK_OK(profile_init(&b));
	b.keeps_events = true;
	CHECK_OK(import_file(&b, "a.wmka", &file, &is_known));
	CHECK(is_known);
	check_frames(&a, &b);
	check_numbers(&a, &b, 1);
	check_sources(&a, &b);
	check_events(&a, &b);
	check_texts(&a, &b);
	b.sources.count = 0;
	CHECK_OK(import_file(&b, "a.wmka", &file, &is_known));
	check_frames(&a, &b);
	check_numbers(&a, &b, 2);
	CHECK_U64(b.events.count, 2 * a.events.count);
	check_texts(&a, &b);
	buffer_deinit(&bytes);
	profile_deinit(&a);
	profile_deinit(&b);
}

/* Version 2 has no texts: the body ends without their number. */
static void check_version_2(void)
{
	struct profile a, b;
	struct buffer bytes, old = {0};
	uint8_t body[1 << 16], packed[1 << 16];
	size_t len, packed_len;

	build(&a);
	a.texts.count = 0;
	pack(&a, false, &bytes);
	len = ZSTD_decompress(body, sizeof body, bytes.bytes + ARCHIVE_HEADER_BYTES,
			      bytes.len_bytes - ARCHIVE_HEADER_BYTES);
	CHECK(!ZSTD_isError(len));
	packed_len = ZSTD_compress(packed, sizeof packed, body, len - 1, 1);
	CHECK(!ZSTD_isError(packed_len));
	buffer_bytes(&old, ARCHIVE_MAGIC, ARCHIVE_MAGIC_BYTES);
	buffer_u32(&old, 2);
	buffer_u32(&old, 0);
	buffer_u64(&old, len - 1);
	buffer_bytes(&old, packed, packed_len);
	CHECK_OK(buffer_error(&old));
	CHECK_OK(profile_init(&b));
	b.keeps_events = true;
	CHECK_OK(archive_add(&b, "old.wmka", &(struct mapped_file){old.bytes, old.len_bytes}));
	check_frames(&a, &b);
	check_numbers(&a, &b, 1);
	check_texts(&a, &b);
	buffer_deinit(&old);
	buffer_deinit(&bytes);
	profile_deinit(&a);
	profile_deinit(&b);
}

/* Of two texts of a line the first stays, and a note says so, once a file. */
static void check_other_text(void)
{
	static const struct source_text texts[] = {{"a.c", "int a;", 1, 4}, {"a.c", "int b;", 2, 5}};
	struct source_text other = texts[0];
	struct profile p;

	CHECK_OK(profile_init(&p));
	CHECK_OK(profile_add_text(&p, &texts[0]));
	CHECK_OK(profile_add_text(&p, &texts[1]));
	CHECK_OK(profile_add_text(&p, &texts[1]));
	CHECK_U64(p.warnings.count, 0);
	other.text = "long a;";
	CHECK_OK(profile_add_text(&p, &other));
	CHECK_U64(p.texts.count, 2);
	CHECK_TEXT(p.texts.items[0].text, "int a;");
	CHECK_U64(p.warnings.count, 1);
	profile_deinit(&p);
}

/* Nothing of what is not to be told is in the archive. */
static void check_anonymous(void)
{
	struct profile a, b;
	struct buffer bytes;
	struct mapped_file file;

	build(&a);
	file = pack(&a, true, &bytes);
	CHECK_OK(profile_init(&b));
	b.keeps_events = true;
	CHECK_OK(archive_add(&b, "a.wmka", &file));
	for (size_t i = 0; i < b.strings.count; i++)
		if (!CHECK(!strstr(b.strings.items[i], "home") && strcmp(b.strings.items[i], "other") != 0))
			fprintf(stderr, "it has \"%s\"\n", b.strings.items[i]);
	CHECK_U64(b.texts.count, 0);
	CHECK_TEXT(b.sources.items[0].header.program, "prog");
	for (size_t i = 0; i < b.metrics.count; i++)
		CHECK(b.metrics.items[i].unit != UNIT_VALUE);
	for (size_t i = 0; i < b.events.count; i++)
		CHECK(!b.events.items[i].value && !b.events.items[i].thread);
	CHECK_U64(b.metrics.items[0].total, a.metrics.items[0].total);
	buffer_deinit(&bytes);
	profile_deinit(&a);
	profile_deinit(&b);
}

static void check_damage(void)
{
	struct profile a;
	struct buffer bytes;
	struct mapped_file file;
	uint8_t *damaged;

	build(&a);
	file = pack(&a, false, &bytes);
	damaged = malloc(file.len_bytes);
	for (size_t i = 0; damaged && i < 200; i++) {
		size_t len = i % 2 ? file.len_bytes : below((uint32_t)file.len_bytes);
		struct mapped_file part = {damaged, len};
		struct profile b;
		struct error *err;

		memcpy(damaged, file.bytes, file.len_bytes);
		if (i % 2)
			damaged[ARCHIVE_MAGIC_BYTES + below((uint32_t)file.len_bytes - ARCHIVE_MAGIC_BYTES)] ^=
				(uint8_t)(1 + below(255));
		CHECK_OK(profile_init(&b));
		err = archive_add(&b, "damaged.wmka", &part);
		CHECK(err || len == file.len_bytes);
		error_destroy(err);
		profile_deinit(&b);
	}
	free(damaged);
	buffer_deinit(&bytes);
	profile_deinit(&a);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	printf("seed %" PRIu64 "\n", seed);
	state = seed;
	for (int i = 0; i < ROUNDS; i++)
		check_round_trip();
	check_version_2();
	check_other_text();
	check_anonymous();
	check_damage();
	return check_status();
}
