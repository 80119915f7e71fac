/*
 * ppp_sets.h - what ppp.c and ppp_sets.c share: the trie of prefixes, and the weights of links. Internal to src/core.
 */
#ifndef WM_CORE_PATHS_PPP_SETS_H
#define WM_CORE_PATHS_PPP_SETS_H

#include "base/vec.h"
#include "core/paths/ppp_order.h"

enum {
	PPP_ROOT = 0, /* the empty prefix, at the imaginary node */
};

/* One prefix: the one of its parent and one more link. Links are edges, then starts. */
struct ppp_prefix {
	uint32_t parent;
	uint32_t link;
	int64_t low; /* smallest partial sum of an interesting path from here on */
	int64_t end; /* largest + 1; 0 while no edge out of here has a weight (the figure's cis) */
};

VEC_DECLARE(ppp_prefixes, struct ppp_prefix);

struct ppp_key {
	uint32_t link;
	uint32_t prefixes;
	uint64_t width;
};

struct ppp_builder {
	const struct cfg *g;
	const struct path_numbering *n;
	struct ppp_prefixes trie;
	/* by link, in compressed rows: the prefixes that end with it */
	uint32_t *first; /* [link_count + 1] */
	uint32_t *ending;
	uint32_t link_count;
	uint32_t *order;      /* nodes */
	int64_t *weights;     /* of links */
	struct ppp_key *keys; /* room for the links out of any node */
	struct ppp_key *best_keys;
	uint64_t *numbers; /* the interesting ones, rising */
	uint32_t count;
};

/* The links from first to end - 1 that an interesting path takes, in p->keys; returns how many. */
uint32_t ppp_collect_links(struct ppp_builder *p, uint32_t first, uint32_t end);
void ppp_sort_keys(struct ppp_builder *p, uint32_t count, enum ppp_order order);

/*
 * Weighs all links as ppp_sets.c says. *is_done is false when that would take too long: weights and intervals are then of no
 * use. order is one up to PPP_FEW_FIRST.
 */
struct error *ppp_sum_sets(struct ppp_builder *p, enum ppp_order order, bool *is_done);

#endif
