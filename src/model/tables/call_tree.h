/*
 * call_tree.h - the contexts of a view as a tree of functions, merged by name: down from where they begin, or up from their ends.
 *
 *      contexts   main;a;f 3   main;b;f 4        down   main 7           up   f 7
 *                                                         a 3 - f 3              a 3 - main 3
 *                                                         b 4 - f 4              b 4 - main 4
 *
 * A tree of chosen functions begins at the outermost frame of one of them in each context: a recursive function is in no tree twice, and
 * the total of the first level is the function's total.
 */
#ifndef WM_MODEL_TABLES_CALL_TREE_H
#define WM_MODEL_TABLES_CALL_TREE_H

#include "model/base/pattern.h"
#include "model/base/profile_view.h"

enum {
	TREE_LEVELS_MAX = 500,
};

struct call_tree_options {
	bool is_up;
	const struct pattern_vec *functions; /* where it begins; empty: at the ends of contexts */
	double min;                          /* percent of the metric's total that a function of the tree must have */
};

struct call_tree_node {
	const struct frame *frame; /* an example; NULL: the root, which is no function */
	uint64_t total;
	uint64_t self; /* of contexts that end here: down at their innermost frame, up at their outermost one */
	uint32_t parent;
	uint32_t depth;        /* of the root 0 */
	uint32_t first_child;  /* 0: none */
	uint32_t next_sibling; /* by falling total, then by name */
};
VEC_DECLARE(call_tree_vec, struct call_tree_node);

struct call_tree {
	struct call_tree_options options;
	struct call_tree_vec nodes; /* items[0] is the root; parents come before their children */
	uint64_t left_out;          /* nodes that had too little */
	bool is_cut;                /* at TREE_LEVELS_MAX */
	bool skips_allocators;      /* contexts end at callers of malloc and its like */
};

/* Of a view whose metric adds up. ERROR_NOT_FOUND: there are functions to begin at, and no context has one. */
struct error *call_tree_create(const struct view *v, const struct call_tree_options *options, struct call_tree *ret);
void call_tree_deinit(struct call_tree *t);

#endif
