/*
 * path_graph.c - the control flow of one function as paths see it: nodes are its reachable blocks in the order of the code,
 * split after calls that return twice; a block ends at its first call that does not return.
 *
 * Several successors of one terminator that are the same block are one edge: how the block was reached is no other path. It
 * means `default` if that is among them, else all its cases.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "instrument/paths/path.h"

bool path_call_has(LLVMValueRef call, unsigned kind)
{
	if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind))
		return true;
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee) && ir_has_attribute(callee, kind);
}

bool path_is_intrinsic(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
}

/* An intrinsic that touches no memory, or means nothing to the machine. */
static bool computes_only(const struct path_module *m, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	unsigned id = LLVMGetIntrinsicID(callee);
	if (id == m->kinds.lifetime_start || id == m->kinds.lifetime_end || id == m->kinds.assume)
		return true;
	LLVMAttributeRef memory =
		LLVMGetEnumAttributeAtIndex(callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, m->kinds.memory);
	return memory && !LLVMGetEnumAttributeValue(memory);
}

/* setjmp and its like; __builtin_setjmp is an intrinsic without the attribute. */
static bool returns_twice(const struct path_module *m, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return path_call_has(call, m->kinds.returns_twice) ||
	       (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) == m->kinds.setjmp);
}

static const char *reason_in_code(const struct path_module *m, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
			if (opcode == LLVMCleanupPad || opcode == LLVMCatchSwitch)
				return "exceptions of another system (funclets)";
			if ((opcode == LLVMInvoke || opcode == LLVMCallBr) && returns_twice(m, i))
				return "a call that may throw returns twice";
		}
	return NULL;
}

const char *path_reason(const struct path_module *m, LLVMValueRef function)
{
	if (ir_has_attribute(function, m->kinds.naked))
		return "naked: no code can be added";
	if (ir_has_attribute(function, m->kinds.coroutine))
		return "coroutine: --wm-stage=final counts the functions it becomes";
	if (ir_has_attribute(function, m->kinds.no_profile) || ir_has_attribute(function, m->kinds.skip_profile))
		return "attribute no_profile_instrument_function";
	if (LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage && m->host->is_artificial(function))
		return "a header's wrapper of another function (attribute artificial)";
	return reason_in_code(m, function);
}

/* `x ? a : b` of values that need no code is a select as clang makes it; in the source it is a branch like others. */
static bool branch_on_selects(struct path_graph *g)
{
	bool any = false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			if (LLVMGetInstructionOpcode(i) != LLVMSelect ||
			    LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMIntegerTypeKind)
				continue;
			g->m->host->branch_on_select(i);
			any = true;
			break; /* the rest is a later block */
		}
	return any;
}

/* A tail call returns right there; each call that returns twice ends its block. */
static void shape_blocks(struct path_graph *g)
{
	bool any = g->m->host->return_after_tail_calls(g->function);
	if (!g->m->options->is_final && !g->m->options->folds_iterations)
		any |= branch_on_selects(g);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			if (LLVMGetInstructionOpcode(i) != LLVMCall || !returns_twice(g->m, i))
				continue;
			g->m->host->split_before(LLVMGetNextInstruction(i));
			any = true;
			break; /* the rest is the next block */
		}
	if (any)
		g->m->host->changed(g->m->host->state, g->function);
}

/* A block and what stands in it, before it is known to be reachable. */
struct block {
	LLVMBasicBlockRef value;
	LLVMValueRef terminator;
	LLVMValueRef leaves; /* the first call that does not return, NULL if none */
	LLVMValueRef twice;  /* its last call returns twice */
	uint32_t node;       /* NO_EDGE: not reachable */
};

struct builder {
	struct path_graph *g;
	struct block *blocks; /* in the order of the code */
	uint32_t *by_value;   /* sorted by value */
	uint32_t count;
	uint32_t *block_of; /* [node] */
	uint32_t node_count;
};

static int compare_blocks(const void *a, const void *b, void *blocks)
{
	uintptr_t x = (uintptr_t)((struct block *)blocks)[*(const uint32_t *)a].value;
	uintptr_t y = (uintptr_t)((struct block *)blocks)[*(const uint32_t *)b].value;
	return (x > y) - (x < y);
}

