/*
 * tree_sums.h - the numbers of a tree of contexts, summed by what its frames have in common (a key: function, line, module ...).
 *
 *      self of a key:  the numbers of contexts whose innermost frame has it
 *      total of a key: the numbers of contexts in which some frame has it, each context once, however often the key is in it
 */
#ifndef WM_MODEL_TABLES_TREE_SUMS_H
#define WM_MODEL_TABLES_TREE_SUMS_H

#include "model/base/profile.h"

struct key_sums {
	uint64_t self;
	uint64_t total;
};

/* The tree by lists of children; 0 ends a list, since the root is nobody's child. */
struct tree_links {
	uint32_t *first_child;
	uint32_t *next_sibling;
};
struct error *tree_links_create(const struct tree_node *nodes, size_t count, struct tree_links *ret);
void tree_links_deinit(struct tree_links *links);

/* values: by node; each becomes the sum of the whole tree below and with it. */
void tree_add_up(const struct tree_node *nodes, size_t count, uint64_t *values);

/*
 * keys: by node, all below key_count; that of the root is not read. self_keys: by node, whose self its number is (NULL: keys). values: by
 * node, afterwards sums of the whole trees below the nodes. ret: key_count of them. Sums that do not fit stay at the largest number.
 */
struct error *tree_sums(const struct tree_node *nodes, size_t node_count, const uint32_t *keys,
			const uint32_t *self_keys, uint32_t key_count, uint64_t *values, struct key_sums *ret);

#endif
