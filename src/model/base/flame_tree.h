/*
 * flame_tree.h - contexts of a view merged by function name: the boxes of a flame graph.
 */
#ifndef WM_MODEL_CONTEXTS_FLAME_TREE_H
#define WM_MODEL_CONTEXTS_FLAME_TREE_H

#include "model/base/profile_view.h"

struct flame_box {
	const char *name;
	uint32_t flags; /* of its first frame: FRAME_FOREIGN and so on */
	uint32_t depth; /* of the root 0 */
	uint32_t parent;
	uint32_t first_child; /* 0: none */
	uint32_t next_sibling;
	uint64_t total;           /* of the metric, children included */
	uint64_t before, after;   /* of a view that has a change, the same of the two metrics */
	double x;                 /* left edge, as a part of the whole width */
	const char *file, *image; /* of its frames; NULL: not known, or several */
	uint32_t line;            /* in the file; 0: not known, or several */
};

struct flame {
	struct flame_box *boxes; /* boxes[0] is the root, "all"; a parent comes before its children */
	uint32_t count;
	uint32_t deepest;
};

/* Children are placed by falling total, then by name. */
struct error *flame_create(const struct view *v, struct flame *ret);
void flame_deinit(struct flame *f);

#endif
