/*
 * trace_emit.c - the code of one traced body (waymark/trace.h says what it leaves behind):
 *
 *      entry               own coverage = 0; count = 0; the register's first value
 *      along an edge       register = or += value                                   only where the placement has it
 *      end on an edge      ring[count % slots] = number; count++; the register's first value of the next path
 *      round of a loop     the register's first value behind it; nothing is kept (core/paths/cfg.h: ITERATION)
 *      end in a node       as on an edge, before an indirect goto or a call that returns twice; its targets begin the next path
 *      coverage            a byte, and one or a bit of the frame's, at the entry, before a call or at the start of a block
 *
 * Unlike a counter's register, this one is in memory: nothing to merge where ways meet. A value for unwinding edges, if they
 * need one, is a constant, set in front of the call: on the normal way another one is set, or nobody looks.
 *
 * Nodes whose in-edges do not all leave a point get one at their start, without code.
 */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "instrument/trace/trace.h"

struct emitter {
	struct trace_body *b;
	LLVMBuilderRef builder;
	LLVMTypeRef i8, i32;
	LLVMValueRef record; /* NULL: the body has none */
	bool *has_point;     /* [edge]: what goes along it leaves a point */
	bool *is_started;    /* [node]: its start has the register's first value */
};

static bool traces_paths(const struct emitter *e)
{
	return e->b->variant->scheme & WM1_SCHEME_PATHS;
}

/* The scheme covers calls or blocks. */
static bool covers_points(const struct emitter *e)
{
	return tracemeta_own_coverage(e->b->variant->scheme) != WM1_SCHEME_NONE;
}

static LLVMValueRef bytes_at(struct emitter *e, LLVMValueRef base, uint32_t off)
{
	LLVMValueRef index = LLVMConstInt(e->i32, off, 0);
	return off ? LLVMBuildGEP2(e->builder, e->i8, base, &index, 1, "") : base;
}

static LLVMValueRef field(struct emitter *e, uint32_t off)
{
	return bytes_at(e, e->record, off);
}

static LLVMTypeRef sum_type(const struct emitter *e)
{
	return LLVMIntTypeInContext(e->b->g->m->context, 8u * e->b->variant->sum_bytes);
}

