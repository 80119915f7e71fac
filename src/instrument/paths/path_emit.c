/*
 * path_emit.c - the code that counts the paths of one function:
 *
 *      entry                    table = slot; if (!table) table = wm1_path_enter(descriptor, &slot); incq table[0]
 *                               (in a bundle all that follows is at an offset; path_table.c)
 *      along the edges          the path register, in SSA form: phis where ways with different values meet
 *      end, ARRAY               incq table[2 + r]
 *      end, HASH and PLAN       i = index of r; if (table[2 + 2 i] == r) incq table[3 + 2 i]; else miss or residual
 *      return of setjmp         incq table[0]
 *
 * A call that returns twice may do so while a path is under way, which is then left where it is. The register is lost by that, so
 * functions with such a call keep what is to be counted in memory, in their frame:
 *
 *      start of a block         left = number of the path, if it is left in this block
 *      end of a path            left = none; then it is counted
 *      return of setjmp         if (left != none) count left
 *
 * The stores are volatile: they stay in order with calls. Where a signal handler jumps between the end of a path and the start of
 * the next block, the path that has ended may be lost, and is reported as unfinished; none is counted twice.
 *
 * The addition of an edge is placed where only that edge passes: at the start of its target, at the end of its
 * source, or in a block of its own; for unwind edges in front of the call that may throw. Code at the end of a path goes
 * before the instruction of path_node.end, or on the edge that ends it.
 *
 * Counters are incremented by one instruction of inline assembly: a signal handler on the same thread may count there too,
 * and the optimizer cannot keep a count in a register that a crash or an exit would lose.
 *
 * At the source stage the inliner comes after us, and what it inlines should not depend on whether paths are counted: calls
 * of ours are marked as costing nothing, less what the instructions before them cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "instrument/paths/path.h"

enum {
	THREAD_BASE = 257, /* address space of %fs: */
};

/* Where a value comes into a block from. */
struct incoming {
	LLVMBasicBlockRef block;
	LLVMValueRef value;
};

struct emitter {
	struct path_graph *g;
	const struct path_numbering *numbering;
	const struct path_choice *choice;
	const struct placement *placement;
	struct path_table table;
	LLVMBuilderRef builder;
	LLVMTypeRef i8, i64, pointer;
	LLVMValueRef undefined;    /* a register that nobody looks at */
	LLVMValueRef slot;         /* its address */
	LLVMValueRef left;         /* where the number of the path under way is kept; NULL: it cannot be left */
	LLVMValueRef kept;         /* the table, when it is kept from the entry on; else NULL */
	LLVMValueRef *values;      /* [node]: the register there, NULL: has none */
	uint32_t *start_of;        /* [node]: index of its start + 1 */
	uint32_t *first_in, *ins;  /* in-edges of each node */
	struct incoming *incoming; /* room for the in-edges of a node */
};

static LLVMValueRef constant(const struct emitter *e, uint64_t value)
{
	return LLVMConstInt(e->i64, value, 0);
}

static void add_attribute(struct emitter *e, LLVMValueRef call, LLVMAttributeIndex index, const char *name,
			  uint64_t value)
{
	unsigned kind = ir_attribute_kind(name);
	LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(e->g->m->context, kind, value));
}

/* The inliner takes the call and so many instructions that belong to it for nothing (LLVM's InlineCost.cpp). */
static void hide_from_inliner(struct emitter *e, LLVMValueRef call, int instructions)
{
	const int instruction_cost = 5;
	const char *name = "call-inline-cost";
	char cost[16];
	int length = snprintf(cost, sizeof cost, "%d", -instruction_cost * instructions);
	LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				 LLVMCreateStringAttribute(e->g->m->context, name, (unsigned)strlen(name), cost,
							   (unsigned)length));
}

static void calls_nothing(struct emitter *e, LLVMValueRef assembly)
{
	static const char *const harmless[] = {"nounwind", "willreturn", "nosync", "nofree", "nocallback"};
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		add_attribute(e, assembly, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, harmless[i], 0);
}

