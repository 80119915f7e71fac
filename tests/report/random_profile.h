/*
 * random_profile.h - profiles of few names, for tests of what is summed over them: contexts recurse, end inside of others, and lack lines,
 * files and images.
 */
#ifndef WM_TESTS_REPORT_RANDOM_PROFILE_H
#define WM_TESTS_REPORT_RANDOM_PROFILE_H

#include <stdlib.h>

#include "check.h"
#include "model/base/profile_view.h"

enum {
	NAMES = 6,
};

static uint64_t state;

/* Takes the seed of the command line, and prints it. */
static void take_seed(int argc, char **argv)
{
	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261128;
	printf("seed %llu\n", (unsigned long long)state);
}

static uint32_t pick(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

/* Few names, so that contexts recurse; of some frames no line, no file or no image is known. */
static struct frame random_frame(void)
{
	static const char *const names[NAMES] = {"main",           "f",      "p.Class.g",
						 "std::sort<a;b>", "malloc", "operator new(unsigned long)"};
	static const char *const link_names[NAMES] = {"main", "f", "p.Class.g()V", "_Zsort", "malloc", "_Znwm"};
	static const char *const files[] = {"a.c", "b.c"}, *const images[] = {"/bin/a", "/lib/a.so", NULL};
	uint32_t name = pick(NAMES), place = pick(6);
	struct frame f = {.name = names[name], .link_name = link_names[name], .image = images[pick(3)]};

	if (name == 2)
		f.flags = FRAME_METHOD;
	if (place < 4) {
		f.file = files[place / 2];
		f.line = place % 2 ? 10 : 0;
		f.column = f.line ? pick(2) : 0;
	}
	return f;
}

static void build_profile(struct profile *p, bool is_of_heap)
{
	const struct metric metric = {.name = "n", .unit = UNIT_COUNT, .is_of_heap = is_of_heap};
	uint32_t contexts = 1 + pick(40), metrics;

	CHECK_OK(profile_add_metrics(p, &metric, 1, &metrics));
	for (uint32_t i = 0; i < contexts; i++) {
		uint32_t node = p->nodes.count > 1 ? pick((uint32_t)p->nodes.count) : 0, depth = 1 + pick(6);

		for (uint32_t d = 0; d < depth; d++) {
			struct frame f = random_frame();

			if (!node && pick(2))
				f = (struct frame){.name = pick(2) ? "[thread 7]" : "[thread]", .flags = FRAME_ROOT};
			CHECK_OK(profile_add_frame(p, node, &f, &node));
		}
		CHECK_OK(profile_add_value(p, node, metrics, pick(5) ? pick(1000) : 0));
	}
}

#endif
