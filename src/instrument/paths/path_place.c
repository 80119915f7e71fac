/* path_place.c - where code goes that belongs to an edge: at the end of its source, at the start of its target, or in a block of its own. */
#include "instrument/paths/path.h"

static bool has_one_successor(LLVMValueRef terminator)
{
	unsigned count = LLVMGetNumSuccessors(terminator);
	for (unsigned s = 1; s < count; s++)
		if (LLVMGetSuccessor(terminator, s) != LLVMGetSuccessor(terminator, 0))
			return false;
	return count != 0;
}

/* Control comes to the block only from this terminator. */
static bool comes_only_from(LLVMBasicBlockRef block, LLVMValueRef terminator)
{
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsAInstruction(user) && user != terminator)
			return false;
	}
	return true;
}

LLVMValueRef path_place_on_edge(struct path_graph *g, uint32_t edge)
{
	const struct cfg_edge *c = &g->cfg.edges[edge];
	LLVMValueRef terminator = g->nodes[c->from].terminator;
	LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, g->successors[edge]);
	if (to != g->nodes[c->to].block) /* has its block already */
		return LLVMGetBasicBlockTerminator(to);
	if (has_one_successor(terminator))
		return terminator;
	if (comes_only_from(to, terminator))
		return g->m->host->first_insertion(to);
	if (c->is_fixed)
		return terminator;
	return LLVMGetBasicBlockTerminator(g->m->host->split_edge(terminator, g->successors[edge]));
}