/* incq of the word there. instructions: those that made the address. */
static void emit_increment(struct emitter *e, LLVMValueRef address, int instructions)
{
	const char *text = "incq $0";
	const char *constraints = "=*m,*m,~{dirflag},~{fpsr},~{flags}";
	LLVMTypeRef operands[] = {e->pointer, e->pointer};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->g->m->context), operands, 2, 0);
	LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), 0, 0,
					     LLVMInlineAsmDialectATT, 0);
	LLVMValueRef arguments[] = {address, address};
	LLVMValueRef call = LLVMBuildCall2(e->builder, type, code, arguments, 2, "");
	unsigned element = ir_attribute_kind("elementtype");
	for (unsigned i = 1; i <= 2; i++)
		LLVMAddCallSiteAttribute(call, i, LLVMCreateTypeAttribute(e->g->m->context, element, e->i64));
	const uint64_t reads_and_writes_arguments = 3;
	const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	add_attribute(e, call, whole, "memory", reads_and_writes_arguments);
	calls_nothing(e, call);
	LLVMSetMetadata(call, e->g->m->alias.kind, e->g->m->alias.counters);
	hide_from_inliner(e, call, instructions);
}

static LLVMValueRef word_at(struct emitter *e, LLVMValueRef base, uint64_t off_bytes)
{
	LLVMValueRef off = constant(e, off_bytes);
	return off_bytes ? LLVMBuildGEP2(e->builder, e->i8, base, &off, 1, "wm1.word") : base;
}

static LLVMValueRef load_slot(struct emitter *e)
{
	LLVMValueRef table = LLVMBuildLoad2(e->builder, e->pointer, e->slot, "wm1.table");
	LLVMSetMetadata(table, e->g->m->alias.kind, e->g->m->alias.slots);
	return table;
}

/* After the entry the slot is set. */
static LLVMValueRef load_table(struct emitter *e)
{
	if (e->kept)
		return e->kept;
	LLVMValueRef table = load_slot(e);
	LLVMContextRef context = e->g->m->context;
	unsigned kind = LLVMGetMDKindIDInContext(context, "nonnull", strlen("nonnull"));
	LLVMSetMetadata(table, kind, LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
	return table;
}

/* The descriptor's address, made where it is needed: the code generator would keep a constant in a register, through loops
 * where the call that needs it never runs. */
static LLVMValueRef descriptor_here(struct emitter *e)
{
	const char *text = "leaq ${1:c}(%rip), $0";
	const char *constraints = "=r,i";
	LLVMTypeRef type = LLVMFunctionType(e->pointer, &e->pointer, 1, 0);
	LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), 1, 0,
					     LLVMInlineAsmDialectATT, 0);
	LLVMValueRef call = LLVMBuildCall2(e->builder, type, code, &e->table.descriptor, 1, "wm1.descriptor");
	add_attribute(e, call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "memory", 0);
	calls_nothing(e, call);
	return call;
}

static void emit_miss(struct emitter *e, LLVMValueRef table, LLVMValueRef r)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(e->g->m->context);
	LLVMTypeRef types[] = {e->pointer, e->pointer, e->i64, i32};
	LLVMValueRef arguments[] = {descriptor_here(e), table, r, LLVMConstInt(i32, 0, 0)};
	bool is_residual = e->choice->kind == WM1_PATHS_PLAN;
	unsigned count = is_residual ? 4 : 3;
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->g->m->context), types, count, 0);
	LLVMValueRef function =
		path_runtime_function(e->g->m, is_residual ? "wm1_path_residual" : "wm1_path_miss", type);
	LLVMValueRef call = LLVMBuildCall2(e->builder, type, function, arguments, count, "");
	LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
	hide_from_inliner(e, call, 0);
}

/* Byte offset of the pair of r. The bits below the index of a plan's are those of the path's number: where its four highest are
 * always 0, one shift makes an offset. */
static LLVMValueRef pair_offset(struct emitter *e, LLVMValueRef r)
{
	const unsigned bits = e->choice->bits;
	const unsigned pair_bits = 4;
	if (!bits)
		return constant(e, 0);
	if (e->choice->kind == WM1_PATHS_HASH)
		r = LLVMBuildMul(e->builder, r, constant(e, WM1_PATH_HASH), "wm1.hash");
	else if (e->numbering->path_count < UINT64_C(1) << (64 - bits - pair_bits))
		return LLVMBuildLShr(e->builder, r, constant(e, 64 - bits - pair_bits), "wm1.pair");
	LLVMValueRef index = LLVMBuildLShr(e->builder, r, constant(e, 64 - bits), "wm1.index");
	return LLVMBuildShl(e->builder, index, constant(e, pair_bits), "wm1.pair");
}