static LLVMValueRef load_volatile(struct emitter *e, LLVMTypeRef type, uint32_t off, unsigned alignment)
{
	LLVMValueRef value = LLVMBuildLoad2(e->builder, type, field(e, off), "wm1.loaded");
	LLVMContextRef context = e->b->g->m->context;
	unsigned unchecked = LLVMGetMDKindIDInContext(context, "nosanitize", strlen("nosanitize"));
	LLVMSetMetadata(value, unchecked, LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
	LLVMSetVolatile(value, 1);
	LLVMSetAlignment(value, alignment);
	return value;
}

/* ---- paths ---- */

static void add_op(struct emitter *e, struct trace_asm *a, const struct place_op *op)
{
	const struct tracemeta_variant *v = e->b->variant;
	if (op->kind != PLACE_NOTHING)
		trace_asm_constant(a, op->kind == PLACE_SET ? "mov" : "add", v->sum_bytes, op->value,
				   field(e, v->sum_off));
}

static const struct place_op *start_op(const struct emitter *e, uint32_t node)
{
	const struct trace_function *f = e->b->f;
	return &f->placement.starts[f->start_of[node] - 1];
}

/* The next path's first value, if it has one, and that control is in its first node. */
static void add_start(struct emitter *e, struct trace_asm *a, uint32_t node)
{
	add_op(e, a, start_op(e, node));
	trace_asm_point(a, WM1_POINT_NODE, node);
}

/* Stores the number of the path that ends in or behind `from`. */
static void add_end(struct emitter *e, struct trace_asm *a, uint32_t from, const struct place_end *end)
{
	const struct tracemeta_variant *v = e->b->variant;
	LLVMValueRef slot = field(e, v->ring_off);
	if (v->ring_slots > 1) {
		LLVMValueRef count = load_volatile(e, e->i32, v->count_off, 4);
		LLVMValueRef mask = LLVMConstInt(e->i32, v->ring_slots - 1, 0);
		LLVMValueRef index = LLVMBuildAnd(e->builder, count, mask, "wm1.index");
		index = LLVMBuildZExt(e->builder, index, LLVMInt64TypeInContext(e->b->g->m->context), "");
		slot = LLVMBuildGEP2(e->builder, sum_type(e), slot, &index, 1, "wm1.slot");
	}
	if (!end->adds_register) {
		trace_asm_constant(a, "mov", v->sum_bytes, end->value, slot);
	} else {
		LLVMValueRef number = load_volatile(e, sum_type(e), v->sum_off, v->sum_bytes);
		if (end->value)
			number = LLVMBuildAdd(e->builder, number, LLVMConstInt(sum_type(e), end->value, 0), "wm1.path");
		trace_asm_value(a, "mov", v->sum_bytes, number, slot);
	}
	trace_asm_point(a, WM1_POINT_PUSH, from);
	trace_asm_increment(a, field(e, v->count_off));
}

/* The edge's code leaves a point, unless it has none, or stands where control may not take the edge. */
static bool stands_aside(const struct emitter *e, uint32_t edge, LLVMValueRef place)
{
	const struct path_graph *g = e->b->g;
	return g->cfg.edges[edge].is_fixed && place == g->nodes[g->cfg.edges[edge].from].terminator;
}

static struct error *emit_kept(struct emitter *e, uint32_t edge)
{
	struct path_graph *g = e->b->g;
	const struct place_op *op = &e->b->f->placement.edges[edge];
	if (op->kind == PLACE_NOTHING)
		return NULL;
	struct trace_asm a;
	LLVMValueRef place = path_place_on_edge(g, edge);
	ir_position_before(e->builder, place);
	trace_asm_begin(&a, e->b);
	add_op(e, &a, op);
	e->has_point[edge] = !stands_aside(e, edge, place);
	if (e->has_point[edge])
		trace_asm_point(&a, WM1_POINT_NODE, g->cfg.edges[edge].to);
	return trace_asm_end(&a, e->builder);
}

static struct error *emit_ending(struct emitter *e, uint32_t edge)
{
	struct path_graph *g = e->b->g;
	const struct cfg_edge *c = &g->cfg.edges[edge];
	struct trace_asm a;
	ir_position_before(e->builder, path_place_on_edge(g, edge));
	trace_asm_begin(&a, e->b);
	add_end(e, &a, c->from, &e->b->f->placement.edge_ends[edge]);
	if (start_op(e, c->to)->kind != PLACE_NOTHING)
		trace_asm_point(&a, WM1_POINT_START, c->to);
	add_start(e, &a, c->to);
	e->has_point[edge] = true;
	return trace_asm_end(&a, e->builder);
}

/* One instruction: the path that ends is known from the first value of the one that begins. */
static struct error *emit_round(struct emitter *e, uint32_t edge)
{
	const struct trace_function *f = e->b->f;
	struct path_graph *g = e->b->g;
	struct trace_asm a;
	ir_position_before(e->builder, path_place_on_edge(g, edge));
	trace_asm_begin(&a, e->b);
	add_op(e, &a, &f->placement.starts[f->start_of_iteration[edge]]);
	trace_asm_point(&a, WM1_POINT_NODE, g->cfg.edges[edge].to);
	e->has_point[edge] = true;
	return trace_asm_end(&a, e->builder);
}

/* Where an edge's path begins whose source has ended the last one; NULL: it is done already. */
static LLVMValueRef place_after_end(struct emitter *e, uint32_t edge)
{
	struct path_graph *g = e->b->g;
	const struct cfg_edge *c = &g->cfg.edges[edge];
	LLVMValueRef terminator = g->nodes[c->from].terminator;
	if (LLVMIsAIndirectBrInst(terminator)) {
		if (e->is_started[c->to])
			return NULL;
		e->is_started[c->to] = true;
		return g->m->host->first_insertion(g->nodes[c->to].block);
	}
	if (LLVMIsACallBrInst(terminator))
		return LLVMGetBasicBlockTerminator(g->m->host->split_edge(terminator, g->successors[edge]));
	return path_place_on_edge(g, edge);
}

static struct error *emit_start(struct emitter *e, uint32_t edge)
{
	struct path_graph *g = e->b->g;
	const uint32_t to = g->cfg.edges[edge].to;
	LLVMValueRef place = place_after_end(e, edge);
	e->has_point[edge] = true;
	if (!place)
		return NULL;
	struct trace_asm a;
	ir_position_before(e->builder, place);
	trace_asm_begin(&a, e->b);
	if (stands_aside(e, edge, place)) {
		add_op(e, &a, start_op(e, to));
		e->has_point[edge] = false;
	} else {
		add_start(e, &a, to);
	}
	return trace_asm_end(&a, e->builder);
}

/*
 * Something besides getting on to the next block. Where machine code has nothing at all, the point of a node may stand where the
 * next node begins, to which others jump: the last point at an address holds, so the next node must have its own.
 */
static bool does_something(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsAPHINode(i) || LLVMIsALandingPadInst(i) || LLVMIsADbgInfoIntrinsic(i))
			continue;
		return !LLVMIsAUnreachableInst(i) && (!LLVMIsABranchInst(i) || LLVMIsConditional(i));
	}
	return false;
}

/* Control never comes there. Code would be the last of the function, and the point behind it in another one. */
static bool is_unreachable(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(i) || LLVMIsALandingPadInst(i))
		i = LLVMGetNextInstruction(i);
	return LLVMIsAUnreachableInst(i);
}

