/* branch_coverage.c - what of a function's graph is a branch of the source, and its order. */
#include <string.h>

#include "base/hash.h"
#include "base/order.h"
#include "model/paths/branch_coverage.h"

int branch_compare(const struct branch_way *x, const struct branch_way *y)
{
	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?: compare_u64(x->group, y->group) ?:
	       compare_u64(x->cfg_key, y->cfg_key) ?: compare_u64(x->node, y->node);
}

int branch_way_compare(const struct branch_way *x, const struct branch_way *y)
{
	return branch_compare(x, y) ?: compare_u64(x->index, y->index);
}

/* That of the last code in the block. */
const struct pathmeta_line *branch_line(const struct pathmeta_function *m, uint32_t node)
{
	if (m->cfg.first_edge[node + 1] - m->cfg.first_edge[node] < 2)
		return NULL;
	for (uint32_t i = m->first_line[node + 1]; i-- > m->first_line[node];)
		if (m->lines[i].file && m->lines[i].line && !m->lines[i].is_branch_only)
			return &m->lines[i];
	return NULL;
}

bool branch_has_way(const struct pathmeta_function *m, uint32_t edge)
{
	enum pathmeta_outcome_kind kind = m->outcomes[edge].kind;

	return kind == PATHMETA_TRUE || kind == PATHMETA_FALSE || kind == PATHMETA_CASE || kind == PATHMETA_CASES ||
	       kind == PATHMETA_DEFAULT;
}

uint64_t branch_group(const struct pathmeta_function *m)
{
	if (!m->file || !m->line)
		return hash_bytes(m->name_key, m->link_name, strlen(m->link_name));
	return hash_bytes(hash_bytes(HASH_START, m->file, strlen(m->file)), &m->line, sizeof m->line);
}