static uint64_t pair_offset_of(const struct path_choice *choice, uint64_t r)
{
	if (choice->kind == WM1_PATHS_HASH)
		r *= WM1_PATH_HASH;
	return choice->bits ? r >> (64 - choice->bits) << 4 : 0;
}

/* The register of a path of the plan. */
static bool is_hit(const struct path_choice *choice, uint64_t r)
{
	return choice->kind == WM1_PATHS_PLAN && choice->checks[pair_offset_of(choice, r) >> 4] == r;
}

/* The known value of a path's register at its end. */
struct known {
	bool has_offset;    /* the pair's place is computed when compiling */
	bool is_always_hit; /* and it is the path's own */
	bool is_never_hit;
	LLVMValueRef offset; /* has_offset */
};

static void know_one(const struct emitter *e, uint64_t r, struct known *known)
{
	known->is_always_hit &= is_hit(e->choice, r);
	known->is_never_hit &= e->choice->kind == WM1_PATHS_PLAN && !is_hit(e->choice, r);
}

/* A phi of constants, as after a branch: another phi beside it gives the places of the pairs of value + added. */
static void know_phi(struct emitter *e, LLVMValueRef before, LLVMValueRef phi, uint64_t added, struct known *ret)
{
	struct known known = {.has_offset = true, .is_always_hit = true, .is_never_hit = true};
	const unsigned count = LLVMCountIncoming(phi);
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);
		if (LLVMIsAConstantInt(value))
			know_one(e, LLVMConstIntGetZExtValue(value) + added, &known);
		else if (!LLVMIsPoison(value))
			return;
	}
	LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(e->builder);
	LLVMPositionBuilderBeforeInstrAndDbgRecords(e->builder, phi);
	known.offset = LLVMBuildPhi(e->builder, e->i64, "wm1.pair");
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
		if (LLVMIsAConstantInt(value))
			value = constant(e, pair_offset_of(e->choice, LLVMConstIntGetZExtValue(value) + added));
		LLVMAddIncoming(known.offset, &value, &from, 1);
	}
	LLVMPositionBuilderBefore(e->builder, before);
	LLVMSetCurrentDebugLocation2(e->builder, location);
	*ret = known;
}

/* Where the pair of the register is, and whether that is known to be the path's. */
static void know(struct emitter *e, LLVMValueRef before, LLVMValueRef r, LLVMValueRef value, uint64_t added,
		 struct known *ret)
{
	*ret = (struct known){0};
	if (LLVMIsAConstantInt(r)) {
		*ret = (struct known){.has_offset = true, .is_always_hit = true, .is_never_hit = true};
		know_one(e, LLVMConstIntGetZExtValue(r), ret);
		ret->offset = constant(e, pair_offset_of(e->choice, LLVMConstIntGetZExtValue(r)));
	} else if (LLVMIsAPHINode(value)) {
		know_phi(e, before, value, added, ret);
	}
	ret->is_never_hit |= !e->choice->entry_count || (e->choice->kind == WM1_PATHS_PLAN && !e->g->meta.interesting);
}

/* Counts the path of the register value + added, before an instruction. */
static void emit_pair(struct emitter *e, LLVMValueRef before, LLVMValueRef value, uint64_t added)
{
	const uint64_t first_pair = 16;
	LLVMValueRef r = added ? LLVMBuildAdd(e->builder, value, constant(e, added), "wm1.path") : value;
	struct known known;
	know(e, before, r, value, added, &known);
	LLVMValueRef table = load_table(e);
	if (known.is_never_hit) {
		emit_miss(e, table, r);
		return;
	}
	LLVMValueRef off = known.has_offset ? known.offset : pair_offset(e, r);
	LLVMValueRef pair = LLVMBuildGEP2(e->builder, e->i8, table, &off, 1, "wm1.pair");
	if (known.is_always_hit) {
		const int load_and_offset = 2;
		emit_increment(e, word_at(e, pair, first_pair + 8), load_and_offset);
		return;
	}
	LLVMValueRef check = LLVMBuildLoad2(e->builder, e->i64, word_at(e, pair, first_pair), "wm1.check");
	LLVMSetAlignment(check, 8);
	LLVMSetMetadata(check, e->g->m->alias.kind, e->g->m->alias.counters);
	LLVMValueRef hit = LLVMBuildICmp(e->builder, LLVMIntEQ, check, r, "wm1.hit");
	LLVMValueRef then, other;
	e->g->m->host->insert_if_else(hit, before, &then, &other);
	LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(e->builder);
	LLVMPositionBuilderBefore(e->builder, then);
	LLVMSetCurrentDebugLocation2(e->builder, location);
	const int to_branch = 7; /* from the load of the slot on */
	emit_increment(e, word_at(e, pair, first_pair + 8), to_branch);
	LLVMPositionBuilderBefore(e->builder, other);
	LLVMSetCurrentDebugLocation2(e->builder, location);
	emit_miss(e, table, r);
}

