/*
 * fuzz_lucce.c - the log of a Lucce call graph: every event that is not refused, then decoding of contexts that the events name and of
 * small ones in every version. A context that decodes is a chain of calls from the root to its function.
 */
#include <stdlib.h>
#include <string.h>

#include "core/contexts/lucce_history.h"
#include "fuzz/fuzz.h"

_Static_assert(sizeof(struct lucce_event) == 24, "seeds are events");

enum {
	EVENTS_MAX = 256,
	CALLS_MAX = 100,
	NODES_MAX = 4, /* whose contexts are tried in every version */
};

static void check_decode(const struct lucce_history *h, uint32_t node, struct lucce_id id)
{
	struct callgraph_edges edges = {0};
	struct error *err = lucce_decode(h, node, id, CALLS_MAX, &edges);
	uint32_t at = LUCCE_ROOT;

	if (err && edges.count)
		abort();
	for (size_t i = 0; i < edges.count; i++) {
		if (h->edges.items[edges.items[i]].caller != at)
			abort();
		at = h->edges.items[edges.items[i]].callee;
	}
	if (!err && at != node)
		abort();
	error_destroy(err);
	callgraph_edges_deinit(&edges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size / sizeof(struct lucce_event);
	struct lucce_event events[EVENTS_MAX];
	struct lucce_history h;
	struct error *err;

	if (count > EVENTS_MAX)
		count = EVENTS_MAX;
	if (count)
		memcpy(events, data, count * sizeof(*events));
	err = lucce_history_init(&h, NULL, 0);
	for (size_t i = 0; i < count && !err; i++)
		error_destroy(lucce_history_add(&h, &events[i]));
	for (size_t i = 0; i < count && !err; i++)
		check_decode(&h, events[i].index, (struct lucce_id){events[i].number, events[i].version});
	for (uint64_t v = 0; v <= h.version && !err; v++)
		for (uint32_t n = 0; n < NODES_MAX; n++)
			for (uint64_t number = 0; number < 2; number++)
				check_decode(&h, n, (struct lucce_id){number, v});
	error_destroy(err);
	lucce_history_deinit(&h);
	return 0;
}
