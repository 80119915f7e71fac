/*
 * call_tree.c - builds the tree level by level. A function of the tree stands for places in contexts (items: a node of the profile, and how
 * much of the metric comes through it); the next level is what these call, or are called by, in groups of one function. Groups that have
 * too little end there, so the tree is as large as what is shown of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sum.h"
#include "model/tables/call_tree.h"
#include "model/tables/frame_keys.h"
#include "model/tables/tree_sums.h"

struct item {
	uint32_t node;
	uint32_t key;
	uint64_t value;
};
VEC_DECLARE(item_vec, struct item);

/* The items of a function of the tree. */
struct branch {
	uint32_t tree_node;
	size_t first, count;
	uint64_t total;
	const struct frame *frame;
};
VEC_DECLARE(branch_vec, struct branch);

struct builder {
	const struct view *v;
	const struct call_tree_options *options;
	struct frame_keys keys;
	struct tree_links links;
	uint64_t *own;   /* by node: of contexts that end there */
	uint64_t *whole; /* and of all that begin with it */
	double least;
	struct item_vec items, next_items;
	struct branch_vec branches, next_branches;
	struct call_tree *t;
};

static const struct tree_node *node_at(const struct builder *b, uint32_t node)
{
	return &b->v->profile->nodes.items[node];
}

static struct error *add_item(struct builder *b, uint32_t node, uint64_t value)
{
	return value ? item_vec_append(&b->next_items, (struct item){node, b->keys.of_nodes[node], value}) : NULL;
}

/* Where each context ends, or those below the root. */
static struct error *start_at_ends(struct builder *b)
{
	struct error *err = NULL;

	for (uint32_t n = 1; n < b->v->profile->nodes.count && !err; n++) {
		if (b->options->is_up)
			err = add_item(b, n, b->own[n]);
		else if (!node_at(b, n)->parent)
			err = add_item(b, n, b->whole[n]);
	}
	return err;
}

static bool *match_frames(const struct profile *p, const struct pattern_vec *functions)
{
	bool *matches = calloc(p->frames.count + 1, sizeof *matches);

	for (size_t i = 0; matches && i < p->frames.count; i++)
		matches[i] = patterns_match(functions, p->frames.items[i].name) ||
			     patterns_match(functions, p->frames.items[i].link_name);
	return matches;
}

static struct error *start_at_functions(struct builder *b)
{
	const struct profile *p = b->v->profile;
	bool *matches = match_frames(p, b->options->functions);
	bool *is_inside = calloc(p->nodes.count, sizeof *is_inside); /* of a function that was chosen */
	struct error *err = matches && is_inside ? NULL : &error_no_memory;

	for (uint32_t n = 1; n < p->nodes.count && !err; n++) {
		bool is_start = matches[node_at(b, n)->frame] && !is_inside[node_at(b, n)->parent];

		is_inside[n] = is_start || is_inside[node_at(b, n)->parent];
		if (is_start)
			err = add_item(b, n, b->whole[n]);
	}
	free(matches);
	free(is_inside);
	if (!err && !b->next_items.count)
		err = error_create(ERROR_NOT_FOUND, "%s: no context has a function of this name",
				   b->options->functions->items[0].text);
	return err;
}

/* The places after those of a branch, to the end of next_items; what has none after it is the function's self. */
static struct error *follow(struct builder *b, const struct branch *branch)
{
	struct call_tree_node *of = &b->t->nodes.items[branch->tree_node];
	struct error *err = NULL;

	for (size_t i = branch->first; i < branch->first + branch->count && !err; i++) {
		const struct item *item = &b->items.items[i];
		uint32_t parent = node_at(b, item->node)->parent;

		if (!b->options->is_up) {
			of->self = sum_limited(of->self, b->own[item->node]);
			for (uint32_t n = b->links.first_child[item->node]; n && !err; n = b->links.next_sibling[n])
				err = add_item(b, n, b->whole[n]);
		} else if (parent) {
			err = add_item(b, parent, item->value);
		} else {
			of->self = sum_limited(of->self, item->value);
		}
	}
	return err;
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return compare_u64(a->key, b->key) ?: compare_u64(a->node, b->node);
}

static int compare_branches(const void *left, const void *right)
{
	const struct branch *a = left, *b = right;

	return compare_u64(b->total, a->total) ?: strcmp(a->frame->name, b->frame->name);
}

/* Items of one place from `first` on become one; they are sorted. */
static void join_items(struct item_vec *items, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < items->count; i++) {
		struct item *last = kept > first ? &items->items[kept - 1] : NULL;

		if (last && last->node == items->items[i].node)
			last->value = sum_limited(last->value, items->items[i].value);
		else
			items->items[kept++] = items->items[i];
	}
	items->count = kept;
}

/* Groups by function of the items from `first` on, as branches; those with enough. */
static struct error *group(struct builder *b, size_t first)
{
	struct item_vec *items = &b->next_items;
	struct error *err = NULL;