static uint32_t find_block(const struct builder *b, LLVMBasicBlockRef value)
{
	uint32_t low = 0;
	uint32_t high = b->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if ((uintptr_t)b->blocks[b->by_value[middle]].value <= (uintptr_t)value)
			low = middle;
		else
			high = middle;
	}
	return b->by_value[low];
}

/* Memory that is surely there. */
static bool is_own_memory(LLVMValueRef pointer)
{
	for (;;) {
		if (LLVMIsAAllocaInst(pointer))
			return true;
		if (LLVMIsAGlobalVariable(pointer))
			return LLVMGetLinkage(pointer) != LLVMExternalWeakLinkage;
		if (!LLVMIsAGetElementPtrInst(pointer) &&
		    !(LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
			return false;
		int count = LLVMGetNumOperands(pointer);
		for (int i = 1; i < count; i++)
			if (!LLVMIsAConstantInt(LLVMGetOperand(pointer, (unsigned)i)))
				return false;
		pointer = LLVMGetOperand(pointer, 0);
	}
}

static bool divides_safely(LLVMValueRef divisor)
{
	return LLVMIsAConstantInt(divisor) && !LLVMIsNull(divisor) &&
	       (LLVMGetIntTypeWidth(LLVMTypeOf(divisor)) > 64 || LLVMConstIntGetSExtValue(divisor) != -1);
}

/* An instruction that may not get to the next one: a path that it is on has not ended where it began. */
static bool may_stop(const struct path_module *m, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMCall:
		return !path_is_intrinsic(i) || !computes_only(m, i);
	case LLVMLoad:
		return !is_own_memory(LLVMGetOperand(i, 0));
	case LLVMStore:
		return !is_own_memory(LLVMGetOperand(i, 1));
	case LLVMUDiv:
	case LLVMSDiv:
	case LLVMURem:
	case LLVMSRem:
		return !divides_safely(LLVMGetOperand(i, 1));
	case LLVMInvoke:
	case LLVMCallBr:
	case LLVMAtomicCmpXchg:
	case LLVMAtomicRMW:
	case LLVMVAArg:
		return true;
	default:
		return false;
	}
}

static bool chooses(const struct path_module *m, LLVMValueRef i)
{
	if (LLVMGetInstructionOpcode(i) == LLVMSelect)
		return true;
	if (LLVMGetInstructionOpcode(i) != LLVMCall || !path_is_intrinsic(i))
		return false;
	unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(i));
	for (const unsigned *known = m->kinds.chooses; *known; known++)
		if (*known == id)
			return true;
	return false;
}

/* LLVM makes a table of a switch that only gives values. */
static bool looks_up(LLVMValueRef i)
{
	static const char prefix[] = "switch.table.";
	if (LLVMGetInstructionOpcode(i) != LLVMLoad)
		return false;
	LLVMValueRef pointer = LLVMGetOperand(i, 0);
	if (LLVMIsAGetElementPtrInst(pointer))
		pointer = LLVMGetOperand(pointer, 0);
	if (!LLVMIsAGlobalVariable(pointer))
		return false;
	size_t len_bytes;
	return !strncmp(LLVMGetValueName2(pointer, &len_bytes), prefix, strlen(prefix));
}

static void scan_block(struct builder *b, struct block *block)
{
	const struct path_module *m = b->g->m;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block->value); i; i = LLVMGetNextInstruction(i)) {
		b->g->may_stop |= may_stop(m, i);
		b->g->meta.selects += chooses(m, i);
		b->g->meta.switch_tables += looks_up(i);
		if (!ir_is_call(i))
			continue;
		if (!path_is_intrinsic(i))
			b->g->calls |= !LLVMIsAInlineAsm(LLVMGetCalledValue(i));
		if (LLVMGetInstructionOpcode(i) != LLVMCall)
			continue;
		if (!block->leaves && path_call_has(i, m->kinds.noreturn))
			block->leaves = i;
		if (returns_twice(m, i))
			block->twice = i;
	}
}

