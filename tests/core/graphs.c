/*
 * graphs.c - generating random call graphs.
 */
#include "graphs.h"

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * bound) >> 64);
}

static uint64_t pick_weight(struct rng *r, enum graph_weights kind)
{
	switch (kind) {
	case GRAPH_WEIGHTS_EQUAL:
		return 17;
	case GRAPH_WEIGHTS_SMALL:
		return rng_below(r, 10);
	case GRAPH_WEIGHTS_SKEWED:
		return rng_next(r) >> rng_below(r, 64) >> 8;
	case GRAPH_WEIGHTS_HUGE:
		return UINT64_MAX - rng_below(r, 3);
	default:
		return 0;
	}
}

static uint32_t below32(struct rng *r, uint64_t bound)
{
	return (uint32_t)rng_below(r, bound);
}

/* Small numbers are likely: popular callees. */
static uint32_t skewed32(struct rng *r, uint32_t bound)
{
	return (uint32_t)(rng_below(r, bound) >> rng_below(r, 12));
}

static void pick_ends(struct rng *r, enum graph_shape shape, uint32_t nodes, uint32_t i, uint32_t *caller,
		      uint32_t *callee)
{
	uint32_t a = below32(r, nodes), b = below32(r, nodes), layers = 24, width;

	switch (shape) {
	case GRAPH_ACYCLIC:
		if (a == b)
			a = 0, b = nodes - 1;
		*caller = a < b ? a : b;
		*callee = a < b ? b : a;
		break;
	case GRAPH_LAYERED:
		width = nodes / layers + 1;
		b = a / width * width + width + skewed32(r, width); /* a popular function of the next layer */
		if (b >= nodes)
			b = a + 1 < nodes ? a + 1 : a;
		if (rng_below(r, 50) == 0)
			b = below32(r, nodes);
		/* most functions are reached by a call from a lower number, as after a search from main */
		*caller = i + 1 < nodes && i % 3 == 0 ? below32(r, (uint64_t)i + 1) : a;
		*callee = i + 1 < nodes && i % 3 == 0 ? i + 1 : b;
		break;
	case GRAPH_PARALLEL:
		*caller = a % 4 % nodes;
		*callee = rng_below(r, 4) ? b % 4 % nodes : *caller;
		break;
	case GRAPH_DIAMONDS:
		*caller = i / 2 % nodes;
		*callee = (*caller + 1) % nodes;
		if (*callee == 0)
			*callee = *caller;
		break;
	case GRAPH_RING:
		*caller = i < nodes ? i : a;
		*callee = i < nodes ? (i + 1) % nodes : b;
		break;
	case GRAPH_SPARSE:
		*caller = a;
		*callee = (a & ~7u) + (b & 7) < nodes ? (a & ~7u) + (b & 7) : a;
		break;
	default:
		*caller = a;
		*callee = b;
		break;
	}
}

struct error *graph_generate_weighted(struct rng *r, enum graph_shape shape, enum graph_weights weights,
				      uint32_t node_count, uint32_t edge_count, struct callgraph *g)
{
	uint32_t one_root_in = rng_below(r, 3) ? node_count : 1 + below32(r, 20);
	uint32_t caller, callee, ignored;
	struct error *err = NULL;

	for (uint32_t n = 0; n < node_count && !err; n++)
		err = callgraph_add_node(g, n == 0 || rng_below(r, one_root_in) == 0, &ignored);
	for (uint32_t i = 0; i < edge_count && !err; i++) {
		pick_ends(r, shape, node_count, i, &caller, &callee);
		err = callgraph_add_edge(g, caller, callee, i, pick_weight(r, weights), &ignored);
	}
	return err;
}

struct error *graph_generate(struct rng *r, enum graph_shape shape, uint32_t node_count, uint32_t edge_count,
			     struct callgraph *g)
{
	enum graph_weights weights = (enum graph_weights)rng_below(r, GRAPH_WEIGHTS_KINDS);

	return graph_generate_weighted(r, shape, weights, node_count, edge_count, g);
}
