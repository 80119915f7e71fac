/*
 * test_render.c - every renderer of text on one hand-built profile, compared with the files in golden/.
 *
 *     test_render DIR            compares with DIR/NAME.FORMAT
 *     UPDATE=1 test_render DIR   writes them anew, to be looked at before they are committed
 */
#include <stdlib.h>

#include "check.h"
#include "report/contexts/renderer.h"

static uint32_t add_path(struct profile *p, const struct frame *frames, size_t count)
{
	uint32_t node = 0;

	for (size_t i = 0; i < count; i++)
		CHECK_OK(profile_add_frame(p, node, &frames[i], &node));
	return node;
}

static void add_values(struct profile *p, uint32_t node, const uint32_t metrics[3], uint64_t bytes, uint64_t count,
		       uint64_t peak)
{
	CHECK_OK(profile_add_value(p, node, metrics[0], bytes));
	CHECK_OK(profile_add_value(p, node, metrics[1], count));
	CHECK_OK(profile_add_value(p, node, metrics[2], peak));
}

/* Awkward names on purpose: markup, separators, bytes that are no UTF-8, recursion. */
static void build_profile(struct profile *p)
{
	static const struct frame main_1 = {.name = "main", .file = "main.c", .line = 10, .column = 3};
	static const struct frame main_2 = {.name = "main", .file = "main.c", .line = 12};
	static const struct frame less = {.name = "std::less<int>::operator()(int&, \"x;y\")",
					  .link_name = "_ZNKSt4lessIiEclEv",
					  .file = "a&b.h",
					  .line = 7,
					  .column = 1,
					  .flags = FRAME_INLINED};
	static const struct frame again = {.name = "again", .file = "r.c", .line = 4};
	static const struct frame bad = {.name = "f\xff\n", .link_name = "f"};
	static const struct frame malloc_frame = {.name = "[malloc]", .link_name = "malloc", .flags = FRAME_FOREIGN};
	static const struct frame thread = {.name = "[thread]", .flags = FRAME_ROOT};
	static const struct profile_source source = {.path = "prog-1.wmk",
						     .header.program = "/usr/bin/prog",
						     .header.run = 0xabc,
						     .header.pid = 1,
						     .end = RECORDING_EXIT,
						     .has_heap = true,
						     .heap_count = 4,
						     .header.samples = 1108,
						     .header.samples_in_agent = 58,
						     .header.samples_checked = 1091,
						     .header.samples_agreed = 1091,
						     .header.samples_unchecked = 17,
						     .header.heap_live_bytes = 5,
						     .header.heap_unknown_frees = 16, /* no note */
						     .header.heap_peak_bytes = 123456789};
	static const struct profile_source lossy = {.path = "prog-2.wmk",
						    .header.program = "/usr/bin/prog",
						    .header.run = 0xdef,
						    .header.pid = 2,
						    .event_count = 3,
						    .header.dropped_events = 17,
						    .header.dropped_prefixes = 2,
						    .header.dropped_heap_calls = 1,
						    .header.drop_errno = 28,
						    .header.lost_children = 3,
						    .header.samples = 9,
						    .header.samples_unknown = 2,
						    .header.samples_checked = 7,
						    .header.samples_agreed = 6,
						    .uncommitted = 1,
						    .header.heap_unknown_frees = 40,
						    .truncated = "prog-2.wmk: truncated: half of it is lost"};
	static const struct profile_source child = {.path = "prog-3.wmk",
						    .header.program = "/usr/bin/prog",
						    .header.run = 0x123,
						    .header.parent_run = 0xabc,
						    .header.pid = 3,
						    .end = RECORDING_LEFT,
						    .has_heap = true,
						    .header.heap_live_bytes = 1000,
						    .header.heap_peak_bytes = 1005,
						    .inherited_count = 2,
						    .inherited_bytes = 1002,
						    .inherited_live_bytes = 999};
	uint32_t m[3];
	uint32_t event;

	CHECK_OK(profile_source_vec_append(&p->sources, source));
	CHECK_OK(profile_source_vec_append(&p->sources, lossy));
	CHECK_OK(profile_source_vec_append(&p->sources, child));
	CHECK_OK(profile_add_metrics(p, &(struct metric){.name = "bytes", .unit = UNIT_BYTES, .is_maximum = false}, 1,
				     &m[0]));
	CHECK_OK(profile_add_metrics(
		p, &(struct metric){.name = "allocations", .unit = UNIT_COUNT, .is_maximum = false}, 1, &m[1]));
	CHECK_OK(profile_add_metrics(p, &(struct metric){.name = "peak", .unit = UNIT_BYTES, .is_maximum = true}, 1,
				     &m[2]));
	CHECK_OK(profile_add_metrics(p, &(struct metric){.name = "tick", .unit = UNIT_COUNT, .is_maximum = false}, 1,
				     &event));
	add_values(p, add_path(p, (struct frame[]){main_1, less, malloc_frame}, 3), m, 1234567, 3, 99);
	add_values(p, add_path(p, (struct frame[]){main_2, less, malloc_frame}, 3), m, 1000, 1, 1000);
	add_values(p, add_path(p, (struct frame[]){main_2, again, again, again, again, bad, malloc_frame}, 7), m,
		   500000, 2, 7);
	CHECK_OK(profile_add_value(p, add_path(p, (struct frame[]){thread, again}, 2), event, 3));
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_event e = {.realtime_ns = UINT64_C(1700000000000000007) - i,
					  .value = i,
					  .metric = event,
					  .node = i + 1,
					  .tid = 40 + i};

		CHECK_OK(profile_event_vec_append(&p->events, e));
	}
	CHECK_OK(profile_warn(p, "no program with build id 00 found"));
	CHECK_OK(profile_warn(p, "no program with build id 00 found"));
}