static struct error *collect_blocks(struct builder *b)
{
	struct path_graph *g = b->g;
	b->count = LLVMCountBasicBlocks(g->function);
	b->blocks = arena_calloc(g->scratch, b->count, sizeof *b->blocks);
	b->by_value = arena_calloc(g->scratch, b->count, sizeof *b->by_value);
	b->block_of = arena_calloc(g->scratch, b->count, sizeof *b->block_of);
	if (!b->blocks || !b->by_value || !b->block_of)
		return &error_no_memory;
	uint32_t k = 0;
	for (LLVMBasicBlockRef v = LLVMGetFirstBasicBlock(g->function); v; v = LLVMGetNextBasicBlock(v), k++) {
		b->blocks[k] =
			(struct block){.value = v, .terminator = LLVMGetBasicBlockTerminator(v), .node = NO_EDGE};
		b->by_value[k] = k;
	}
	qsort_r(b->by_value, b->count, sizeof *b->by_value, compare_blocks, b->blocks);
	return NULL;
}

/* The successors a path can take: none after a call that does not return; an invoked one can only throw. */
static void successor_range(const struct builder *b, const struct block *block, unsigned *first, unsigned *end)
{
	*first = 0;
	*end = block->leaves ? 0 : LLVMGetNumSuccessors(block->terminator);
	if (*end && LLVMGetInstructionOpcode(block->terminator) == LLVMInvoke &&
	    path_call_has(block->terminator, b->g->m->kinds.noreturn))
		*first = 1;
}

/* Finds what is reachable from the entry, and numbers it in the order of the code. */
static struct error *number_nodes(struct builder *b)
{
	uint32_t *work = arena_calloc(b->g->scratch, b->count, sizeof *work);
	if (!work)
		return &error_no_memory;
	uint32_t waiting = 1;
	b->blocks[0].node = 0;
	while (waiting) {
		struct block *block = &b->blocks[work[--waiting]];
		scan_block(b, block);
		unsigned s, end;
		for (successor_range(b, block, &s, &end); s < end; s++) {
			uint32_t to = find_block(b, LLVMGetSuccessor(block->terminator, s));
			if (b->blocks[to].node != NO_EDGE)
				continue;
			b->blocks[to].node = 0;
			work[waiting++] = to;
		}
	}
	for (uint32_t k = 0; k < b->count; k++)
		if (b->blocks[k].node != NO_EDGE) {
			b->block_of[b->node_count] = k;
			b->blocks[k].node = b->node_count++;
		}
	return NULL;
}

/* The name clang gave a block, without the number that makes it unique, is one of a list. */
static bool is_named(LLVMBasicBlockRef block, const char *const *list, size_t count)
{
	const char *name = LLVMGetBasicBlockName(block);
	size_t len_bytes = strlen(name);
	while (len_bytes && name[len_bytes - 1] >= '0' && name[len_bytes - 1] <= '9')
		len_bytes--;
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == len_bytes && !memcmp(name, list[i], len_bytes))
			return true;
	return false;
}

/* clang turns `if (!x) A else B` into a branch on x with B first. Its names of the blocks show what is true in the source. */
static bool is_negated(LLVMValueRef branch)
{
	static const char *const when_true[] = {"if.then",   "for.body",      "while.body", "do.body",
						"cond.true", "land.lhs.true", "land.rhs",   "lor.end"};
	static const char *const when_false[] = {"if.else",   "if.end",  "for.end",    "for.cond.cleanup",
						 "while.end", "do.end",  "cond.false", "lor.lhs.false",
						 "lor.rhs",   "land.end"};
	const size_t true_count = sizeof when_true / sizeof *when_true;
	const size_t false_count = sizeof when_false / sizeof *when_false;
	LLVMBasicBlockRef first = LLVMGetSuccessor(branch, 0);
	if (is_named(first, when_true, true_count))
		return false;
	return is_named(first, when_false, false_count) || is_named(LLVMGetSuccessor(branch, 1), when_true, true_count);
}

/* A value of more than 64 bits, which is not recorded. */
static const struct pathmeta_cases wide_case = {.has_more = true};

