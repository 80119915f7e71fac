/*
 * prefix_below.c - the site of a push is in its node; the history behind it (waymark/abi.h) depends on the nodes below, and is kept.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/contexts/prefix_below.h"

enum {
	HISTORIES_MAX = 2,
};

struct error *prefix_below_init(struct prefix_below *b, const struct process *process)
{
	b->process = process;
	b->histories = calloc(wmk_node_places(process->wmk), sizeof *b->histories);
	return b->histories ? NULL : &error_no_memory;
}

void prefix_below_deinit(struct prefix_below *b)
{
	free(b->histories);
	b->histories = NULL;
}

static struct context_history *slot_of(const struct prefix_below *b, uint32_t prefix)
{
	size_t place;

	return wmk_node_place(b->process->wmk, prefix, &place) ? &b->histories[place] : NULL;
}

/* So that most of them are 0. */
static struct context_history masked(struct context_history history)
{
	return (struct context_history){history.began ^ context_history_none.began,
					history.now ^ context_history_none.now};
}

/* The push or the root that the prefix is, or that stands under a history; under one of a coroutine may be that of its creator. */
static struct error *find(const struct prefix_below *b, uint32_t prefix, struct context_below *ret)
{
	for (int histories = 0; prefix >= WM_PREFIX_FIRST; histories++) {
		struct wmk_node node;
		struct error *err = context_find_node(b->process, prefix, &node);

		if (err)
			return err;
		if (node.site != WM_SITE_HISTORY) {
			*ret = context_above(b->process, &(struct context_below){0}, &node);
			return NULL;
		}
		if (histories == HISTORIES_MAX)
			return error_create(ERROR_FORMAT, "damaged: prefix %" PRIu32 " stands under %d histories",
					    prefix, histories);
		prefix = node.parent;
	}
	*ret = context_on_root(prefix);
	return NULL;
}

struct error *prefix_below_get(const struct prefix_below *b, uint32_t prefix, struct context_below *ret)
{
	const struct context_history *history = slot_of(b, prefix);
	struct error *err = find(b, prefix, ret);

	if (!err && history)
		ret->history = masked(*history);
	return err;
}

void prefix_below_keep(struct prefix_below *b, uint32_t prefix, struct context_history history)
{
	struct context_history *slot = slot_of(b, prefix);

	history = masked(history);
	if (slot && (history.began || history.now))
		*slot = history;
}