static void compare_file(const char *path, const char *got, size_t size, int is_update)
{
	FILE *f = fopen(path, is_update ? "w" : "r");
	char *want = calloc(1, size + 2);
	size_t len;

	if (!CHECK(f && want)) {
		fprintf(stderr, "%s: cannot be opened\n", path);
		free(want);
		return;
	}
	if (is_update) {
		CHECK_U64(fwrite(got, 1, size, f), size);
	} else {
		len = fread(want, 1, size + 1, f);
		if (len != size || memcmp(want, got, size) != 0) {
			size_t i = 0, line = 1;

			for (; i < size && i < len && want[i] == got[i]; i++)
				line += got[i] == '\n';
			fprintf(stderr, "%s:%zu: differs: got \"%.60s\", want \"%.60s\"\n", path, line, got + i,
				want + i);
			check_failures++;
		}
	}
	fclose(f);
	free(want);
}

static void check_view(const struct profile *p, const struct view_options *options, const struct renderer *r,
		       const char *dir, const char *name, int is_update)
{
	struct view v;
	char *text = NULL, path[4096];
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	struct error *err;

	if (!CHECK(memory != NULL) || !CHECK_OK(view_create(p, options, "waymark test", &v)))
		return;
	err = r->render(&v, memory);
	if (err)
		fprintf(memory, "%s\n", err->message);
	error_destroy(err);
	CHECK(fclose(memory) == 0);
	snprintf(path, sizeof path, "%s/%s.%s", dir, name, r->format.name);
	compare_file(path, text, size, is_update);
	free(text);
	view_deinit(&v);
}

int main(int argc, char **argv)
{
	int is_update = getenv("UPDATE") != NULL;
	const char *dir = argc > 1 ? argv[1] : ".";
	struct pattern_vec globs = {0}, wrong = {0};
	struct view_options all = {0}, some = {.metric = "allocations", .sort = "name", .functions = &globs};
	struct profile p, empty;

	if (!CHECK_OK(profile_init(&p)) || !CHECK_OK(profile_init(&empty)))
		return check_status();
	CHECK_OK(patterns_add(&globs, "--function", "aga*"));
	CHECK_OK(patterns_add(&wrong, "--function", "agai"));
	build_profile(&p);
	for (const struct renderer *r = report_formats.rows; r->format.name; r++) {
		/* tests/cli/convert.sh reads them: what zlib writes differs by its version */
		if (r->is_binary || strcmp(r->format.name, "view") == 0)
			continue;
		all.keeps_zeros = some.keeps_zeros = r->keeps_zeros;
		all.top = r->default_top ? 2 : 0;
		check_view(&p, &all, r, dir, "all", is_update);
		check_view(&p, &some, r, dir, "some", is_update);
		check_view(&empty, &(struct view_options){0}, r, dir, "empty", is_update);
	}
	all.metric = "nope";
	CHECK_ERROR(view_create(&p, &all, "", &(struct view){0}), ERROR_ARGUMENT, "bytes, allocations, peak, tick");
	CHECK_ERROR(view_create(&empty, &all, "", &(struct view){0}), ERROR_ARGUMENT, "there is: nothing");
	all.metric = "peak";
	all.adds_up = true;
	CHECK_ERROR(view_create(&p, &all, "", &(struct view){0}), ERROR_ARGUMENT, "peak: the largest values");
	some.functions = &wrong;
	CHECK_ERROR(view_create(&p, &some, "", &(struct view){0}), ERROR_NOT_FOUND, "--function agai: no function has");
	some.metric = some.sort = NULL;
	CHECK_ERROR(view_create(&empty, &some, "", &(struct view){0}), ERROR_NOT_FOUND,
		    "--function agai: no function has");
	patterns_deinit(&globs);
	patterns_deinit(&wrong);
	profile_deinit(&p);
	profile_deinit(&empty);
	return check_status();
}