static void store_left(struct emitter *e, LLVMValueRef number)
{
	LLVMValueRef store = LLVMBuildStore(e->builder, number, e->left);
	LLVMSetVolatile(store, 1);
	LLVMSetMetadata(store, e->g->m->alias.kind, e->g->m->alias.counters);
}

/* No path has this number, nor a packed one: those are below 2^44 with an index in front. */
static LLVMValueRef no_path(const struct emitter *e)
{
	return constant(e, UINT64_MAX);
}

/* Counts the path that ends before an instruction. */
static void emit_end(struct emitter *e, LLVMValueRef before, LLVMValueRef value, const struct place_end *end)
{
	const uint64_t first_word = 16;
	ir_position_before(e->builder, before);
	if (e->left)
		store_left(e, no_path(e));
	if (e->choice->kind != WM1_PATHS_ARRAY) {
		if (end->adds_register)
			emit_pair(e, before, value, end->value);
		else
			emit_pair(e, before, constant(e, end->value), 0);
		return;
	}
	LLVMValueRef base = load_table(e);
	if (end->adds_register)
		base = LLVMBuildGEP2(e->builder, e->i64, base, &value, 1, "wm1.count");
	emit_increment(e, word_at(e, base, e->table.off_bytes + first_word + 8 * end->value),
		       !e->kept + end->adds_register);
}

/* The block that control is in just before it enters the edge's target. */
static LLVMBasicBlockRef last_block(const struct emitter *e, uint32_t edge)
{
	const struct path_graph *g = e->g;
	LLVMValueRef terminator = g->nodes[g->cfg.edges[edge].from].terminator;
	LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, g->successors[edge]);
	bool has_block = to != g->nodes[g->cfg.edges[edge].to].block;
	return has_block ? to : LLVMGetInstructionParent(terminator);
}

/* The register after an edge, as its target sees it. */
static LLVMValueRef value_after(struct emitter *e, uint32_t edge)
{
	const struct cfg_edge *c = &e->g->cfg.edges[edge];
	if (c->cut != CFG_KEPT) {
		const struct place_op *start = &e->placement->starts[e->start_of[c->to] - 1];
		return start->kind == PLACE_SET ? constant(e, start->value) : e->undefined;
	}
	const struct place_op *op = &e->placement->edges[edge];
	LLVMValueRef before = e->values[c->from] ? e->values[c->from] : e->undefined;
	if (op->kind == PLACE_SET)
		return constant(e, op->value);
	if (op->kind == PLACE_NOTHING)
		return before;
	if (LLVMIsAConstantInt(before))
		return constant(e, LLVMConstIntGetZExtValue(before) + op->value);
	ir_position_before(e->builder, path_place_on_edge(e->g, edge));
	return LLVMBuildAdd(e->builder, before, constant(e, op->value), "wm1.r");
}

static int compare_incoming(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct incoming *)a)->block;
	uintptr_t y = (uintptr_t)((const struct incoming *)b)->block;
	return (x > y) - (x < y);
}

static const struct incoming *find_incoming(const struct emitter *e, uint32_t count, LLVMBasicBlockRef block)
{
	struct incoming key = {.block = block};
	return bsearch(&key, e->incoming, count, sizeof *e->incoming, compare_incoming);
}

/* The register of a block from what comes in; a phi, unless that is one value whatever the way. What is no edge of the graph
 * (from code that is not reachable, or behind a call that does not return) never runs. */
