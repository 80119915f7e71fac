/*
 * fuzz_plan.c - plan_create on text, and what the plan chooses in two functions: paths that exist, each once. The plan may name
 * the profile "p.wmk", which counts some paths of the first.
 */
#include <stdlib.h>
#include <string.h>

#include "format/plan.h"
#include "fuzz/fuzz.h"
#include "support/builder.h"
#include "support/path_builder.h"
#include "waymark/paths.h"

static struct path_builder functions;
static struct wmk_builder profile;

struct input {
	const uint8_t *data;
	size_t size;
};

static struct error *open_file(void *state, const char *path, const void **ret_bytes, size_t *ret_len_bytes)
{
	const struct input *input = state;

	if (strcmp(path, "plan") == 0) {
		*ret_bytes = input->data;
		*ret_len_bytes = input->size;
		return NULL;
	}
	if (strcmp(path, "p.wmk") != 0)
		return error_create(ERROR_NOT_FOUND, "%s: no such file", path);
	*ret_bytes = profile.out.bytes;
	*ret_len_bytes = profile.out.len_bytes;
	return NULL;
}

static void build_once(void)
{
	static const struct build_edge edges[] = {
		{0, 1, CFG_KEPT, {0}}, {1, 2, CFG_KEPT, {0}},     {1, 5, CFG_KEPT, {0}},
		{2, 3, CFG_KEPT, {0}}, {2, 4, CFG_KEPT, {0}},     {3, 1, CFG_CUT_BACK, {0}},
		{3, 4, CFG_KEPT, {0}}, {4, 1, CFG_CUT_BACK, {0}}, {4, 5, CFG_KEPT, {0}},
	};
	uint64_t counts[16] = {9, 0, 5, 1};
	struct pathmeta_function *f;
	struct wmk_paths head = {.kind = WM1_PATHS_ARRAY};

	if (functions.meta.function_count)
		return;
	build_paths_init(&functions, "u.c", PATHMETA_SOURCE);
	f = build_paths_simple(&functions, "main", 6, edges, 9, 1);
	build_paths_simple(&functions, "_Z1fv", 6, edges, 9, 10)->name = "f()";
	head.name_key = f->name_key;
	head.cfg_key = f->cfg_key;
	head.path_count = f->path_count;
	head.entry_count = (uint32_t)f->path_count;
	build_wmk_init(&profile, 1, "/p");
	build_chunk(&profile, WMK_PATHS, 0, 0);
	build_table(&profile, &head, 3, counts, head.entry_count);
	build_wmk_finish(&profile);
}

static void choose(const struct plan *plan, const struct pathmeta_function *f)
{
	struct path_numbering n;
	struct plan_choice c;
	struct arena arena;

	arena_init(&arena);
	if (path_number(&f->cfg, &arena, &n) || plan_choose(plan, f, &n, &arena, &c))
		abort();
	for (uint32_t i = 0; i < c.count; i++) {
		if (c.paths[i] >= f->path_count)
			abort();
		for (uint32_t j = 0; j < i; j++)
			if (c.paths[i] == c.paths[j])
				abort();
	}
	arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct plan_files files = {&input, open_file};
	struct plan *plan = NULL;
	struct error *err;

	build_once();
	err = plan_create("plan", &files, &plan);
	if (!err) {
		choose(plan, &functions.functions[0]);
		choose(plan, &functions.functions[1]);
	}
	error_destroy(err);
	plan_destroy(plan);
	return 0;
}
