/*
 * test_gather.c - .wmk files into profiles: sums per context, events and heap, several files, what cannot be decoded; and
 * that the tree made piece by piece equals context_decode of each context.
 */
#include <stddef.h>
#include <stdlib.h>

#include "check.h"
#include "model/contexts/context.h"
#include "model/contexts/profile_read.h"
#include "support/builder.h"

enum {
	BASE = 16,
	KEY = 5,
};

struct fixture {
	struct image_cache cache;
	uint32_t call, back, capture, capture_f, create;
	uint32_t on_line[2]; /* captures on one line */
};

/* main --call--> f --back--> main; captures in both. The image is put into the cache as if it had been found. */
static void open_fixture(struct fixture *f)
{
	static struct meta_builder b;
	const uint32_t root = META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY;
	struct object_wanted wanted = {.has_key = true, .key = KEY};
	struct cached_image *cached;
	struct buffer bytes = {0};
	struct meta m;
	uint32_t main_function, f_function;

	build_meta_init(&b, "prog");
	main_function = build_function(&b, "main", root, 1, 0);
	f_function = build_function(&b, "f", 0, 1, 0);
	f->call = build_call(&b, META_SITE_CALL, main_function, f_function, 0);
	f->back = build_call(&b, META_SITE_BACK, f_function, main_function, 0);
	f->capture = build_site(&b, META_SITE_CAPTURE, main_function, NULL);
	f->capture_f = build_site(&b, META_SITE_CAPTURE, f_function, NULL);
	f->create = build_site(&b, META_SITE_FOREIGN, f_function, "pthread_create");
	for (int i = 0; i < 2; i++) {
		f->on_line[i] = build_site(&b, META_SITE_CAPTURE, main_function, NULL);
		b.sites[f->on_line[i]].location = build_location(&b, NULL, "main.c", 7, 0);
		b.locations[b.sites[f->on_line[i]].location - 1].column = 10 + (uint32_t)i;
	}
	meta_init(&m);
	image_cache_init(&f->cache);
	CHECK_OK(image_cache_get(&f->cache, &wanted, &cached)); /* is not found: keeps a reason */
	error_destroy(cached->why);
	cached->why = NULL;
	CHECK_OK(meta_write(&b.meta, &bytes));
	CHECK_OK(meta_read(bytes.bytes, bytes.len_bytes, "prog", &m));
	CHECK_OK(image_create(&m, &cached->image));
	meta_deinit(&m);
	buffer_deinit(&bytes);
}

static void build_file(const struct fixture *f, struct wmk_builder *b, uint32_t flags)
{
	uint64_t tick, bytes;

	build_wmk_init(b, 7, "/prog");
	build_chunk(b, WMK_STRINGS, 0, 0);
	tick = build_string(b, 0, "tick");
	bytes = build_string(b, 0, "bytes");
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, KEY, BASE, 8, 999, NULL, 0);
	build_image(b, KEY + 1, 100, 5, 999, NULL, 0); /* is nowhere */
	build_image(b, 0, 105, 0, 999, NULL, 0);       /* has paths only: is not looked for */
	build_chunk(b, WMK_NODES, 16, 0);
	build_node(b, WM_PREFIX_PROCESS, 0, BASE + f->back, 1);
	build_node(b, 16, 0, BASE + f->back, 3);
	build_node(b, 17, 0, 101, 1);
	build_node(b, 18, 0, BASE + f->back, 1);
	build_node(b, 16, 0, BASE + f->create, 1); /* 20 */
	build_node(b, 20, 0, WM_SITE_THREAD, 1);   /* 21: created in main;f;main;f */
	build_node(b, 21, 0, BASE + f->back, 2);   /* 22 */
	build_node(b, 20, 0, WM_SITE_THREAD, 3);   /* 23: damaged */
	build_chunk(b, WMK_EVENTS, 0, 1);
	build_event(b, 1, 10, 0, 1, BASE + f->capture, (uint32_t)tick);
	build_event(b, 2, 20, 0, 17, BASE + f->capture, (uint32_t)tick);
	build_event(b, 3, 30, 0, 17, BASE + f->capture, (uint32_t)tick);
	build_event(b, 4, UINT64_MAX, 0, 17, BASE + f->capture, (uint32_t)bytes);
	build_event(b, 5, 1, 0, 18, BASE + f->capture, (uint32_t)tick);
	build_event(b, 6, 1, 0, 19, BASE + f->capture_f, (uint32_t)tick);
	build_event(b, 7, 1, 9, 1, BASE + f->capture_f, (uint32_t)tick);
	build_chunk(b, WMK_HEAP, 0, 0);
	build_heap(b, 0, 16, BASE + f->capture_f, 10, 1000, 9, 900, 500);
	build_heap(b, 0, 22, BASE + f->capture, 1, 70, 0, 0, 70);
	build_heap(b, 0, 21, BASE + f->capture, 1, 7, 0, 0, 7);
	build_heap(b, 0, 23, BASE + f->capture, 1, 1, 0, 0, 1);
	build_chunk(b, WMK_THREADS, 0, 0);
	build_thread(b, 5, 4242, (uint32_t)tick); /* the events' thread; an earlier name comes behind */
	build_thread(b, 2, 4243, (uint32_t)tick);
	build_thread(b, 3, 4242, (uint32_t)bytes);
	build_wmk_finish(b);
	build_header_u32(b, offsetof(struct wmk_header, flags), flags);
	build_header_u64(b, offsetof(struct wmk_header, dropped_events), 42);
}

