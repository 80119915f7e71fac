/*
 * test_bounds.c - what a report of a file costs is in proportion to the file, whatever is in it: frames that are decoded, names, and what
 * a format writes. Each recording of a few pages stands for so much that a report of it ran for minutes, or out of memory. The frames that
 * these files may have are an eighth here of what they are for users, as all that is tested takes time in proportion to them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "model/contexts/context.h"
#include "model/contexts/profile_read.h"
#include "report/contexts/renderer.h"
#include "support/large_file.h"

enum {
	BYTES = 200000,
	FRAMES_MAX = 1 << 23,       /* that files of any size may have */
	FRAMES_PER_BYTE = 8,        /* and more of larger ones */
	FRAMES_HERE = 1 << 21,      /* that the files here may have */
	OUTPUT_MAX = 1 << 29,       /* bytes */
	MEMORY_MAX = (2 << 20) / 4, /* KiB */
};

#ifdef __has_feature
enum {
	HAS_ASAN = __has_feature(address_sanitizer)
};
#else
enum {
	HAS_ASAN = 0
};
#endif

static ssize_t count_bytes(void *data, const char *bytes, size_t size)
{
	(void)bytes;
	*(uint64_t *)data += size;
	return (ssize_t)size;
}

static void render(const struct renderer *r, const struct view *v, enum crafted kind)
{
	uint64_t written = 0;
	FILE *out = fopencookie(&written, "w", (cookie_io_functions_t){.write = count_bytes});
	struct error *err;

	if (!CHECK(out != NULL))
		return;
	err = r->render(v, out);
	fclose(out);
	/* Some formats are of the heap alone. */
	if (err &&
	    !CHECK(err->code == ERROR_OVERFLOW || (err->code == ERROR_ARGUMENT && strstr(err->message, " the heap"))))
		fprintf(stderr, "kind %d as %s: %s\n", (int)kind, r->format.name, err->message);
	if (!CHECK(written < OUTPUT_MAX))
		fprintf(stderr, "kind %d as %s: %llu bytes\n", (int)kind, r->format.name, (unsigned long long)written);
	error_destroy(err);
}

/* A view for all formats that have it so. */
static void render_all(const struct profile *p, enum crafted kind)
{
	for (int how = 0; how < 4; how++) {
		struct view_options options = {.keeps_zeros = how & 1, .adds_up = how & 2};
		struct view v;

		if (!CHECK_OK(view_create(p, &options, "test", &v)))
			return;
		for (const struct renderer *r = report_formats.rows; r->format.name; r++)
			if (!r->default_top && r->keeps_zeros == options.keeps_zeros && r->adds_up == options.adds_up)
				render(r, &v, kind);
		view_deinit(&v);
	}
	for (const struct renderer *r = report_formats.rows; r->format.name; r++) {
		struct view_options options = {
			.top = r->default_top, .keeps_zeros = r->keeps_zeros, .adds_up = r->adds_up};
		struct view v;

		if (!r->default_top || !CHECK_OK(view_create(p, &options, "test", &v)))
			continue;
		render(r, &v, kind);
		view_deinit(&v);
	}
}

/* Contexts that are counted at [unknown], for whatever reason. */
static uint64_t unknown_contexts(const struct profile *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->warnings.count; i++)
		count += p->warnings.items[i].count;
	return count;
}

static void check_crafted(enum crafted kind)
{
	struct image_cache cache;
	struct wmk_builder b;
	struct wmk_file w;
	struct profile p;

	large_crafted(&b, kind, BYTES);
	image_cache_init(&cache);
	if (!CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "crafted.wmk", &w)) || !CHECK_OK(profile_init(&p)))
		return;
	p.keeps_events = true;
	CHECK(p.frames_left <= FRAMES_MAX);
	p.frames_left =
		FRAMES_HERE - (uint64_t)FRAMES_PER_BYTE * b.out.len_bytes; /* the file's size adds those again */
	CHECK_OK(profile_add_file(&p, &w, &cache, NULL));
	CHECK(p.nodes.count <= FRAMES_HERE + BYTES);
	CHECK(p.events.count == BYTES / 256);
	/* Some are too much in all, or were made so that none can be known; the others are honest if odd. */
	if (kind == CRAFTED_RUNS)
		CHECK(unknown_contexts(&p) > 0 && unknown_contexts(&p) < p.events.count);
	else if (kind == CRAFTED_NAMES || kind == CRAFTED_EPOCHS)
		CHECK_U64(unknown_contexts(&p), p.events.count);
	else if (!CHECK_U64(unknown_contexts(&p), 0))
		fprintf(stderr, "kind %d: %s\n", (int)kind, p.warnings.items[0].text);
	profile_finish(&p);
	render_all(&p, kind);
	profile_deinit(&p);
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
	image_cache_deinit(&cache);
}

/* Of an honest recording everything is shown, in every format. */
static void check_honest(void)
{
	static const uint32_t count = 5000;
	struct image_cache cache;
	struct wmk_builder b;
	struct wmk_file w;
	struct profile p;
	struct view v;

	large_contexts(&b, count);
	image_cache_init(&cache);
	if (!CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "large.wmk", &w)) || !CHECK_OK(profile_init(&p)))
		return;
	CHECK_OK(profile_add_file(&p, &w, &cache, NULL));
	CHECK_U64(unknown_contexts(&p), 0);
	if (CHECK_OK(view_create(&p, &(struct view_options){0}, "test", &v))) {
		CHECK_U64(v.row_count, count);
		CHECK_U64(v.matching_total, 16 * count);
		CHECK_U64(view_depths(&v), 24 * count);
		view_deinit(&v);
	}
	render_all(&p, CRAFTED_END);
	profile_deinit(&p);
	wmk_file_deinit(&w);
	buffer_deinit(&b.out);
	image_cache_deinit(&cache);
}

int main(void)
{
	struct rusage usage;

	check_honest();
	for (int kind = 0; kind < CRAFTED_END; kind++)
		check_crafted((enum crafted)kind);
	getrusage(RUSAGE_SELF, &usage);
	CHECK(usage.ru_maxrss < MEMORY_MAX * (HAS_ASAN ? 2 : 1)); /* ASan keeps what is freed */
	return check_status();
}