static struct pathmeta_outcome outcome_of(LLVMValueRef terminator, unsigned successor)
{
	struct pathmeta_outcome outcome = {.kind = PATHMETA_PLAIN};
	switch (LLVMGetInstructionOpcode(terminator)) {
	case LLVMBr:
		if (LLVMGetNumSuccessors(terminator) == 2)
			outcome.kind = is_negated(terminator) == (successor == 0) ? PATHMETA_FALSE : PATHMETA_TRUE;
		break;
	case LLVMSwitch:
		outcome.kind = successor ? PATHMETA_CASE : PATHMETA_DEFAULT;
		if (successor) {
			LLVMValueRef value = LLVMGetOperand(terminator, 2 * successor);
			if (LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64)
				outcome.value = LLVMConstIntGetSExtValue(value);
			else
				outcome = (struct pathmeta_outcome){.kind = PATHMETA_CASES, .cases = &wide_case};
		}
		break;
	case LLVMInvoke:
		outcome.kind = successor ? PATHMETA_UNWIND : PATHMETA_NORMAL;
		break;
	default:
		outcome.kind = PATHMETA_JUMP;
	}
	return outcome;
}

struct case_value {
	uint32_t edge;
	int64_t value;
};

static int compare_cases(const void *a, const void *b)
{
	const struct case_value *x = a, *y = b;
	if (x->edge != y->edge)
		return x->edge < y->edge ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* Ranges of the values of one edge, which rise. */
static void add_case(struct pathmeta_cases *cases, int64_t value)
{
	struct pathmeta_range *last = cases->count ? &cases->ranges[cases->count - 1] : NULL;
	if (cases->has_more)
		return;
	if (last && last->last + 1 == value)
		last->last = value;
	else if (cases->count < sizeof cases->ranges / sizeof *cases->ranges)
		cases->ranges[cases->count++] = (struct pathmeta_range){value, value};
	else
		cases->has_more = true;
}

/* Names the cases of a switch: edges that several cases share list all of them. edge_of[node]: the edge there + 1. */
static struct error *name_cases(struct path_graph *g, const struct builder *b, LLVMValueRef terminator,
				const uint32_t *edge_of)
{
	const unsigned count = LLVMGetNumSuccessors(terminator);
	struct case_value *values = arena_calloc(g->scratch, count, sizeof *values);
	uint32_t named = 0;
	if (!values)
		return &error_no_memory;
	for (unsigned s = 1; s < count; s++) {
		uint32_t edge = edge_of[b->blocks[find_block(b, LLVMGetSuccessor(terminator, s))].node] - 1;
		struct pathmeta_outcome outcome = outcome_of(terminator, s);
		if (outcome.kind == PATHMETA_CASE && g->meta.outcomes[edge].kind == PATHMETA_CASE)
			values[named++] = (struct case_value){edge, outcome.value};
	}
	qsort(values, named, sizeof *values, compare_cases);
	for (uint32_t i = 0, end; i < named; i = end) {
		for (end = i + 1; end < named && values[end].edge == values[i].edge;)
			end++;
		if (end == i + 1)
			continue;
		struct pathmeta_cases *cases = arena_calloc(&g->m->meta.arena, 1, sizeof *cases);
		if (!cases)
			return &error_no_memory;
		for (uint32_t k = i; k < end; k++)
			add_case(cases, values[k].value);
		g->meta.outcomes[values[i].edge] = (struct pathmeta_outcome){.kind = PATHMETA_CASES, .cases = cases};
	}
	return NULL;
}

/* The edges of one node. seen[node]: the edge there + 1, stale when it is not of this node. */
static struct error *add_edges(struct builder *b, uint32_t node, uint32_t *seen)
{
	struct path_graph *g = b->g;
	const struct block *block = &b->blocks[b->block_of[node]];
	const struct host *host = g->m->host;
	LLVMOpcode opcode = LLVMGetInstructionOpcode(block->terminator);
	uint32_t first = g->cfg.edge_count;
	g->cfg.first_edge[node] = first;
	unsigned s, end;
	successor_range(b, block, &s, &end);
	if (s == end)
		return NULL;
	double frequency = host->block_frequency(host->state, block->value);
	for (; s < end; s++) {
		uint32_t to = b->blocks[find_block(b, LLVMGetSuccessor(block->terminator, s))].node;
		double share = frequency * host->edge_probability(host->state, block->value, s);
		if (seen[to] > first) {
			g->cfg.edges[seen[to] - 1].frequency += share;
			if (opcode == LLVMBr)
				g->meta.outcomes[seen[to] - 1].kind = PATHMETA_PLAIN;
			continue;
		}
		uint32_t e = g->cfg.edge_count++;
		seen[to] = e + 1;
		g->successors[e] = s;
		g->meta.outcomes[e] = outcome_of(block->terminator, s);
		g->cfg.edges[e] = (struct cfg_edge){.from = node, .to = to, .frequency = share};
		if (block->twice)
			g->cfg.edges[e].cut = CFG_CUT_TWICE;
		else if (opcode == LLVMIndirectBr || opcode == LLVMCallBr)
			g->cfg.edges[e].cut = CFG_CUT_JUMP;
		g->cfg.edges[e].is_fixed =
			opcode == LLVMIndirectBr || opcode == LLVMCallBr || (opcode == LLVMInvoke && s == 1);
	}
	return opcode == LLVMSwitch ? name_cases(g, b, block->terminator, seen) : NULL;
}

static struct error *make_edges(struct builder *b)
{
	struct path_graph *g = b->g;
	struct arena *kept = &g->m->meta.arena;
	size_t most = 0;
	for (uint32_t n = 0; n < b->node_count; n++)
		most += LLVMGetNumSuccessors(b->blocks[b->block_of[n]].terminator);
	g->cfg.node_count = b->node_count;
	g->cfg.first_edge = arena_calloc(kept, b->node_count + 1, sizeof *g->cfg.first_edge);
	g->cfg.edges = arena_calloc(kept, most, sizeof *g->cfg.edges);
	g->meta.outcomes = arena_calloc(kept, most, sizeof *g->meta.outcomes);
	g->successors = arena_calloc(g->scratch, most, sizeof *g->successors);
	uint32_t *seen = arena_calloc(g->scratch, b->node_count, sizeof *seen);
	if (!g->cfg.first_edge || !g->cfg.edges || !g->meta.outcomes || !g->successors || !seen)
		return &error_no_memory;
	struct error *err = NULL;
	for (uint32_t n = 0; n < b->node_count && !err; n++)
		err = add_edges(b, n, seen);
	g->cfg.first_edge[b->node_count] = g->cfg.edge_count;
	return err;
}

/* The code generator looks through this instruction between a tail call and its return. */
static bool is_nothing(const struct path_module *m, LLVMValueRef i)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
	if (opcode == LLVMBitCast)
		return true;
	if (opcode != LLVMCall || !path_is_intrinsic(i))
		return false;
	unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(i));
	return id == m->kinds.lifetime_end || id == m->kinds.assume;
}