static LLVMValueRef merge(struct emitter *e, LLVMBasicBlockRef block, uint32_t count)
{
	qsort(e->incoming, count, sizeof *e->incoming, compare_incoming);
	LLVMValueRef one = e->incoming[0].value;
	for (uint32_t k = 1; k < count; k++)
		if (e->incoming[k].value != one)
			one = NULL;
	bool is_known = one && LLVMIsConstant(one);
	bool has_strangers = false;
	LLVMUseRef first = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
	for (LLVMUseRef use = first; use && one && !is_known; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsAInstruction(user) && !find_incoming(e, count, LLVMGetInstructionParent(user)))
			has_strangers = true;
	}
	if (one && !has_strangers)
		return one;
	LLVMPositionBuilderBeforeInstrAndDbgRecords(e->builder, LLVMGetFirstInstruction(block));
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
	LLVMValueRef phi = LLVMBuildPhi(e->builder, e->i64, "wm1.r");
	for (LLVMUseRef use = first; use; use = LLVMGetNextUse(use)) {
		if (!LLVMIsAInstruction(LLVMGetUser(use)))
			continue;
		LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(use));
		const struct incoming *found = find_incoming(e, count, from);
		LLVMValueRef value = found ? found->value : e->undefined;
		LLVMAddIncoming(phi, &value, &from, 1);
	}
	return phi;
}

/* Decides what the register is on entering a node, when all kept edges into it come from nodes that are done. */
static void find_value(struct emitter *e, uint32_t node)
{
	const struct placement *p = e->placement;
	const struct place_op *start = e->start_of[node] ? &p->starts[e->start_of[node] - 1] : NULL;
	if (node == 0) {
		e->values[0] = start && start->kind == PLACE_SET ? constant(e, start->value) : NULL;
		return;
	}
	if (!p->has_register[node] && !(start && start->kind == PLACE_SET))
		return;
	uint32_t count = e->first_in[node + 1] - e->first_in[node];
	const uint32_t *ins = &e->ins[e->first_in[node]];
	for (uint32_t k = 0; k < count; k++)
		e->incoming[k].value = value_after(e, ins[k]);
	/* Only now: edges may have got blocks. */
	for (uint32_t k = 0; k < count; k++)
		e->incoming[k].block = last_block(e, ins[k]);
	e->values[node] = merge(e, e->g->nodes[node].block, count);
}

/* In-edges by node, and node order along kept edges. */
static struct error *order_nodes(struct emitter *e, uint32_t **ret_order)
{
	const struct cfg *g = &e->g->cfg;
	struct arena *arena = e->g->scratch;
	e->first_in = arena_calloc(arena, g->node_count + 2, sizeof *e->first_in);
	e->ins = arena_calloc(arena, g->edge_count + 1, sizeof *e->ins);
	e->incoming = arena_calloc(arena, g->edge_count + 1, sizeof *e->incoming);
	uint32_t *waits = arena_calloc(arena, g->node_count, sizeof *waits);
	uint32_t *order = arena_calloc(arena, g->node_count, sizeof *order);
	if (!e->first_in || !e->ins || !e->incoming || !waits || !order)
		return &error_no_memory;
	for (uint32_t i = 0; i < g->edge_count; i++) {
		e->first_in[g->edges[i].to + 2]++;
		waits[g->edges[i].to] += g->edges[i].cut == CFG_KEPT;
	}
	for (uint32_t n = 0; n < g->node_count; n++)
		e->first_in[n + 1] += e->first_in[n];
	for (uint32_t i = 0; i < g->edge_count; i++)
		e->ins[e->first_in[g->edges[i].to + 1]++] = i;
	uint32_t count = 0;
	for (uint32_t n = 0; n < g->node_count; n++)
		if (!waits[n])
			order[count++] = n;
	for (uint32_t done = 0; done < count; done++)
		for (uint32_t i = g->first_edge[order[done]]; i < g->first_edge[order[done] + 1]; i++)
			if (g->edges[i].cut == CFG_KEPT && !--waits[g->edges[i].to])
				order[count++] = g->edges[i].to;
	*ret_order = order;
	return NULL;
}

/*
 * Thread-local storage of a shared library is a call away: where it is, from the thread's base on, is asked once. The call is
 * that of a TLS descriptor, which keeps general registers, so that a function without calls stays one that saves none; linkers
 * replace it in programs. What it may not keep is named: before glibc 2.40 it allocates without saving vector registers.
 */
