/* label_sums.c - sums the nodes below each frame of a label, which is the outermost frame of its contexts, or the second below a thread. */
#include "model/tables/label_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

static int compare_sums(const void *left, const void *right)
{
	const struct label_sum *a = left, *b = right;

	return compare_u64(b->value, a->value) ?: strcmp(a->name, b->name);
}

/* The frame of the label that the node is below; NULL: none. Of its parent it is known already. */
static const char *label_of(const struct profile *p, uint32_t node, const char *const *labels)
{
	const struct frame *frame = &p->frames.items[p->nodes.items[node].frame];
	uint32_t parent = p->nodes.items[node].parent;
	size_t len = strlen(p->group_label);

	if (labels[parent])
		return labels[parent];
	return frame->flags & FRAME_ROOT && frame->name[0] == '[' &&
			       strncmp(frame->name + 1, p->group_label, len) == 0 && frame->name[1 + len] == '='
		       ? frame->name
		       : NULL;
}

static struct error *add(struct label_sums *s, const char *name, uint64_t value)
{
	struct label_sum *items;

	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].name == name) { /* frames keep one text for a name */
			s->items[i].value += value;
			return NULL;
		}
	}
	items = reallocarray(s->items, s->count + 1, sizeof *items);
	if (!items)
		return &error_no_memory;
	s->items = items;
	s->items[s->count++] = (struct label_sum){name, value};
	return NULL;
}

static double imbalance_of(const struct label_sums *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += (double)s->items[i].value;
	return sum > 0 ? (double)s->items[0].value * (double)s->count / sum : 0;
}

struct error *label_sums_create(const struct view *v, struct label_sums *ret)
{
	const struct profile *p = v->profile;
	const char **labels = calloc(p->nodes.count, sizeof *labels);
	struct label_sums s = {.items = NULL};
	uint64_t *values = NULL;
	struct error *err = labels ? view_node_values(v, &values) : &error_no_memory;

	for (uint32_t i = 1; i < p->nodes.count && !err; i++) {
		labels[i] = label_of(p, i, labels);
		if (labels[i])
			err = add(&s, labels[i], values[i]);
	}
	free(labels);
	free(values);
	if (err) {
		label_sums_deinit(&s);
		return err;
	}
	if (s.count)
		qsort(s.items, s.count, sizeof *s.items, compare_sums);
	s.imbalance = imbalance_of(&s);
	*ret = s;
	return NULL;
}

void label_sums_deinit(struct label_sums *s)
{
	free(s->items);
	*s = (struct label_sums){.items = NULL};
}
