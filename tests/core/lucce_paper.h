/*
 * lucce_paper.h - Lucce to the letter of its paper (section 5): Algorithm 1 and De over a full copy of every version. An oracle for small
 * programs.
 *
 * Numbers are the paper's; the version that an entry gets is the current one, behind all changes of that entry. Where a function calls
 * itself directly, Theorem 1 does not hold for it. Uses nothing of src/core.
 */
#ifndef WM_TESTS_CORE_LUCCE_PAPER_H
#define WM_TESTS_CORE_LUCCE_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PAPER_NODES = 32, /* 0 is the root */
	PAPER_EDGES = 128,
	PAPER_CALLS = 256, /* of a decoded context */
};

/* One version of G. */
struct paper_graph {
	uint32_t edge_count;
	uint64_t count[PAPER_NODES]; /* numCC */
	uint64_t entered[PAPER_NODES];
};

struct paper {
	struct {
		uint8_t caller, callee;
		uint32_t site;
	} edges[PAPER_EDGES];       /* in the order in which they came */
	struct paper_graph *graphs; /* by version */
	size_t version;
	size_t capacity;
	bool is_outgrown; /* a numCC did not fit into 63 bits: nothing holds any more */
};

struct paper_id {
	uint64_t number, version;
};

void paper_init(struct paper *p);
void paper_deinit(struct paper *p);
/* Update(<caller, callee, site>, id). */
struct paper_id paper_update(struct paper *p, uint8_t caller, uint8_t callee, uint32_t site, struct paper_id id);
/* De(node, id): edges outermost first. False when it does not come to the root. */
bool paper_decode(const struct paper *p, uint8_t node, struct paper_id id, uint32_t edges[PAPER_CALLS],
		  uint32_t *ret_count);

#endif