static struct error *emit_edge(struct emitter *e, uint32_t edge)
{
	const struct cfg_edge *c = &e->b->g->cfg.edges[edge];
	e->has_point[edge] = is_unreachable(e->b->g->nodes[c->to].block);
	if (e->has_point[edge])
		return NULL;
	if (c->cut == CFG_KEPT)
		return emit_kept(e, edge);
	if (c->cut == CFG_CUT_ITERATION)
		return emit_round(e, edge);
	return cfg_edge_ends(c) ? emit_ending(e, edge) : emit_start(e, edge);
}

static struct error *emit_node_end(struct emitter *e, uint32_t node)
{
	struct path_graph *g = e->b->g;
	if (!cfg_node_ends(&g->cfg, node) || g->cfg.first_edge[node] == g->cfg.first_edge[node + 1])
		return NULL;
	struct trace_asm a;
	ir_position_before(e->builder, g->nodes[node].end);
	trace_asm_begin(&a, e->b);
	add_end(e, &a, node, &e->b->f->placement.node_ends[node]);
	trace_asm_point(&a, WM1_POINT_END, node);
	return trace_asm_end(&a, e->builder);
}

/* Points of the nodes that need one, in front of what stands in them; after all other code of ours. */
static struct error *emit_labels(struct emitter *e)
{
	struct path_graph *g = e->b->g;
	struct error *err = NULL;
	bool *needs = arena_calloc(g->scratch, g->cfg.node_count, sizeof *needs);
	if (!needs)
		return &error_no_memory;
	for (uint32_t i = 0; i < g->cfg.edge_count; i++)
		needs[g->cfg.edges[i].to] |= !e->has_point[i];
	for (uint32_t n = 1; n < g->cfg.node_count && !err; n++) {
		if (!needs[n] || !does_something(g->nodes[n].block))
			continue;
		struct trace_asm a;
		ir_position_before(e->builder, g->m->host->first_insertion(g->nodes[n].block));
		trace_asm_begin(&a, e->b);
		trace_asm_point(&a, WM1_POINT_NODE, n);
		err = trace_asm_end(&a, e->builder);
	}
	return err;
}

static struct error *emit_paths(struct emitter *e)
{
	struct path_graph *g = e->b->g;
	struct error *err = NULL;
	for (uint32_t n = 0; n < g->cfg.node_count && !err; n++)
		err = emit_node_end(e, n);
	for (uint32_t i = 0; i < g->cfg.edge_count && !err; i++)
		err = emit_edge(e, i);
	return err ? err : emit_labels(e);
}

/* ---- coverage ---- */

/* point: TRACE_NO_POINT of the function's entry. place: of the frame's memory for it, or none. */
static struct error *emit_covered(struct emitter *e, LLVMValueRef before, uint32_t byte, uint32_t point, uint32_t place)
{
	const struct tracemeta_variant *v = e->b->variant;
	struct trace_asm a;
	ir_position_before(e->builder, before);
	trace_asm_begin(&a, e->b);
	trace_asm_constant(&a, "mov", 1, 1, bytes_at(e, e->b->f->m->coverage, byte));
	if (place != OWN_POINT_NONE && v->local_bits == 8)
		trace_asm_constant(&a, "mov", 1, 1, field(e, v->local_off + place));
	else if (place != OWN_POINT_NONE)
		trace_asm_constant(&a, "or", 1, 1u << place % 8, field(e, v->local_off + place / 8));
	if (point != TRACE_NO_POINT)
		trace_asm_point(&a, WM1_POINT_COVERED, point);
	return trace_asm_end(&a, e->builder);
}

static struct error *emit_coverage(struct emitter *e)
{
	struct path_graph *g = e->b->g;
	const struct tracemeta_function *f = &e->b->f->meta;
	const uint8_t scheme = e->b->variant->scheme;
	const struct coverage_points *own = &e->b->f->own[tracemeta_own_coverage(scheme)];
	struct error *err = NULL;
	if (tracemeta_covers_entry(f, scheme))
		err = emit_covered(e, ir_after_allocas(g->function), f->function_off, TRACE_NO_POINT, OWN_POINT_NONE);
	for (uint32_t i = 0; scheme & WM1_SCHEME_CALLS && i < f->call_count && !err; i++)
		err = emit_covered(e, e->b->calls[i], f->calls_off + i, i, own->places[i]);
	for (uint32_t n = 0; scheme & WM1_SCHEME_BLOCKS && n < g->cfg.node_count && !err; n++) {
		LLVMBasicBlockRef block = g->nodes[n].block;
		LLVMValueRef at = n ? g->m->host->first_insertion(block) : ir_after_allocas(g->function);
		err = emit_covered(e, at, f->blocks_off + n, n, own->places[n]);
	}
	return err;
}