static void emit_slot_address(struct emitter *e)
{
	e->slot = e->table.slot;
	if (e->table.is_local_exec)
		return;
	const char *text = "leaq ${1:c}@tlsdesc(%rip), $0\n\tcallq *${1:c}@tlscall($0)";
	const char *constraints =
		"={rax},i,~{dirflag},~{fpsr},~{flags}"
		",~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},~{xmm5},~{xmm6},~{xmm7},~{xmm8},~{xmm9}"
		",~{xmm10},~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15},~{xmm16},~{xmm17},~{xmm18},~{xmm19}"
		",~{xmm20},~{xmm21},~{xmm22},~{xmm23},~{xmm24},~{xmm25},~{xmm26},~{xmm27},~{xmm28},~{xmm29},~{xmm30},~{xmm31}"
		",~{k0},~{k1},~{k2},~{k3},~{k4},~{k5},~{k6},~{k7}";
	LLVMTypeRef type = LLVMFunctionType(LLVMPointerTypeInContext(e->g->m->context, THREAD_BASE), &e->pointer, 1, 0);
	LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), 0, 1,
					     LLVMInlineAsmDialectATT, 0);
	e->slot = LLVMBuildCall2(e->builder, type, code, &e->table.slot, 1, "wm1.slot");
	add_attribute(e, e->slot, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "memory", 0);
	calls_nothing(e, e->slot);
}

/* The call that makes the table. To the optimizer it touches nothing that the program sees, so that in a bundle only one
 * of several entries looks at the slot. */
static LLVMValueRef emit_enter(struct emitter *e)
{
	const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	const struct path_table *table = &e->table;
	LLVMValueRef fresh =
		LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(table->enter), table->enter, NULL, 0, "wm1.fresh");
	LLVMSetInstructionCallConv(fresh, LLVMPreserveMostCallConv);
	const int load_test_and_branch = 3;
	hide_from_inliner(e, fresh, load_test_and_branch + !table->is_local_exec);
	if (!table->is_bundled)
		return fresh;
	const uint64_t reads_and_writes_inaccessible = 3 << 2;
	add_attribute(e, fresh, whole, "memory", reads_and_writes_inaccessible);
	add_attribute(e, fresh, LLVMAttributeReturnIndex, "nonnull", 0);
	LLVMValueRef store = LLVMBuildStore(e->builder, fresh, e->slot);
	LLVMSetMetadata(store, e->g->m->alias.kind, e->g->m->alias.slots);
	return fresh;
}

static void emit_entry(struct emitter *e)
{
	struct path_graph *g = e->g;
	LLVMValueRef at = ir_gather_allocas(e->builder, e->g->function);
	ir_position_before(e->builder, at);
	if (g->cfg.may_be_left)
		e->left = LLVMBuildAlloca(e->builder, e->i64, "wm1.left");
	emit_slot_address(e);
	LLVMValueRef table = load_slot(e);
	LLVMValueRef none = LLVMBuildIsNull(e->builder, table, "wm1.none");
	LLVMBasicBlockRef before = LLVMGetInstructionParent(none);
	LLVMValueRef then = g->m->host->insert_if(none, at);
	ir_position_before(e->builder, then);
	LLVMValueRef fresh = emit_enter(e);
	LLVMBasicBlockRef enter = LLVMGetInstructionParent(then);
	ir_position_before(e->builder, at);
	LLVMPositionBuilderBeforeInstrAndDbgRecords(e->builder, at);
	LLVMValueRef phi = LLVMBuildPhi(e->builder, e->pointer, "wm1.table");
	LLVMAddIncoming(phi, (LLVMValueRef[]){table, fresh}, (LLVMBasicBlockRef[]){before, enter}, 2);
	ir_position_before(e->builder, at);
	bool at_entry = e->choice->flags & WM1_PATHS_AT_ENTRY;
	emit_increment(e, word_at(e, phi, e->table.off_bytes + (at_entry ? 16 : 0)), 0);
	if (!g->calls)
		e->kept = phi;
	/* Phis of the register go where this block begins now. */
	g->nodes[0].block = LLVMGetInstructionParent(phi);
}

