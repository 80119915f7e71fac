/*
 * fuzz_pathmeta.c - pathmeta_read. The first byte chooses: 0, the rest is a section; else it is the raw body of a unit, for
 * which a right header and checksum are made, so that inputs get past them. What is read is walked as its users do, and a
 * single unit is written again and must come back the same.
 */
#include <stdlib.h>

#include "core/paths/path_number.h"
#include "fuzz/fuzz.h"
#include "support/builder.h"
#include "support/path_builder.h"

static void walk(const struct pathmeta_function *f)
{
	uint32_t *edges = calloc((size_t)f->cfg.node_count + 1, sizeof *edges);
	struct path path = {.edges = edges};
	struct path_numbering n;
	struct arena arena;
	uint64_t number;

	arena_init(&arena);
	if (!edges || !f->link_name || !f->name || path_number(&f->cfg, &arena, &n) || n.path_count != f->path_count)
		abort();
	path_regenerate(&f->cfg, &n, f->path_count - 1, &path);
	if (path.edge_count >= f->cfg.node_count || path_number_of(&f->cfg, &n, &path, &number) ||
	    number != f->path_count - 1)
		abort();
	if (f->first_line[path.end_node] > f->first_line[path.end_node + 1])
		abort();
	for (uint32_t i = 0; i < f->test_count; i++)
		if (f->tests[i].node >= f->cfg.node_count || pathmeta_find_test(f, f->tests[i].node) != &f->tests[i])
			abort();
	arena_deinit(&arena);
	free(edges);
}

static void write_again(const struct pathmeta *m)
{
	struct buffer out = {0};
	struct pathmeta back;

	pathmeta_init(&back);
	if (pathmeta_write(m, &out) || pathmeta_read(out.bytes, out.len_bytes, "again", &back) ||
	    back.function_count != m->function_count || back.skipped_count != m->skipped_count)
		abort();
	for (uint32_t i = 0; i < m->function_count; i++)
		if (back.functions[i].cfg_key != m->functions[i].cfg_key ||
		    back.functions[i].path_count != m->functions[i].path_count ||
		    back.functions[i].test_count != m->functions[i].test_count ||
		    back.functions[i].planned_count != m->functions[i].planned_count)
			abort();
	pathmeta_deinit(&back);
	buffer_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer section = {0};
	struct pathmeta m;
	struct error *err;

	if (size < 1)
		return 0;
	if (data[0])
		build_paths_section(&section, data + 1, size - 1);
	else
		buffer_bytes(&section, data + 1, size - 1);
	pathmeta_init(&m);
	err = pathmeta_read(section.bytes, section.len_bytes, "input", &m);
	if (!err) {
		for (uint32_t i = 0; i < m.function_count; i++) {
			walk(&m.functions[i]);
			if (pathmeta_find(&m, m.functions[i].name_key, m.functions[i].cfg_key) != &m.functions[i])
				abort();
		}
		if (m.unit_count == 1)
			write_again(&m);
	}
	error_destroy(err);
	pathmeta_deinit(&m);
	buffer_deinit(&section);
	return 0;
}