/* ---- entry ---- */

/* Volatile (its last operand), so that it stays in its place; the code generator makes stores of 16 bytes of it where it may. */
static void clear_local(struct emitter *e)
{
	const struct tracemeta_variant *v = e->b->variant;
	LLVMValueRef length = LLVMConstInt(e->i32, v->frame_bytes - v->local_off, 0);
	LLVMValueRef zero = LLVMConstInt(e->i8, 0, 0);
	LLVMValueRef clear = LLVMBuildMemSet(e->builder, field(e, v->local_off), zero, length, 1);
	LLVMSetOperand(clear, 3, LLVMConstInt(LLVMInt1TypeInContext(e->b->g->m->context), 1, 0));
}

static struct error *emit_entry(struct emitter *e)
{
	const struct tracemeta_variant *v = e->b->variant;
	struct path_graph *g = e->b->g;
	struct trace_asm a;
	const bool has_start = traces_paths(e) && start_op(e, 0)->kind != PLACE_NOTHING;
	const bool has_local = v->local_off != TRACE_NO_OFFSET;
	/* Inlined code begins anywhere: what another activation has covered ends here. */
	const bool is_marked = covers_points(e) && !e->b->f->m->path_options.is_final;
	if (!e->record && !is_marked && !(traces_paths(e) && g->cfg.node_count > 1))
		return NULL;
	ir_position_before(e->builder, ir_after_allocas(g->function));
	if (has_local) {
		trace_asm_begin(&a, e->b);
		trace_asm_point(&a, WM1_POINT_ENTRY, 0);
		struct error *err = trace_asm_end(&a, e->builder);
		if (err)
			return err;
		clear_local(e);
	}
	trace_asm_begin(&a, e->b);
	if (!has_local && (has_start || v->ring_slots || is_marked))
		trace_asm_point(&a, WM1_POINT_ENTRY, 0);
	if (e->record)
		trace_asm_frame(&a, e->record);
	if (v->ring_slots)
		trace_asm_constant(&a, "mov", 4, 0, field(e, v->count_off));
	if (traces_paths(e))
		add_start(e, &a, 0);
	return trace_asm_end(&a, e->builder);
}

/* Its size, and no array: those get stack protectors, and are next to what overflows. */
static LLVMTypeRef record_type(const struct emitter *e)
{
	LLVMContextRef context = e->b->g->m->context;
	LLVMTypeRef parts[5];
	unsigned count = 0;
	uint32_t bytes = e->b->variant->frame_bytes;
	if (bytes / 16)
		parts[count++] = LLVMIntTypeInContext(context, 128 * (bytes / 16));
	for (uint32_t part = 8; part; part /= 2)
		if (bytes & part)
			parts[count++] = LLVMIntTypeInContext(context, 8 * part);
	return LLVMStructTypeInContext(context, parts, count, 1);
}

static void add_record(struct emitter *e)
{
	const struct tracemeta_variant *v = e->b->variant;
	const struct host *host = e->b->g->m->host;
	const uint32_t integer_bytes = 1 << 19; /* fewer than LLVM's widest one has */
	if (!v->frame_bytes)
		return;
	if (e->b->f->m->path_options.is_final)
		host->drop_needless_protector(e->b->g->function);
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(e->b->g->function);
	LLVMPositionBuilderBefore(e->builder, LLVMGetFirstInstruction(entry));
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
	LLVMTypeRef type = v->frame_bytes < integer_bytes ? record_type(e) : LLVMArrayType2(e->i8, v->frame_bytes);
	e->record = LLVMBuildAlloca(e->builder, type, "wm1.frame");
	host->mark_own_memory(e->record);
	unsigned alignment = v->sum_bytes > 4 ? 8 : v->ring_slots ? 4 : v->sum_bytes ? v->sum_bytes : 1;
	LLVMSetAlignment(e->record, alignment);
}

/* ---- all of it ---- */

struct error *trace_emit(struct trace_body *b)
{
	struct path_graph *g = b->g;
	struct emitter e = {.b = b};
	e.i8 = LLVMInt8TypeInContext(g->m->context);
	e.i32 = LLVMInt32TypeInContext(g->m->context);
	e.has_point = arena_calloc(g->scratch, g->cfg.edge_count + 1, sizeof *e.has_point);
	e.is_started = arena_calloc(g->scratch, g->cfg.node_count, sizeof *e.is_started);
	if (!e.has_point || !e.is_started)
		return &error_no_memory;
	e.builder = LLVMCreateBuilderInContext(g->m->context);
	add_record(&e);
	struct error *err = emit_coverage(&e);
	if (!err && traces_paths(&e) && g->cfg.node_count > 1)
		err = emit_paths(&e);
	if (!err)
		err = emit_entry(&e);
	LLVMDisposeBuilder(e.builder);
	return err;
}
