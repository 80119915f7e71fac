/* path_builder.c - metadata of paths by hand. */
#include "base/hash.h"
#include "support/path_builder.h"

#include <stdlib.h>
#include <string.h>

#include "core/paths/path_number.h"
#include "waymark/paths.h"

void build_paths_init(struct path_builder *b, const char *unit, enum pathmeta_stage stage)
{
	memset(b, 0, sizeof *b);
	pathmeta_init(&b->meta);
	b->unit = (struct pathmeta_unit){.producer = "waymark test", .name = unit, .stage = stage};
	b->meta.units = &b->unit;
	b->meta.unit_count = 1;
	b->meta.functions = b->functions;
}

void build_paths_deinit(struct path_builder *b)
{
	pathmeta_deinit(&b->meta);
}

static void *must_calloc(struct path_builder *b, size_t count, size_t size_bytes)
{
	void *p = arena_calloc(&b->meta.arena, count, size_bytes);

	if (!p)
		abort();
	return p;
}

static void set_edges(struct path_builder *b, struct pathmeta_function *f, const struct build_edge *edges)
{
	struct cfg *g = &f->cfg;

	g->edges = must_calloc(b, g->edge_count, sizeof *g->edges);
	g->first_edge = must_calloc(b, (size_t)g->node_count + 1, sizeof *g->first_edge);
	f->outcomes = must_calloc(b, g->edge_count, sizeof *f->outcomes);
	for (uint32_t i = 0; i < g->edge_count; i++) {
		g->edges[i] = (struct cfg_edge){.from = edges[i].from, .to = edges[i].to, .cut = edges[i].cut};
		f->outcomes[i] = edges[i].outcome;
		g->first_edge[edges[i].from + 1] = i + 1;
		f->cfg_key = hash_bytes(f->cfg_key, &edges[i].to, sizeof edges[i].to);
	}
	for (uint32_t n = 0; n < g->node_count; n++)
		if (g->first_edge[n + 1] < g->first_edge[n])
			g->first_edge[n + 1] = g->first_edge[n];
}

static void set_lines(struct path_builder *b, struct pathmeta_function *f, const struct build_line *lines,
		      uint32_t count)
{
	uint32_t nodes = f->cfg.node_count;

	f->first_line = must_calloc(b, (size_t)nodes + 1, sizeof *f->first_line);
	f->lines = must_calloc(b, count, sizeof *f->lines);
	for (uint32_t i = 0; i < count; i++) {
		f->lines[i] = lines[i].line;
		f->first_line[lines[i].node + 1] = i + 1;
	}
	for (uint32_t n = 0; n < nodes; n++)
		if (f->first_line[n + 1] < f->first_line[n])
			f->first_line[n + 1] = f->first_line[n];
}

struct pathmeta_function *build_paths_function(struct path_builder *b, const char *name, uint32_t node_count,
					       const struct build_edge *edges, uint32_t edge_count,
					       const struct build_line *lines, uint32_t line_count)
{
	struct pathmeta_function *f = &b->functions[b->meta.function_count];
	struct path_numbering n;
	struct error *err;

	if (b->meta.function_count >= BUILD_PATH_FUNCTIONS_MAX)
		abort();
	b->meta.function_count++;
	*f = (struct pathmeta_function){.link_name = name,
					.name = name,
					.file = "test.c",
					.line = 10 * b->meta.function_count,
					.kind = WM1_PATHS_ARRAY,
					.name_key = hash_bytes(HASH_START, name, strlen(name)),
					.cfg_key = HASH_START,
					.cfg = {.node_count = node_count, .edge_count = edge_count}};
	set_edges(b, f, edges);
	set_lines(b, f, lines, line_count);
	err = cfg_check(&f->cfg);
	if (!err)
		err = path_number(&f->cfg, &b->meta.arena, &n);
	if (err)
		abort();
	f->path_count = n.path_count;
	return f;
}

struct pathmeta_function *build_paths_simple(struct path_builder *b, const char *name, uint32_t node_count,
					     const struct build_edge *edges, uint32_t edge_count, uint32_t base)
{
	struct build_line *lines = calloc(node_count, sizeof *lines);
	struct pathmeta_function *f;

	if (!lines)
		abort();
	for (uint32_t i = 0; i < node_count; i++)
		lines[i] = (struct build_line){i, {.file = "test.c", .line = base + i, .column = 1}};
	f = build_paths_function(b, name, node_count, edges, edge_count, lines, node_count);
	free(lines);
	return f;
}
