/* ran.c - numbers a function's blocks as its recording did, checks that they are those, and takes what is known of nodes to blocks (ran.h). */
#include "analyze/ran.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "llvm/ir.h"

/* ---- what the instrumenter does to blocks ---- */

static bool call_has(LLVMValueRef call, const char *attribute)
{
	unsigned kind = ir_attribute_kind(attribute);
	LLVMValueRef callee = LLVMGetCalledValue(call);

	if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind))
		return true;
	return LLVMIsAFunction(callee) && ir_has_attribute(callee, kind);
}

static bool is_intrinsic(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
}

static bool is_debug(const struct code_instruction *x)
{
	LLVMValueRef callee = x->opcode == LLVMCall ? LLVMGetCalledValue(x->value) : NULL;

	return callee && LLVMIsAFunction(callee) && text_begins(LLVMGetValueName(callee), "llvm.dbg.");
}

/* __builtin_setjmp is an intrinsic without the attribute. */
static bool ends_part(const struct code_instruction *x)
{
	LLVMValueRef callee;

	if (x->opcode != LLVMCall)
		return false;
	if (call_has(x->value, "returns_twice"))
		return true;
	callee = LLVMGetCalledValue(x->value);
	return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) == ir_intrinsic_kind("llvm.eh.sjlj.setjmp");
}

static bool never_returns(const struct code_instruction *x)
{
	return x->opcode == LLVMCall && call_has(x->value, "noreturn");
}

static const struct code_block *block_at(const struct ran_nodes *n, uint32_t block)
{
	return &n->code->blocks[n->code->functions[n->function].first_block + block];
}

static const struct code_instruction *last_of(const struct ran_nodes *n, uint32_t block)
{
	const struct code_block *b = block_at(n, block);

	return &n->code->instructions[b->first_instruction + b->instruction_count - 1];
}

/* The return of a block in which nothing else happens. */
static LLVMValueRef only_return(const struct ran_nodes *n, uint32_t block)
{
	const struct code_block *b = block_at(n, block);

	for (uint32_t i = b->first_instruction; i < b->first_instruction + b->instruction_count; i++) {
		const struct code_instruction *x = &n->code->instructions[i];

		if (x->opcode != LLVMPHI && !is_debug(x))
			return x->opcode == LLVMRet ? x->value : NULL;
	}
	return NULL;
}

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == from)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

/* Ends in a tail call and a jump to a block that returns what was called returns. */
static bool returns_by_tail_call(const struct ran_nodes *n, uint32_t block)
{
	const struct code_block *b = block_at(n, block);
	uint32_t first_block = n->code->functions[n->function].first_block, to;
	const struct code_instruction *call = NULL;
	LLVMValueRef ret, value;

	if (b->successor_count != 1 || last_of(n, block)->opcode != LLVMBr)
		return false;
	for (uint32_t i = b->instruction_count - 1; i-- > 0 && !call;)
		if (!is_debug(&n->code->instructions[b->first_instruction + i]))
			call = &n->code->instructions[b->first_instruction + i];
	if (!call || call->opcode != LLVMCall || !LLVMIsTailCall(call->value) || is_intrinsic(call->value))
		return false;
	to = n->code->successors[b->first_successor] - first_block;
	ret = to ? only_return(n, to) : NULL;
	if (!ret)
		return false;
	value = LLVMGetNumOperands(ret) ? LLVMGetOperand(ret, 0) : NULL;
	if (value && LLVMIsAPHINode(value) && LLVMGetInstructionParent(value) == block_at(n, to)->value)
		value = incoming(value, b->value);
	return !value || value == call->value || LLVMIsUndef(value) || LLVMIsPoison(value);
}

static bool is_landing(const struct ran_nodes *n, uint32_t block)
{
	const struct code_block *b = block_at(n, block);
	uint32_t first_block = n->code->functions[n->function].first_block;
	bool jumps = false, has_others = false;

	for (uint32_t i = b->first_predecessor; i < b->first_predecessor + b->predecessor_count; i++) {
		bool is_jump = last_of(n, n->code->predecessors[i] - first_block)->opcode == LLVMIndirectBr;

		jumps |= is_jump;
		has_others |= !is_jump;
	}
	return jumps && has_others;
}

/* How many parts of a block control can come to; *ret_goes_on: and come behind. */
static uint32_t count_parts(const struct ran_nodes *n, uint32_t block, bool *ret_goes_on)
{
	const struct code_block *b = block_at(n, block);
	uint32_t parts = 1;

	*ret_goes_on = !n->returns[block];
	for (uint32_t i = b->first_instruction; i < b->first_instruction + b->instruction_count; i++) {
		if (never_returns(&n->code->instructions[i])) {
			*ret_goes_on = false;
			break;
		}
		parts += ends_part(&n->code->instructions[i]);
	}
	return parts;
}

/* Successors that a path can take: one that is invoked and does not return can only throw. */
static uint32_t first_way(const struct ran_nodes *n, uint32_t block)
{
	const struct code_instruction *last = last_of(n, block);

	return last->opcode == LLVMInvoke && call_has(last->value, "noreturn");
}

/* ---- numbers ---- */