/* Where a call returns, maybe again: a path that was under way is counted as left. */
static void emit_return(struct emitter *e, LLVMBasicBlockRef block)
{
	LLVMValueRef at = e->g->m->host->first_insertion(block);
	ir_position_before(e->builder, at);
	LLVMValueRef number = LLVMBuildLoad2(e->builder, e->i64, e->left, "wm1.left");
	LLVMSetVolatile(number, 1);
	LLVMSetMetadata(number, e->g->m->alias.kind, e->g->m->alias.counters);
	LLVMValueRef is_left = LLVMBuildICmp(e->builder, LLVMIntNE, number, no_path(e), "wm1.again");
	emit_end(e, e->g->m->host->insert_if(is_left, at), number, &(struct place_end){.adds_register = true});
	ir_position_before(e->builder, at);
	emit_increment(e, word_at(e, load_table(e), e->table.off_bytes), !e->kept);
}

/* The number of the path that is left in this node. The ends of others, which come later, go in front of it. */
static void emit_left(struct emitter *e, uint32_t node)
{
	const struct place_end *left = &e->placement->lefts[node];
	LLVMBasicBlockRef block = e->g->nodes[node].block;
	LLVMValueRef at = e->g->m->host->first_insertion(block);
	LLVMValueRef value = e->values[node];
	/* Computed where the node begins: behind that. */
	if (value && LLVMIsAInstruction(value) && !LLVMIsAPHINode(value) && LLVMGetInstructionParent(value) == block)
		at = LLVMGetNextInstruction(value);
	ir_position_before(e->builder, at);
	LLVMValueRef number = constant(e, left->value);
	if (left->adds_register)
		number = left->value ? LLVMBuildAdd(e->builder, value, number, "wm1.number") : value;
	store_left(e, number);
}

static void emit_node(struct emitter *e, uint32_t node)
{
	struct path_graph *g = e->g;
	const struct cfg *c = &g->cfg;
	if (g->nodes[node].is_return)
		emit_return(e, g->nodes[node].block);
	LLVMValueRef value = e->values[node] ? e->values[node] : e->undefined;
	if (cfg_node_ends(c, node)) {
		emit_end(e, g->nodes[node].end, value, &e->placement->node_ends[node]);
		return;
	}
	for (uint32_t i = c->first_edge[node]; i < c->first_edge[node + 1]; i++)
		if (cfg_edge_ends(&c->edges[i]))
			emit_end(e, path_place_on_edge(e->g, i), value, &e->placement->edge_ends[i]);
}

static struct error *emit_code(struct emitter *e)
{
	struct path_graph *g = e->g;
	uint32_t *order;
	struct error *err = order_nodes(e, &order);
	if (err)
		return err;
	emit_entry(e);
	if (e->choice->flags & WM1_PATHS_AT_ENTRY)
		return NULL;
	for (uint32_t k = 0; k < g->cfg.node_count; k++)
		find_value(e, order[k]);
	for (uint32_t k = 0; e->left && k < g->cfg.node_count; k++)
		emit_left(e, order[k]);
	for (uint32_t k = 0; k < g->cfg.node_count; k++)
		emit_node(e, order[k]);
	return NULL;
}

struct error *path_emit(struct path_graph *g, const struct path_numbering *n, const struct path_choice *choice,
			const struct placement *placement)
{
	struct emitter e = {.g = g, .numbering = n, .choice = choice, .placement = placement};
	e.i8 = LLVMInt8TypeInContext(g->m->context);
	e.i64 = LLVMInt64TypeInContext(g->m->context);
	e.pointer = LLVMPointerTypeInContext(g->m->context, 0);
	e.undefined = LLVMGetPoison(e.i64);
	e.values = arena_calloc(g->scratch, g->cfg.node_count, sizeof(LLVMValueRef));
	e.start_of = arena_calloc(g->scratch, g->cfg.node_count, sizeof *e.start_of);
	if (!e.values || !e.start_of)
		return &error_no_memory;
	for (uint32_t i = 0; i < n->start_count; i++)
		e.start_of[n->starts[i]] = i + 1;
	struct error *err = path_table_add(g, choice, &e.table);
	if (err)
		return err;
	e.builder = LLVMCreateBuilderInContext(g->m->context);
	err = emit_code(&e);
	LLVMDisposeBuilder(e.builder);
	return err;
}
