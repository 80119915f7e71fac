/*
 * trace_graph.h - test only: the blocks of a function as its paths see them, and where these are cut.
 *
 * It works out by itself where paths are cut; all that it has in common with Waymark is what a block's number means (reachable
 * blocks in the order of the code; a block goes on as another one after a call that returns twice, and ends with the first
 * call that does not return) and the rules of core/paths/cfg.h.
 */
#ifndef TRACE_GRAPH_H
#define TRACE_GRAPH_H

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <vector>

using namespace llvm;

namespace
{
enum Cut {
	KEPT,
	BACK,
	JUMP,
	TWICE
};

struct Edge {
	unsigned to;
	bool unwinds;
	Cut cut;
};

struct Node {
	BasicBlock *block;
	Instruction *begin; /* first one of a block that goes on after a call; else null */
	Instruction *end;   /* the path's end goes before it */
	bool returnsTwice = false;
	bool leaves = false;
	std::vector<Edge> edges;
	Node(BasicBlock *block, Instruction *begin, Instruction *end) : block(block), begin(begin), end(end)
	{
	}
};

bool returnsTwice(const CallBase &call)
{
	return call.hasFnAttr(Attribute::ReturnsTwice) || call.getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
}

/* A call that runs in place of the function's end. */
Instruction *tailCall(ReturnInst *ret)
{
	Instruction *i = ret->getPrevNode();
	while (i &&
	       (isa<BitCastInst>(i) || isa<DbgInfoIntrinsic>(i) || i->isLifetimeStartOrEnd() || isa<AssumeInst>(i)))
		i = i->getPrevNode();
	auto *call = dyn_cast_or_null<CallInst>(i);
	if (!call || call->getIntrinsicID() ||
	    !(call->isMustTailCall() || (call->isTailCall() && !call->isInlineAsm())))
		return nullptr;
	Value *value = ret->getReturnValue();
	return call->isMustTailCall() || !value || value == call || isa<UndefValue>(value) ? call : nullptr;
}

class Graph
{
	std::vector<Node> nodes;
	DenseMap<BasicBlock *, unsigned> first; /* node of a block's beginning */

	/* All segments of all blocks, edges by index into this list. */
	void collect(Function &function)
	{
		for (BasicBlock &block : function) {
			first[&block] = unsigned(nodes.size());
			nodes.push_back({&block, nullptr, block.getTerminator()});
			for (Instruction &i : block) {
				auto *call = dyn_cast<CallInst>(&i);
				if (!call)
					continue;
				if (call->hasFnAttr(Attribute::NoReturn)) {
					nodes.back().end = call;
					nodes.back().leaves = true;
					break;
				}
				if (!returnsTwice(*call))
					continue;
				nodes.back().end = call;
				nodes.back().returnsTwice = true;
				nodes.push_back({&block, call->getNextNode(), block.getTerminator()});
			}
		}
	}

	void addEdges(unsigned n)
	{
		Node &node = nodes[n];
		if (node.leaves)
			return;
		if (node.returnsTwice) {
			node.edges.push_back({n + 1, false, TWICE});
			return;
		}
		Instruction *terminator = node.block->getTerminator();
		if (auto *ret = dyn_cast<ReturnInst>(terminator))
			if (Instruction *call = tailCall(ret))
				node.end = call;
		auto *invoke = dyn_cast<InvokeInst>(terminator);
		bool jumps = isa<IndirectBrInst>(terminator) || isa<CallBrInst>(terminator);
		for (unsigned s = invoke && invoke->hasFnAttr(Attribute::NoReturn); s < terminator->getNumSuccessors();
		     s++) {
			unsigned to = first[terminator->getSuccessor(s)];
			bool known = false;
			for (Edge &e : node.edges)
				known |= e.to == to;
			if (!known)
				node.edges.push_back({to, invoke && s == 1, jumps ? JUMP : KEPT});
		}
	}

	void dropUnreachable()
	{
		std::vector<bool> seen(nodes.size());
		std::vector<unsigned> work{0};
		seen[0] = true;
		while (!work.empty()) {
			unsigned n = work.back();
			work.pop_back();
			for (Edge &e : nodes[n].edges)
				if (!seen[e.to]) {
					seen[e.to] = true;
					work.push_back(e.to);
				}
		}
		std::vector<unsigned> number(nodes.size());
		std::vector<Node> kept;
		for (unsigned n = 0; n < nodes.size(); n++)
			if (seen[n]) {
				number[n] = unsigned(kept.size());
				kept.push_back(nodes[n]);
			}
		for (Node &node : kept)
			for (Edge &e : node.edges)
				e.to = number[e.to];
		nodes = kept;
	}

	/* Edges of a depth-first search that lead to a node on its way; other cuts are not followed, but begun from later. */
	void cutFrom(unsigned start, std::vector<int> &state, std::vector<unsigned> &later)
	{
		enum {
			ON_WAY = 1,
			DONE
		};
		std::vector<std::pair<unsigned, size_t>> way{{start, 0}};
		state[start] = ON_WAY;
		while (!way.empty()) {
			unsigned n = way.back().first;
			size_t i = way.back().second++;
			if (i == nodes[n].edges.size()) {
				state[n] = DONE;
				way.pop_back();
				continue;
			}
			Edge &e = nodes[n].edges[i];
			if (e.cut != KEPT) {
				later.push_back(e.to);
			} else if (state[e.to] == ON_WAY && e.unwinds) {
				for (Edge &other : nodes[n].edges)
					other.cut = JUMP;
			} else if (state[e.to] == ON_WAY) {
				e.cut = BACK;
			} else if (!state[e.to]) {
				state[e.to] = ON_WAY;
				way.push_back({e.to, 0});
			}
		}
	}

	void cut()
	{
		std::vector<int> state(nodes.size());
		std::vector<unsigned> later{0};
		for (size_t i = 0; i < later.size(); i++)
			if (!state[later[i]])
				cutFrom(later[i], state, later);
	}

public:
	explicit Graph(Function &function)
	{
		collect(function);
		for (unsigned n = 0; n < nodes.size(); n++)
			addEdges(n);
		dropUnreachable();
		cut();
	}
	std::vector<Node> &all()
	{
		return nodes;
	}

	/* Where code goes that is to run first in the node. */
	Instruction *firstOf(unsigned n)
	{
		BasicBlock &block = *nodes[n].block;
		if (nodes[n].begin)
			return nodes[n].begin;
		return block.isEntryBlock() ? &*block.getFirstNonPHIOrDbgOrAlloca() : &*block.getFirstInsertionPt();
	}
};
} // namespace

#endif