static struct error *reach(struct ran_nodes *n, struct arena *arena)
{
	const struct code_function *f = &n->code->functions[n->function];
	uint32_t *work = arena_calloc(arena, (size_t)f->block_count + 1, sizeof *work), waiting = 1;

	if (!work)
		return &error_no_memory;
	n->first[0] = 0;
	while (waiting) {
		uint32_t at = work[--waiting];
		bool goes_on;

		n->parts[at] = count_parts(n, at, &goes_on);
		for (uint32_t s = first_way(n, at); goes_on && s < block_at(n, at)->successor_count; s++) {
			uint32_t to = n->code->successors[block_at(n, at)->first_successor + s] - f->first_block;

			if (n->first[to] != CODE_NONE)
				continue;
			n->first[to] = 0;
			work[waiting++] = to;
		}
	}
	return NULL;
}

static struct error *number(struct ran_nodes *n, bool has_landings, struct arena *arena)
{
	const struct code_function *f = &n->code->functions[n->function];
	size_t count = (size_t)f->block_count + 1;
	struct error *err;

	n->first = arena_calloc(arena, count, sizeof *n->first);
	n->parts = arena_calloc(arena, count, sizeof *n->parts);
	n->lands = arena_calloc(arena, count, sizeof *n->lands);
	n->returns = arena_calloc(arena, count, sizeof *n->returns);
	if (!n->first || !n->parts || !n->lands || !n->returns)
		return &error_no_memory;
	memset(n->first, 0xff, count * sizeof *n->first);
	for (uint32_t i = 0; i < f->block_count; i++) {
		n->returns[i] = returns_by_tail_call(n, i);
		n->lands[i] = has_landings && is_landing(n, i);
	}
	err = reach(n, arena);
	n->count = 0;
	for (uint32_t i = 0; i < f->block_count && !err; i++) {
		if (n->first[i] == CODE_NONE)
			continue;
		n->first[i] = n->count + n->lands[i];
		n->count = n->first[i] + n->parts[i];
	}
	return err;
}

/* The node that control comes to from one block to another. */
static uint32_t node_of_way(const struct ran_nodes *n, uint32_t from, uint32_t to)
{
	return n->first[to] - (n->lands[to] && last_of(n, from)->opcode == LLVMIndirectBr);
}

static bool has_only_edge(const struct cfg *g, uint32_t from, uint32_t to)
{
	return g->first_edge[from + 1] == g->first_edge[from] + 1 && g->edges[g->first_edge[from]].to == to;
}

static uint32_t find_edge(const struct cfg *g, uint32_t from, uint32_t to)
{
	for (uint32_t e = g->first_edge[from]; e < g->first_edge[from + 1]; e++)
		if (g->edges[e].to == to)
			return e;
	return CODE_NONE;
}

/* The edges of a block's last part are its successors, in their order, each once. seen[node]: the block + 1 that it was a successor of. */
static bool fits_successors(const struct ran_nodes *n, const struct cfg *g, uint32_t block, uint32_t *seen)
{
	const struct code_block *b = block_at(n, block);
	uint32_t first_block = n->code->functions[n->function].first_block;
	uint32_t last = n->first[block] + n->parts[block] - 1, edge = g->first_edge[last];
	bool goes_on;

	count_parts(n, block, &goes_on);
	for (uint32_t s = first_way(n, block); goes_on && s < b->successor_count; s++) {
		uint32_t to = node_of_way(n, block, n->code->successors[b->first_successor + s] - first_block);

		if (seen[to] == block + 1)
			continue;
		seen[to] = block + 1;
		if (edge == g->first_edge[last + 1] || g->edges[edge].to != to)
			return false;
		edge++;
	}
	return edge == g->first_edge[last + 1];
}

static struct error *fit(const struct ran_nodes *n, const struct cfg *g, struct arena *arena, bool *ret)
{
	uint32_t *seen = arena_calloc(arena, (size_t)n->count + 1, sizeof *seen);

	if (!seen)
		return &error_no_memory;
	*ret = n->count == g->node_count;
	for (uint32_t i = 0; i < n->code->functions[n->function].block_count && *ret; i++) {
		if (n->first[i] == CODE_NONE)
			continue;
		if (n->lands[i])
			*ret &= has_only_edge(g, n->first[i] - 1, n->first[i]);
		for (uint32_t p = 0; p + 1 < n->parts[i]; p++)
			*ret &= has_only_edge(g, n->first[i] + p, n->first[i] + p + 1);
		*ret = *ret && fits_successors(n, g, i, seen);
	}
	return NULL;
}

struct error *ran_number(const struct code *c, uint32_t function, const struct cfg *g, struct arena *arena,
			 struct ran_nodes *ret, bool *ret_fits)
{
	struct ran_nodes n = {.code = c, .function = function};
	struct error *err = NULL;

	*ret_fits = false;
	if (!c->functions[function].block_count)
		return NULL;
	/* What is not traced has no landings. */
	for (int has_landings = 1; has_landings >= 0 && !*ret_fits && !err; has_landings--) {
		err = number(&n, has_landings, arena);
		if (!err)
			err = fit(&n, g, arena, ret_fits);
	}
	*ret = n;
	return err;
}

