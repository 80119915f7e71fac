/*
 * tree_sums.c - one walk over the tree, depth first: a node counts for the total of its key if no node above it has the key. Time and memory
 * are those of the nodes, however deep contexts are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "model/tables/tree_sums.h"

struct error *tree_links_create(const struct tree_node *nodes, size_t count, struct tree_links *ret)
{
	struct tree_links links = {.first_child = calloc(count, sizeof(uint32_t)),
				   .next_sibling = calloc(count, sizeof(uint32_t))};

	if (!links.first_child || !links.next_sibling) {
		tree_links_deinit(&links);
		return &error_no_memory;
	}
	for (size_t n = count; n-- > 1;) {
		links.next_sibling[n] = links.first_child[nodes[n].parent];
		links.first_child[nodes[n].parent] = (uint32_t)n;
	}
	*ret = links;
	return NULL;
}

void tree_links_deinit(struct tree_links *links)
{
	free(links->first_child);
	free(links->next_sibling);
	*links = (struct tree_links){0};
}

void tree_add_up(const struct tree_node *nodes, size_t count, uint64_t *values)
{
	for (size_t n = count; n-- > 1;)
		values[nodes[n].parent] = sum_limited(values[nodes[n].parent], values[n]);
}

/* values: of whole trees. active: by key, nodes on the way to where the walk is. */
static void walk(const struct tree_node *nodes, const struct tree_links *l, const uint32_t *keys,
		 const uint64_t *values, uint32_t *active, struct key_sums *ret)
{
	uint32_t n = l->first_child[0];

	while (n) {
		if (!active[keys[n]]++)
			ret[keys[n]].total = sum_limited(ret[keys[n]].total, values[n]);
		if (l->first_child[n]) {
			n = l->first_child[n];
			continue;
		}
		for (; n; n = nodes[n].parent) {
			active[keys[n]]--;
			if (l->next_sibling[n])
				break;
		}
		n = n ? l->next_sibling[n] : 0;
	}
}

struct error *tree_sums(const struct tree_node *nodes, size_t node_count, const uint32_t *keys,
			const uint32_t *self_keys, uint32_t key_count, uint64_t *values, struct key_sums *ret)
{
	uint32_t *active = calloc((size_t)key_count + 1, sizeof *active);
	struct tree_links links = {0};
	struct error *err = active ? tree_links_create(nodes, node_count, &links) : &error_no_memory;

	if (!err) {
		memset(ret, 0, key_count * sizeof *ret);
		for (size_t n = 1; n < node_count; n++) {
			uint64_t *self = &ret[self_keys ? self_keys[n] : keys[n]].self;

			*self = sum_limited(*self, values[n]);
		}
		tree_add_up(nodes, node_count, values);
		walk(nodes, &links, keys, values, active, ret);
	}
	tree_links_deinit(&links);
	free(active);
	return err;
}