static void add_file(struct profile *p, struct fixture *f, uint32_t flags)
{
	struct wmk_builder b;
	struct wmk_file w;

	build_file(f, &b, flags);
	if (CHECK_OK(wmk_read(b.out.bytes, b.out.len_bytes, "x.wmk", &w))) {
		CHECK_OK(profile_add_file(p, &w, &f->cache, NULL));
		wmk_file_deinit(&w);
	}
	buffer_deinit(&b.out);
}

/* The value of a metric at a folded path; UINT64_MAX - 1 when there is no such cell. */
static uint64_t value_at(const struct profile *p, const char *folded, const char *metric)
{
	for (size_t i = 0; i < p->cells.count; i++) {
		const struct cell *c = &p->cells.items[i];
		const char *end = folded + strlen(folded);
		uint32_t node = c->node;

		uint32_t slot = 0;

		while (slot < p->metrics.items[c->group].group_size &&
		       strcmp(p->metrics.items[c->group + slot].name, metric) != 0)
			slot++;
		if (slot == p->metrics.items[c->group].group_size)
			continue;
		for (; node; node = p->nodes.items[node].parent) { /* backwards through the text */
			const char *name = p->frames.items[p->nodes.items[node].frame].name;
			size_t len = strlen(name);

			if ((size_t)(end - folded) < len || memcmp(end - len, name, len) != 0)
				break;
			end -= len;
			if (end == folded)
				break;
			end--;
		}
		if (end == folded && p->nodes.items[node].depth == 1)
			return p->values.items[c->first + slot];
	}
	return UINT64_MAX - 1;
}

static void add_built(struct profile *p, struct fixture *f, struct wmk_builder *b)
{
	struct wmk_file w;

	build_wmk_finish(b);
	if (CHECK_OK(wmk_read(b->out.bytes, b->out.len_bytes, "x.wmk", &w))) {
		CHECK_OK(profile_add_file(p, &w, &f->cache, NULL));
		wmk_file_deinit(&w);
	}
	buffer_deinit(&b->out);
}

static void start_built(struct wmk_builder *b)
{
	build_wmk_init(b, 7, "/prog");
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, KEY, BASE, 8, 999, NULL, 0);
}

/* One record of the heap: what was allocated and freed, and what was stored of a peak, and of which. */
struct part {
	uint64_t bytes, freed, at_peak, at_peak_of;
};

/* Each record is of the same context, of epochs of their own. */
static void check_peak(struct fixture *f, const struct part *parts, size_t count, uint64_t peak, uint64_t want)
{
	struct wmk_builder b;
	struct profile p;

	if (!CHECK_OK(profile_init(&p)))
		return;
	start_built(&b);
	build_chunk(&b, WMK_HEAP, 0, 0);
	for (size_t i = 0; i < count; i++) {
		build_heap(&b, 0, WM_PREFIX_PROCESS, BASE + f->capture, 3, parts[i].bytes, 2, parts[i].freed,
			   parts[i].at_peak);
		build_heap_peak(&b, parts[i].at_peak_of);
		build_epoch(&b, (uint32_t)i);
	}
	build_header_u64(&b, offsetof(struct wmk_header, heap_peak_bytes), peak);
	add_built(&p, f, &b);
	CHECK_U64(value_at(&p, "main", "peak"), want);
	CHECK_U64(p.warnings.count, want != peak);
	profile_deinit(&p);
}

static void test_peaks(struct fixture *f)
{
	/* Nothing was stored: it has what it had at the peak. */
	check_peak(f, (const struct part[]){{500, 100, 0, 0}}, 1, 400, 400);
	/* What was stored counts only if it was of the last peak. */
	check_peak(f, (const struct part[]){{500, 100, 500, 500}}, 1, 500, 500);
	check_peak(f, (const struct part[]){{900, 200, 500, 500}}, 1, 700, 700);
	check_peak(f, (const struct part[]){{500, 100, 300, 1000}, {800, 0, 0, 0}, {5000, 5000, 1, 999}}, 3, 1000,
		   1100);
	check_peak(f, (const struct part[]){{500, 100, 300, 1000}, {700, 0, 0, 0}}, 2, 1000, 1000);
}

