/*
 * path_builder.h - builds metadata of paths by hand, for tests and fuzz seeds. Aborts when memory is short or the graph is
 * none.
 */
#ifndef WM_TESTS_PATH_BUILDER_H
#define WM_TESTS_PATH_BUILDER_H

#include "format/pathmeta.h"

enum {
	BUILD_PATH_FUNCTIONS_MAX = 64,
};

struct path_builder {
	struct pathmeta meta; /* one unit, for pathmeta_write */
	struct pathmeta_unit unit;
	struct pathmeta_function functions[BUILD_PATH_FUNCTIONS_MAX];
};

struct build_edge {
	uint32_t from, to;
	enum cfg_cut cut;
	struct pathmeta_outcome outcome;
};

struct build_line {
	uint32_t node;
	struct pathmeta_line line;
};

void build_paths_init(struct path_builder *b, const char *unit, enum pathmeta_stage stage);
void build_paths_deinit(struct path_builder *b);
/*
 * A function defined at test.c:10, 20, ... that is counted in an array, with keys made of its name and edges, and the right
 * path_count. edges by rising `from`, lines by rising node. Returns it, to be changed.
 */
struct pathmeta_function *build_paths_function(struct path_builder *b, const char *name, uint32_t node_count,
					       const struct build_edge *edges, uint32_t edge_count,
					       const struct build_line *lines, uint32_t line_count);
/* The same with one line a node, the function's own: base, base + 1 and so on. */
struct pathmeta_function *build_paths_simple(struct path_builder *b, const char *name, uint32_t node_count,
					     const struct build_edge *edges, uint32_t edge_count, uint32_t base);

#endif
