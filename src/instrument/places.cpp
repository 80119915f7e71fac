/*
 * places.cpp - finds the blocks in which a value is loaded, so that loads run as seldom as they can.
 *
 * A load serves what its block dominates. So each subtree of the dominator tree has, from the leaves up, a cheapest choice: one load in its
 * root, or the cheapest choices of the subtrees below. Where both cost the same, the lower one: what does not come there needs no register.
 */
#include "instrument/places.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

using namespace llvm;

namespace
{
/* Of a subtree. */
struct choice {
	bool is_needed = false;
	bool is_here = false; /* loaded in the root */
	double cost = 0;
	const Loop *around = nullptr; /* the smallest loop that has all blocks that need the value; null: none has */
};

struct places {
	const struct host *host;
	DominatorTree tree;
	LoopInfo loops;
	DenseMap<const DomTreeNode *, choice> choices;
	DenseMap<const BasicBlock *, bool> needs;
	explicit places(const struct host *host_, Function &function) : host(host_), tree(function), loops(tree)
	{
	}
};
} // namespace

static const Loop *common(const Loop *a, const Loop *b)
{
	while (a && !(b && a->contains(b)))
		a = a->getParentLoop();
	return a;
}

static void add_need(choice &to, const Loop *around)
{
	to.around = to.is_needed ? common(to.around, around) : around;
	to.is_needed = true;
}

/* A loop that has this block and not all that need the value may change what is loaded, round by round. */
static bool may_be_here(const places &p, BasicBlock *block, const choice &c)
{
	const Loop *loop = p.loops.getLoopFor(block);
	return !loop || (c.around && loop->contains(c.around));
}

static void choose(places &p, const DomTreeNode *node)
{
	BasicBlock *block = node->getBlock();
	choice c;
	for (const DomTreeNode *child : node->children()) {
		const choice &below = p.choices[child];
		if (!below.is_needed)
			continue;
		add_need(c, below.around);
		c.cost += below.cost;
	}
	const bool is_own = p.needs.contains(block);
	if (is_own)
		add_need(c, p.loops.getLoopFor(block));
	if (c.is_needed) {
		const double here = p.host->block_frequency(p.host->state, wrap(block));
		const bool may_be = may_be_here(p, block, c);
		c.is_here = may_be && (is_own || here < c.cost);
		if (c.is_here)
			c.cost = here;
		else if (is_own) /* loads for itself alone */
			c.cost += here;
	}
	p.choices[node] = c;
}

/* The highest one of those that are chosen above it. */
static BasicBlock *place_of(places &p, BasicBlock *block)
{
	BasicBlock *found = block;
	for (const DomTreeNode *node = p.tree.getNode(block); node; node = node->getIDom())
		if (p.choices[node].is_here)
			found = node->getBlock();
	return found;
}

void load_places(const struct host *host, LLVMValueRef ref, const LLVMBasicBlockRef *blocks, unsigned count,
		 LLVMBasicBlockRef *ret)
{
	places p(host, *unwrap<Function>(ref));
	for (unsigned i = 0; i < count; i++)
		p.needs[unwrap(blocks[i])] = true;
	for (const DomTreeNode *node : post_order(p.tree.getRootNode()))
		choose(p, node);
	for (unsigned i = 0; i < count; i++)
		ret[i] = wrap(place_of(p, unwrap(blocks[i])));
}