/* ---- from nodes to blocks ---- */

void ran_tell(const struct ran_nodes *n, const struct cfg *g, const uint8_t *nodes, const uint8_t *edges, bool *runs,
	      bool *comes)
{
	const struct code_function *f = &n->code->functions[n->function];
	uint32_t first_slot = n->code->blocks[f->first_block].first_predecessor;

	/* A block that returns by a tail call comes to the block of the return all the same. */
	for (uint32_t i = 0; i < f->block_count; i++)
		if (n->first[i] == CODE_NONE || !nodes[n->first[i]])
			runs[i] = false;
	for (uint32_t i = 0; i < f->block_count; i++)
		if (n->returns[i] && n->first[i] != CODE_NONE && nodes[n->first[i] + n->parts[i] - 1])
			runs[n->code->successors[block_at(n, i)->first_successor] - f->first_block] = true;
	for (uint32_t i = 0; i < f->block_count; i++) {
		const struct code_block *b = block_at(n, i);

		for (uint32_t k = b->first_predecessor; k < b->first_predecessor + b->predecessor_count; k++) {
			uint32_t from = n->code->predecessors[k] - f->first_block, last, edge;

			if (n->first[from] == CODE_NONE) {
				comes[k - first_slot] = false;
				continue;
			}
			last = n->first[from] + n->parts[from] - 1;
			if (n->returns[from]) {
				comes[k - first_slot] &= nodes[last] != 0;
				continue;
			}
			edge = n->first[i] == CODE_NONE ? CODE_NONE : find_edge(g, last, node_of_way(n, from, i));
			if (edge == CODE_NONE || !edges[edge])
				comes[k - first_slot] = false;
		}
	}
}

void ran_tell_all(struct ran *r, const struct ran_nodes *n, const struct cfg *g, const uint8_t *nodes,
		  const uint8_t *edges)
{
	uint32_t first_block = r->code->functions[n->function].first_block;

	ran_tell(n, g, nodes, edges, &r->runs[first_block], &r->comes[r->code->blocks[first_block].first_predecessor]);
}

bool ran_instructions(const struct ran_nodes *n, uint32_t node, uint32_t *ret_first, uint32_t *ret_end)
{
	for (uint32_t i = 0; i < n->code->functions[n->function].block_count; i++) {
		const struct code_block *b = block_at(n, i);
		uint32_t part = node - n->first[i], at = b->first_instruction, end = at + b->instruction_count;

		if (n->first[i] == CODE_NONE || node < n->first[i] || part >= n->parts[i])
			continue;
		for (; at < end && part; at++)
			part -= ends_part(&n->code->instructions[at]);
		*ret_first = at;
		while (at < end && !ends_part(&n->code->instructions[at]))
			at++;
		*ret_end = at < end ? at + 1 : end;
		return true;
	}
	return false;
}

/* ---- calls ---- */

/* Of path counters, which are there when paths are counted, too. */
static bool is_counter(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const char *name;

	if (LLVMIsAInlineAsm(callee))
		return call_has(call, "willreturn");
	name = LLVMIsAFunction(callee) ? LLVMGetValueName(callee) : "";
	return text_begins(name, "wm1.") || text_begins(name, "wm1_");
}

/* Counts calls until `number`; *ret: that one, or CODE_NONE. */
static uint32_t count_calls(const struct ran_nodes *n, uint32_t number, uint32_t *ret)
{
	uint32_t count = 0;

	*ret = CODE_NONE;
	for (uint32_t b = 0; b < n->code->functions[n->function].block_count; b++) {
		const struct code_block *block = block_at(n, b);

		for (uint32_t i = block->first_instruction;
		     n->first[b] != CODE_NONE && i < block->first_instruction + block->instruction_count; i++) {
			const struct code_instruction *x = &n->code->instructions[i];

			if (ir_is_call(x->value) && !is_intrinsic(x->value) && !is_counter(x->value) &&
			    count++ == number) {
				*ret = i;
				return count;
			}
			if (never_returns(x))
				break;
		}
	}
	return count;
}

uint32_t ran_call(const struct ran_nodes *n, uint32_t number)
{
	uint32_t call;

	count_calls(n, number, &call);
	return call;
}

uint32_t ran_call_count(const struct ran_nodes *n)
{
	uint32_t call;

	return count_calls(n, CODE_NONE, &call);
}

/* ---- all code ---- */

struct error *ran_init(const struct code *c, struct ran *ret)
{
	uint32_t slots = 0;

	for (uint32_t i = 0; i < c->block_count; i++)
		slots += c->blocks[i].predecessor_count;
	*ret = (struct ran){.code = c, .runs = malloc((size_t)c->block_count + 1), .comes = malloc((size_t)slots + 1)};
	if (!ret->runs || !ret->comes) {
		ran_deinit(ret);
		return &error_no_memory;
	}
	memset(ret->runs, true, c->block_count);
	memset(ret->comes, true, slots);
	return NULL;
}

void ran_deinit(struct ran *r)
{
	free(r->runs);
	free(r->comes);
	*r = (struct ran){0};
}