/* The tail call right in front of a return: it may run without this function's frame, so what is done comes before. */
static LLVMValueRef tail_call_of(const struct path_module *m, LLVMValueRef ret)
{
	LLVMValueRef i = LLVMGetPreviousInstruction(ret);
	while (i && is_nothing(m, i))
		i = LLVMGetPreviousInstruction(i);
	if (!i || !LLVMIsACallInst(i) || path_is_intrinsic(i))
		return NULL;
	LLVMTailCallKind kind = LLVMGetTailCallKind(i);
	if (kind == LLVMTailCallKindMustTail)
		return i;
	if (kind != LLVMTailCallKindTail || LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
		return NULL;
	LLVMValueRef value = LLVMGetNumOperands(ret) ? LLVMGetOperand(ret, 0) : NULL;
	return !value || value == i || LLVMIsUndef(value) || LLVMIsPoison(value) ? i : NULL;
}

static LLVMValueRef end_of(const struct builder *b, const struct block *block)
{
	if (block->leaves)
		return block->leaves;
	if (block->twice)
		return block->twice;
	LLVMValueRef tail = NULL;
	if (LLVMGetInstructionOpcode(block->terminator) == LLVMRet)
		tail = tail_call_of(b->g->m, block->terminator);
	return tail ? tail : block->terminator;
}

static struct error *make_nodes(struct builder *b)
{
	struct path_graph *g = b->g;
	g->nodes = arena_calloc(g->scratch, b->node_count, sizeof *g->nodes);
	if (!g->nodes)
		return &error_no_memory;
	for (uint32_t n = 0; n < b->node_count; n++) {
		const struct block *block = &b->blocks[b->block_of[n]];
		g->nodes[n].block = block->value;
		g->nodes[n].terminator = block->terminator;
		g->nodes[n].end = end_of(b, block);
	}
	for (uint32_t e = 0; e < g->cfg.edge_count; e++)
		if (g->cfg.edges[e].cut == CFG_CUT_TWICE)
			g->nodes[g->cfg.edges[e].to].is_return = true;
	return NULL;
}

/* Cycles are cut, and further edges while there are too many paths. */
static struct error *cut(struct path_graph *g)
{
	g->cfg.may_be_left = !g->m->options->folds_iterations && cfg_count_cuts(&g->cfg, CFG_CUT_TWICE);
	struct error *err = cfg_cut_cycles(&g->cfg);
	const bool is_short = g->m->options->is_final && !g->m->options->keeps_long_paths;
	const uint64_t limit = is_short ? PATH_COUNT_FINAL : PATH_COUNT_MAX;
	uint32_t loops = 0;
	uint32_t split = 0;
	if (!err)
		err = cfg_split_loops(&g->cfg, limit, &loops);
	if (!err)
		err = cfg_split(&g->cfg, g->m->options->folds_iterations ? PATH_COUNT_MAX / 2 : PATH_COUNT_MAX, &split);
	if (!err && g->m->options->folds_iterations)
		err = cfg_cut_iterations(&g->cfg);
	if (!err && (split || (loops && !g->m->options->is_final)))
		buffer_printf(&g->m->split, "%s%s", g->m->split.len_bytes ? ", " : "", g->meta.name);
	return err;
}

static uint64_t hash_number(uint64_t hash, uint64_t value)
{
	uint8_t bytes[8];
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	return hash_bytes(hash, bytes, sizeof bytes);
}

/* A key of what determines the paths, and of calls, since most changes of code change these. Lines are not in it. */
static uint64_t cfg_key(const struct path_graph *g)
{
	uint64_t hash = hash_number(HASH_START, g->m->options->is_final);
	hash = hash_number(hash, g->cfg.node_count);
	if (g->cfg.may_be_left)
		hash = hash_number(hash, g->cfg.may_be_left);
	for (uint32_t n = 0; n < g->cfg.node_count; n++) {
		const struct path_node *node = &g->nodes[n];
		hash = hash_number(hash, LLVMGetInstructionOpcode(node->terminator));
		for (uint32_t e = g->cfg.first_edge[n]; e < g->cfg.first_edge[n + 1]; e++) {
			hash = hash_number(hash, g->cfg.edges[e].to);
			hash = hash_number(hash, g->cfg.edges[e].cut);
		}
		for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = ir_is_call(i) && !path_is_intrinsic(i) ? LLVMGetCalledValue(i) : NULL;
			if (!callee || !LLVMIsAFunction(callee))
				continue;
			size_t len_bytes;
			const char *name = LLVMGetValueName2(callee, &len_bytes);
			hash = hash_bytes(hash, name, len_bytes);
		}
	}
	return hash;
}

struct error *path_graph_make(struct path_graph *g)
{
	struct builder b = {.g = g};
	shape_blocks(g);
	struct error *err = collect_blocks(&b);
	if (!err)
		err = number_nodes(&b);
	if (!err)
		err = make_edges(&b);
	if (!err)
		err = make_nodes(&b);
	if (!err)
		err = cut(g);
	if (err)
		return err;
	g->meta.cfg = g->cfg;
	g->meta.cfg_key = cfg_key(g);
	return NULL;
}