	if (items->count > first)
		qsort(items->items + first, items->count - first, sizeof *items->items, compare_items);
	join_items(items, first);
	for (size_t i = first; i < items->count && !err;) {
		uint32_t key = items->items[i].key;
		struct branch branch = {.first = i, .frame = &b->v->profile->frames.items[b->keys.examples[key]]};

		for (; i < items->count && items->items[i].key == key; i++)
			branch.total = sum_limited(branch.total, items->items[i].value);
		branch.count = i - branch.first;
		if ((double)branch.total < b->least)
			b->t->left_out++;
		else
			err = branch_vec_append(&b->next_branches, branch);
	}
	return err;
}

/* Branches from `first` on become children of a node of the tree. */
static struct error *add_children(struct builder *b, uint32_t parent, size_t first)
{
	struct call_tree_vec *nodes = &b->t->nodes;
	struct branch *branches = b->next_branches.items;
	size_t count = b->next_branches.count;
	struct error *err = NULL;

	if (count == first)
		return NULL;
	qsort(branches + first, count - first, sizeof *branches, compare_branches);
	nodes->items[parent].first_child = (uint32_t)nodes->count;
	for (size_t i = first; i < count && !err; i++) {
		branches[i].tree_node = (uint32_t)nodes->count;
		err = call_tree_vec_append(nodes,
					   (struct call_tree_node){
						   .frame = branches[i].frame,
						   .total = branches[i].total,
						   .parent = parent,
						   .depth = nodes->items[parent].depth + 1,
						   .next_sibling = i + 1 < count ? (uint32_t)nodes->count + 1 : 0,
					   });
	}
	return err;
}

/* What was next is the level now. */
static void begin_level(struct builder *b)
{
	struct item_vec items = b->items;
	struct branch_vec branches = b->branches;

	b->items = b->next_items;
	b->branches = b->next_branches;
	b->next_items = items;
	b->next_branches = branches;
	b->next_items.count = b->next_branches.count = 0;
}

static struct error *add_level(struct builder *b)
{
	struct error *err = NULL;

	begin_level(b);
	for (size_t i = 0; i < b->branches.count && !err; i++) {
		size_t first_item = b->next_items.count, first_branch = b->next_branches.count;
		const struct branch *branch = &b->branches.items[i];

		err = follow(b, branch) ?: group(b, first_item);
		if (!err && b->t->nodes.items[branch->tree_node].depth < TREE_LEVELS_MAX)
			err = add_children(b, branch->tree_node, first_branch);
	}
	return err;
}

static struct error *build(struct builder *b)
{
	struct error *err = b->options->functions->count ? start_at_functions(b) : start_at_ends(b);

	for (size_t i = 0; i < b->next_items.count; i++)
		b->t->nodes.items[0].total = sum_limited(b->t->nodes.items[0].total, b->next_items.items[i].value);
	err = err ?: group(b, 0) ?: add_children(b, 0, 0);
	for (int level = 0; level < TREE_LEVELS_MAX && b->next_branches.count && !err; level++)
		err = add_level(b);
	b->t->is_cut = b->next_branches.count > 0;
	return err;
}

/* Numbers of functions that allocate go to their callers. */
static struct error *skip_allocators(struct builder *b)
{
	uint32_t *owners;
	struct error *err = frame_keys_allocators(b->v->profile, &owners);

	if (err)
		return err;
	for (size_t n = b->v->profile->nodes.count; n-- > 1;) {
		uint64_t value = b->own[n];

		if (owners[n] == n)
			continue;
		b->own[n] = 0;
		b->own[owners[n]] = sum_limited(b->own[owners[n]], value);
	}
	free(owners);
	return NULL;
}

static struct error *prepare(struct builder *b)
{
	const struct profile *p = b->v->profile;
	const struct metric *m = &p->metrics.items[b->v->metric];
	size_t bytes = p->nodes.count * sizeof *b->whole;
	struct error *err = call_tree_vec_append(&b->t->nodes, (struct call_tree_node){0});

	err = err ?: frame_keys_create(p, KEY_FUNCTION, &b->keys)
		  ?: tree_links_create(p->nodes.items, p->nodes.count, &b->links)
		  ?: view_node_values(b->v, &b->own);
	b->least = b->options->min * (double)m->total / 100;
	b->t->skips_allocators = m->is_of_heap && !b->options->functions->count;
	if (!err && b->t->skips_allocators)
		err = skip_allocators(b);
	if (err)
		return err;
	b->whole = malloc(bytes);
	if (!b->whole)
		return &error_no_memory;
	memcpy(b->whole, b->own, bytes);
	tree_add_up(p->nodes.items, p->nodes.count, b->whole);
	return NULL;
}

struct error *call_tree_create(const struct view *v, const struct call_tree_options *options, struct call_tree *ret)
{
	struct call_tree t = {.options = *options};
	struct builder b = {.v = v, .options = options, .t = &t};
	struct error *err = prepare(&b) ?: build(&b);

	frame_keys_deinit(&b.keys);
	tree_links_deinit(&b.links);
	free(b.own);
	free(b.whole);
	item_vec_deinit(&b.items);
	item_vec_deinit(&b.next_items);
	branch_vec_deinit(&b.branches);
	branch_vec_deinit(&b.next_branches);
	if (err)
		call_tree_deinit(&t);
	else
		*ret = t;
	return err;
}

void call_tree_deinit(struct call_tree *t)
{
	call_tree_vec_deinit(&t->nodes);
}