static size_t count_leaves(const struct profile *p, const char *metric)
{
	size_t count = 0;

	for (size_t i = 0; i < p->cells.count; i++)
		count += strcmp(p->metrics.items[p->cells.items[i].group].name, metric) == 0;
	return count;
}

/* Samples of one line are one context, unless columns are wanted; events that the program makes never are. */
static void test_samples(struct fixture *f)
{
	for (int keeps_columns = 0; keeps_columns < 2; keeps_columns++) {
		struct wmk_builder b;
		struct profile p;
		uint64_t cpu, tick;

		if (!CHECK_OK(profile_init(&p)))
			return;
		p.keeps_columns = keeps_columns;
		start_built(&b);
		build_chunk(&b, WMK_STRINGS, 0, 0);
		cpu = build_string(&b, 0, "cpu");
		tick = build_string(&b, 0, "tick");
		build_chunk(&b, WMK_EVENTS, 0, 1);
		for (uint32_t i = 0; i < 8; i++)
			build_event(&b, i, 1, 0, WM_PREFIX_PROCESS, BASE + f->on_line[i % 2],
				    (uint32_t)(i < 6 ? cpu : tick));
		build_wmk_finish(&b);
		build_header_u64(&b, offsetof(struct wmk_header, samples), 6);
		add_built(&p, f, &b);
		CHECK_U64(count_leaves(&p, "cpu"), keeps_columns ? 2 : 1);
		CHECK_U64(count_leaves(&p, "tick"), 2);
		CHECK_U64(value_at(&p, "main", "cpu"), keeps_columns ? 3 : 6);
		profile_deinit(&p);
	}
}

int main(void)
{
	struct fixture f;
	struct profile p;

	open_fixture(&f);
	if (!CHECK_OK(profile_init(&p)))
		return check_status();
	p.keeps_events = true;
	add_file(&p, &f, WMK_FLAG_HEAP | WMK_FLAG_CLOSED);
	CHECK_U64(f.cache.images.count, 2);
	CHECK_U64(value_at(&p, "main", "tick"), 1);
	CHECK_U64(value_at(&p, "main", "tick:sum"), 10);
	CHECK_U64(value_at(&p, "main;f;main;f;main;f;main;f;main", "tick"), 2);
	CHECK_U64(value_at(&p, "main;f;main;f;main;f;main;f;main", "tick:sum"), 50);
	CHECK_U64(value_at(&p, "main;f;main;f;main;f;main;f;main", "event:bytes"), 1);
	CHECK_U64(value_at(&p, "main;f;main;f", "bytes"), 1000);
	CHECK_U64(value_at(&p, "main;f;main;f", "live"), 100);
	CHECK_U64(value_at(&p, "main;f;main;f", "live-allocations"), 1);
	CHECK_U64(value_at(&p, "main;f;main;f", "leaked"), 100);
	CHECK_U64(value_at(&p, "main;f;main;f;[thread];main;f;main;f;main", "bytes"), 70);
	CHECK_U64(value_at(&p, "main;f;main;f;[thread];main", "bytes"), 7);
	CHECK_U64(value_at(&p, "[unknown]", "bytes"), 1);
	CHECK_U64(value_at(&p, "[unknown]", "tick"), 3);
	CHECK_U64(p.warnings.count, 3);
	CHECK_U64(p.saturated, 0);
	CHECK_U64(p.sources.items[0].header.dropped_events, 42);
	if (CHECK(p.events.count == 7)) {
		CHECK(!p.events.items[1].thread);
		CHECK_TEXT(p.events.items[2].thread, "bytes");
		CHECK_TEXT(p.events.items[3].thread, "bytes");
		CHECK_TEXT(p.events.items[4].thread, "tick");
		CHECK_TEXT(p.events.items[6].thread, "tick");
	}
	add_file(&p, &f, WMK_FLAG_HEAP); /* was killed: live, not leaked */
	CHECK_U64(value_at(&p, "main", "tick"), 2);
	CHECK_U64(value_at(&p, "main;f;main;f", "live"), 200);
	CHECK_U64(value_at(&p, "main;f;main;f", "leaked"), 100);
	CHECK_U64(value_at(&p, "main;f;main;f", "peak"), 1000);
	CHECK_U64(value_at(&p, "main;f;main;f;main;f;main;f;main", "event:bytes:sum"), UINT64_MAX);
	CHECK(p.saturated > 0);
	CHECK_U64(p.sources.count, 2);
	profile_deinit(&p);
	test_peaks(&f);
	test_samples(&f);
	image_cache_deinit(&f.cache);
	return check_status();
}
