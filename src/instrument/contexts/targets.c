/*
 * targets.c - who is called through a pointer: likely targets are compared in front of the call, and what is equal is called directly.
 *
 *      call *p        becomes        if (p == f)  call f        an edge, encoded as any other
 *                                    else if (p == g)  call g
 *                                    else  call *p              as before: it pushes, or puts its push off
 *
 * The targets of a call are a guess, from what is nearest to the pointer:
 *
 *      vtable    functions at the same place of any virtual table
 *      field     functions that are stored to the same field of the same structure, or stand there in an initializer (tags of TBAA name
 *                both: Lu and Hu, "Where Does It Go? Refining Indirect-Call Targets with Multi-Layer Type Analysis", CCS 2019)
 *      place     for a pointer of an array in a structure, which no tag names: functions that stand in an initializer at that place
 *      type      functions of the pointer's type whose address is taken
 *
 * A target that is missing costs the comparisons, one too many a comparison; contexts are right all the same. Calls are taken by
 * how much they save, until the room is used up. A target from which the caller can be reached would only close a cycle, whose calls push
 * in any case. For tests, the environment variable WAYMARK_TARGETS is "none", or "all" of the calls that have a target.
 */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Target.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

enum {
	MOST_TARGETS = 6,   /* of one call */
	MOST_OF_TYPE = 4,   /* more functions of one type say nothing */
	TARGET_BYTES = 45,  /* code of a target: comparison, call, addend */
	LEAST_BYTES = 4096, /* room for them in any program; and 3 % of the code */
	INSTRUCTIONS_A_BYTE = 8,
	MOST_DEPTH = 4, /* of structures within structures, of values that are chosen from */
};

/* Instructions: of a comparison, of an addend, of a push with the entry of its callee, of one that is put off, and where it is pushed. */
static const double COMPARE = 2, ADDEND = 2, PUSH = 18, DEFER = 6.5, DEFER_PUSHED = 50;

/* Runs of a call below which it stays as it is. */
static const double LEAST_RUNS = 0.25;

/* A function in a field: of a structure (base is its name), of any (""), or of a virtual table ("vtable"). */
struct field {
	const char *base;
	uint64_t off;
	uint32_t function;
	uint32_t uses; /* stores and initializers that have it */
};
VEC_DECLARE(field_vec, struct field);

/* A call and its targets, at most MOST_TARGETS. */
struct guess {
	uint32_t site;
	uint32_t count;
	uint32_t total; /* with those that found no room */
	uint32_t targets[MOST_TARGETS];
	uint32_t uses[MOST_TARGETS];
	double saved;
};
VEC_DECLARE(guess_vec, struct guess);

struct targets {
	struct program *p;
	LLVMTargetDataRef layout;
	unsigned tbaa;
	struct field_vec fields; /* sorted by_field, each once */
	struct guess_vec guesses;
	/* edges that were added: next of each, first of each function */
	uint32_t *first_added, *next_added, *added_callee;
	uint32_t added_count;
	uint32_t *work;
	bool *reached;
	bool all;
};

static int by_field(const void *a, const void *b)
{
	const struct field *x = a, *y = b;
	int order = strcmp(x->base, y->base);
	if (order)
		return order;
	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* A function that a comparison may lead to: the definition in this module runs, and its entry is known. */
static bool is_target(const struct program *p, uint32_t index)
{
	const struct function *f = &p->functions.items[index];
	return f->is_address_taken && !f->is_opaque && p->host->is_final(f->value) &&
	       (!f->is_observable || entry_is_possible(p, index));
}

static struct error *add_field(struct targets *t, const char *base, uint64_t off, LLVMValueRef value)
{
	const uint32_t index = LLVMIsAFunction(value) ? program_find(t->p, value) : NO_INDEX;
	if (index == NO_INDEX || !is_target(t->p, index))
		return NULL;
	return field_vec_append(&t->fields, (struct field){base, off, index, 1});
}

/* ---- initializers ---- */

/* The name of a structure as tags have it; NULL: it has none. */
static const char *structure_name(struct targets *t, LLVMTypeRef type)
{
	const char *name = LLVMGetStructName(type);
	if (!name || strncmp(name, "struct.", 7) != 0)
		return NULL;
	name += 7;
	/* A number is LLVM's own, where two modules had the name. */
	const char *dot = strrchr(name, '.');
	size_t len_bytes =
		dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) ? (size_t)(dot - name) : strlen(name);
	return arena_strndup(&t->p->arena, name, len_bytes);
}

/* A structure around the one at work, and the place of that in it. */
struct around {
	const struct around *next;
	const char *name;
	uint64_t off;
	bool is_structure;
};

static struct error *walk_initializer(struct targets *t, LLVMValueRef value, const struct around *around,
				      unsigned depth);

static struct error *walk_member(struct targets *t, LLVMValueRef member, uint64_t off, const struct around *around,
				 unsigned depth)
{
	struct error *err = NULL;
	if (LLVMIsAFunction(member)) {
		for (; around && !err; off += around->off, around = around->next) {
			if (around->name)
				err = add_field(t, around->name, off, member);
			if (!err && around->is_structure)
				err = add_field(t, "", off, member);
		}
		return err;
	}
	const struct around inner = {.next = around, .off = off};
	return depth < MOST_DEPTH ? walk_initializer(t, member, &inner, depth + 1) : NULL;
}

/* around: begins with one for this value, whose name is still to be found and whose off is its place in the next. */
static struct error *walk_initializer(struct targets *t, LLVMValueRef value, const struct around *around,
				      unsigned depth)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	struct error *err = NULL;
	if (LLVMIsAConstantStruct(value)) {
		const struct around here = {around->next, structure_name(t, type), around->off, true};
		const unsigned count = LLVMCountStructElementTypes(type);
		for (unsigned i = 0; i < count && !err; i++)
			err = walk_member(t, LLVMGetOperand(value, i), LLVMOffsetOfElement(t->layout, type, i), &here,
					  depth);
	} else if (LLVMIsAConstantArray(value)) {
		const uint64_t len_bytes = LLVMABISizeOfType(t->layout, LLVMGetElementType(type));
		const int count = LLVMGetNumOperands(value);
		for (int i = 0; i < count && !err; i++)
			err = walk_member(t, LLVMGetOperand(value, (unsigned)i), (uint64_t)i * len_bytes, around,
					  depth);
	}
	return err;
}

/* A table begins with two words that are no functions; objects point behind them. */
static struct error *walk_vtable(struct targets *t, LLVMValueRef value)
{
	struct error *err = NULL;
	const int tables = LLVMIsAConstantStruct(value) ? LLVMGetNumOperands(value) : 0;
	for (int k = 0; k < tables; k++) {
		LLVMValueRef table = LLVMGetOperand(value, (unsigned)k);
		const int count = LLVMIsAConstantArray(table) ? LLVMGetNumOperands(table) : 0;
		for (int i = 2; i < count && !err; i++)
			err = add_field(t, "vtable", 8 * (uint64_t)(i - 2), LLVMGetOperand(table, (unsigned)i));
	}
	return err;
}

static struct error *walk_globals(struct targets *t)
{
	static const char prefix[] = "_ZTV";
	struct error *err = NULL;
	for (LLVMValueRef g = LLVMGetFirstGlobal(t->p->module); g && !err; g = LLVMGetNextGlobal(g)) {
		LLVMValueRef value = LLVMGetInitializer(g);
		const struct around outermost = {0};
		size_t len_bytes;
		const char *name = LLVMGetValueName2(g, &len_bytes);
		if (!value)
			continue;
		if (len_bytes > strlen(prefix) && !memcmp(name, prefix, strlen(prefix)))
			err = walk_vtable(t, value);
		else
			err = walk_initializer(t, value, &outermost, 0);
	}
	return err;
}

/* ---- stores and loads ---- */

enum {
	MOST_OPERANDS = 1024, /* of a type's node: its name, and two for each field */
};

/* A node's first operand. */
static const char *name_of(struct targets *t, LLVMValueRef node)
{
	LLVMValueRef operands[MOST_OPERANDS];
	const unsigned count = (unsigned)LLVMGetMDNodeNumOperands(node);
	if (!count || count > sizeof operands / sizeof *operands)
		return NULL;
	LLVMGetMDNodeOperands(node, operands);
	unsigned len_bytes = 0;
	const char *text = operands[0] ? LLVMGetMDString(operands[0], &len_bytes) : NULL;
	return text && len_bytes ? arena_strndup(&t->p->arena, text, len_bytes) : NULL;
}

/* What the tag of a load or a store says: {structure, type, place}; of what is in no structure {type, type, 0}. */
static bool read_any_tag(struct targets *t, LLVMValueRef access, const char **ret_base, uint64_t *ret_off)
{
	LLVMValueRef tag = LLVMGetMetadata(access, t->tbaa);
	LLVMValueRef operands[8];
	if (!tag)
		return false;
	const unsigned count = (unsigned)LLVMGetMDNodeNumOperands(tag);
	if (count < 3 || count > sizeof operands / sizeof *operands)
		return false;
	LLVMGetMDNodeOperands(tag, operands);
	if (!operands[0] || !operands[2] || !LLVMIsAConstantInt(operands[2]))
		return false;
	const char *base = name_of(t, operands[0]);
	*ret_off = LLVMConstIntGetZExtValue(operands[2]);
	if (base)
		*ret_base = base;
	return base != NULL;
}

/* The structure and the place in it; false: it names none. */
static bool read_tag(struct targets *t, LLVMValueRef access, const char **ret_base, uint64_t *ret_off)
{
	const char *base;
	uint64_t off;
	if (!read_any_tag(t, access, &base, &off) || !strcmp(base, "any pointer") || !strcmp(base, "vtable pointer") ||
	    !strcmp(base, "omnipotent char"))
		return false;
	*ret_base = base;
	*ret_off = off;
	return true;
}

/* The place in a structure that has no name, as those of typedef have none: any structure may be it. */
static bool read_unnamed_tag(const struct targets *t, LLVMValueRef access, uint64_t *ret_off)
{
	LLVMValueRef tag = LLVMGetMetadata(access, t->tbaa);
	LLVMValueRef operands[8], names[MOST_OPERANDS];
	unsigned len_bytes = 1;
	if (!tag || LLVMGetMDNodeNumOperands(tag) < 3 || LLVMGetMDNodeNumOperands(tag) > 8)
		return false;
	LLVMGetMDNodeOperands(tag, operands);
	const unsigned count = operands[0] ? (unsigned)LLVMGetMDNodeNumOperands(operands[0]) : 0;
	if (count <= 3 || count > MOST_OPERANDS || !operands[2] || !LLVMIsAConstantInt(operands[2]))
		return false;
	LLVMGetMDNodeOperands(operands[0], names);
	if (!names[0] || !LLVMGetMDString(names[0], &len_bytes) || len_bytes)
		return false;
	*ret_off = LLVMConstIntGetZExtValue(operands[2]);
	return true;
}

/* Each function that the value may be, as far as its own function shows. */
static struct error *add_values(struct targets *t, const char *base, uint64_t off, LLVMValueRef value, unsigned depth)
{
	struct error *err = NULL;
	if (LLVMIsAFunction(value))
		return add_field(t, base, off, value);
	if (depth == MOST_DEPTH)
		return NULL;
	if (LLVMIsASelectInst(value)) {
		err = add_values(t, base, off, LLVMGetOperand(value, 1), depth + 1);
		return err ? err : add_values(t, base, off, LLVMGetOperand(value, 2), depth + 1);
	}
	if (LLVMIsAPHINode(value)) {
		const unsigned count = LLVMCountIncoming(value);
		for (unsigned i = 0; i < count && i < MOST_TARGETS && !err; i++)
			err = add_values(t, base, off, LLVMGetIncomingValue(value, i), depth + 1);
	}
	return err;
}

/* What callers of a function hand over for its parameter. */
static struct error *add_arguments(struct targets *t, const char *base, uint64_t off, LLVMValueRef function,
				   LLVMValueRef parameter)
{
	unsigned number = 0;
	while (number < LLVMCountParams(function) && LLVMGetParam(function, number) != parameter)
		number++;
	struct error *err = NULL;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use && !err; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsAInstruction(user) && ir_is_call(user) && LLVMGetCalledValue(user) == function &&
		    number < LLVMGetNumArgOperands(user))
			err = add_values(t, base, off, LLVMGetOperand(user, number), 1);
	}
	return err;
}

static bool may_be_function(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind &&
	       (LLVMIsAFunction(value) || LLVMIsAArgument(value) || LLVMIsASelectInst(value) || LLVMIsAPHINode(value));
}

static struct error *walk_stores(struct targets *t, LLVMValueRef function)
{
	struct error *err = NULL;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i)) {
			const char *base;
			uint64_t off;
			if (LLVMGetInstructionOpcode(i) != LLVMStore)
				continue;
			LLVMValueRef value = LLVMGetOperand(i, 0);
			if (!may_be_function(value) || !read_tag(t, i, &base, &off))
				continue;
			err = LLVMIsAArgument(value) ? add_arguments(t, base, off, function, value)
						     : add_values(t, base, off, value, 0);
		}
	return err;
}

static struct error *collect_fields(struct targets *t)
{
	struct error *err = walk_globals(t);
	for (size_t i = 0; i < t->p->functions.count && !err; i++)
		err = walk_stores(t, t->p->functions.items[i].value);
	if (err)
		return err;
	if (t->fields.count)
		qsort(t->fields.items, t->fields.count, sizeof *t->fields.items, by_field);
	size_t kept = 0;
	for (size_t i = 0; i < t->fields.count; i++)
		if (!kept || by_field(&t->fields.items[kept - 1], &t->fields.items[i]))
			t->fields.items[kept++] = t->fields.items[i];
		else
			t->fields.items[kept - 1].uses++;
	t->fields.count = kept;
	return NULL;
}

/* ---- the targets of a call ---- */

static bool fits(const struct program *p, LLVMValueRef call, uint32_t function)
{
	LLVMValueRef f = p->functions.items[function].value;
	return LLVMGlobalGetValueType(f) == LLVMGetCalledFunctionType(call) &&
	       LLVMGetFunctionCallConv(f) == LLVMGetInstructionCallConv(call) && p->host->may_promote(call, f);
}

/* Keeps those of most uses, in this order. */
static void add_target(const struct targets *t, struct guess *g, LLVMValueRef call, uint32_t function, uint32_t uses)
{
	uint32_t at = g->count;
	if (!fits(t->p, call, function))
		return;
	g->total++;
	while (at && g->uses[at - 1] < uses)
		at--;
	if (at == MOST_TARGETS)
		return;
	if (g->count < MOST_TARGETS)
		g->count++;
	for (uint32_t i = g->count - 1; i > at; i--) {
		g->targets[i] = g->targets[i - 1];
		g->uses[i] = g->uses[i - 1];
	}
	g->targets[at] = function;
	g->uses[at] = uses;
}

/* The place that a pointer is read from, as a constant distance from another pointer. */
static uint64_t place_of(const struct targets *t, LLVMValueRef *at)
{
	if (!LLVMIsAGetElementPtrInst(*at) || LLVMGetNumIndices(*at) != 1 ||
	    !LLVMIsAConstantInt(LLVMGetOperand(*at, 1)))
		return 0;
	const uint64_t size = LLVMABISizeOfType(t->layout, LLVMGetGEPSourceElementType(*at));
	const uint64_t index = LLVMConstIntGetZExtValue(LLVMGetOperand(*at, 1));
	*at = LLVMGetOperand(*at, 0);
	return index * size;
}

/* A pointer that is read from a virtual table, or from a field that a tag names, or from a place that none names. */
static struct field field_of(struct targets *t, LLVMValueRef load)
{
	struct field ret = {.base = ""};
	LLVMValueRef at = LLVMGetOperand(load, 0);
	const char *name;
	uint64_t off;
	if (read_tag(t, load, &ret.base, &ret.off) || read_unnamed_tag(t, load, &ret.off))
		return ret;
	ret.off = place_of(t, &at);
	if (LLVMIsALoadInst(at) && read_any_tag(t, at, &name, &off) && !strcmp(name, "vtable pointer"))
		ret.base = "vtable";
	return ret;
}

static void find_by_field(struct targets *t, struct guess *g, LLVMValueRef call)
{
	if (!LLVMIsALoadInst(LLVMGetCalledValue(call)))
		return;
	const struct field key = field_of(t, LLVMGetCalledValue(call));
	size_t low = 0, high = t->fields.count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (by_field(&t->fields.items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->fields.count; low++) {
		const struct field *f = &t->fields.items[low];
		if (f->off != key.off || strcmp(f->base, key.base) != 0)
			break;
		add_target(t, g, call, f->function, f->uses);
	}
}

static void find_by_type(const struct targets *t, struct guess *g, LLVMValueRef call)
{
	const struct pointed *type = pointed_find(t->p, LLVMGetCalledFunctionType(call));
	if (!type || type->count > MOST_OF_TYPE)
		return;
	for (uint32_t i = 0; i < t->p->functions.count; i++)
		if (t->p->functions.items[i].is_address_taken && is_target(t->p, i))
			add_target(t, g, call, i, 1);
}

/* ---- what is worth it ---- */

static void reach(struct targets *t, uint32_t function, size_t *count)
{
	if (t->reached[function])
		return;
	t->reached[function] = true;
	t->work[(*count)++] = function;
}

/* By calls that are known, those that were added here among them. */
static bool can_reach(struct targets *t, uint32_t from, uint32_t to)
{
	struct program *p = t->p;
	size_t count = 0;
	memset(t->reached, 0, p->functions.count * sizeof *t->reached);
	reach(t, from, &count);
	while (count && !t->reached[to]) {
		const uint32_t at = t->work[--count];
		const struct function *f = &p->functions.items[at];
		for (uint32_t k = 0; k < f->site_count; k++) {
			const struct site *site = &p->sites.items[f->first_site + k];
			if (site->callee != NO_INDEX)
				reach(t, site->callee, &count);
		}
		for (uint32_t a = t->first_added[at]; a; a = t->next_added[a])
			reach(t, t->added_callee[a], &count);
	}
	return t->reached[to];
}

/* Drops the targets that would close a cycle; returns how many. */
static uint32_t drop_cycles(struct targets *t, struct guess *g)
{
	const uint32_t caller = t->p->sites.items[g->site].caller;
	const uint32_t before = g->count;
	g->count = 0;
	for (uint32_t i = 0; i < before; i++) {
		const uint32_t target = g->targets[i];
		if (!t->p->functions.items[target].is_observable || !can_reach(t, target, caller))
			g->targets[g->count++] = target;
	}
	return before - g->count;
}

/* Instructions that a call saves, were all its targets equally likely; missing: those that are not compared. */
static double saving(const struct targets *t, const struct guess *g, uint32_t missing)
{
	const struct program *p = t->p;
	const uint32_t all = g->count + missing;
	double pushed = 0, after = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct function *f = &p->functions.items[g->targets[i]];
		if (f->is_observable)
			pushed += f->is_late ? f->starts : 1;
		after += COMPARE * (i + 1) + (f->is_observable ? ADDEND : 0);
	}
	LLVMValueRef call = p->sites.items[g->site].call;
	const bool defers = pointed_hardly_pushes(p, LLVMGetCalledFunctionType(call)) || passed_hardly_pushes(p, call);
	const double before = defers ? DEFER + pushed / g->count * DEFER_PUSHED : PUSH;
	return before - (after + missing * (COMPARE * g->count + before)) / all;
}

static struct error *guess(struct targets *t, uint32_t index)
{
	const struct site *site = &t->p->sites.items[index];
	const double runs = program_runs(t->p, site);
	struct guess g = {.site = index};
	if (site->kind != META_SITE_INDIRECT || site->is_must_tail || LLVMIsAConstant(LLVMGetCalledValue(site->call)))
		return NULL;
	if (!t->all && runs < LEAST_RUNS)
		return NULL;
	find_by_field(t, &g, site->call);
	if (!g.count)
		find_by_type(t, &g, site->call);
	if (!g.count)
		return NULL;
	g.saved = runs * saving(t, &g, g.total - g.count);
	if (!t->all && g.saved <= 0)
		return NULL;
	return guess_vec_append(&t->guesses, g);
}

static int by_saved(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;
	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* ---- doing it ---- */

static void add_edge(struct targets *t, uint32_t caller, uint32_t callee)
{
	const uint32_t a = ++t->added_count;
	t->added_callee[a] = callee;
	t->next_added[a] = t->first_added[caller];
	t->first_added[caller] = a;
}

static void promote(struct targets *t, const struct guess *g)
{
	struct program *p = t->p;
	const struct site *site = &p->sites.items[g->site];
	for (uint32_t i = 0; i < g->count; i++) {
		const uint32_t left = g->count - 1 - i;
		p->host->promote(site->call, p->functions.items[g->targets[i]].value, left ? 1 : 1000, left ? left : 1);
		add_edge(t, site->caller, g->targets[i]);
	}
	p->host->changed(p->host->state, p->functions.items[site->caller].value);
}

static uint64_t room_bytes(LLVMModuleRef module)
{
	return LEAST_BYTES + ir_count_instructions(module) / INSTRUCTIONS_A_BYTE;
}

static struct error *promote_best(struct targets *t)
{
	struct program *p = t->p;
	const size_t edges = t->guesses.count * MOST_TARGETS + 1;
	uint64_t room = room_bytes(p->module);
	t->work = arena_calloc(&p->arena, p->functions.count + 1, sizeof *t->work);
	t->reached = arena_calloc(&p->arena, p->functions.count + 1, sizeof *t->reached);
	t->first_added = arena_calloc(&p->arena, p->functions.count + 1, sizeof *t->first_added);
	t->next_added = arena_calloc(&p->arena, edges, sizeof *t->next_added);
	t->added_callee = arena_calloc(&p->arena, edges, sizeof *t->added_callee);
	if (!t->work || !t->reached || !t->first_added || !t->next_added || !t->added_callee)
		return &error_no_memory;
	qsort(t->guesses.items, t->guesses.count, sizeof *t->guesses.items, by_saved);
	for (size_t i = 0; i < t->guesses.count; i++) {
		struct guess *g = &t->guesses.items[i];
		const uint32_t dropped = t->all ? 0 : drop_cycles(t, g);
		const uint64_t bytes = (uint64_t)g->count * TARGET_BYTES;
		if (!g->count || (!t->all && ((dropped && saving(t, g, dropped) <= 0) || bytes > room)))
			continue;
		room -= t->all ? 0 : bytes;
		promote(t, g);
	}
	return NULL;
}

/* Not in a function that has other bodies: all have the same calls. */
static bool has_variants(const struct program *p, uint32_t function)
{
	for (size_t i = 0; i < p->variants.count; i++)
		if (p->variants.items[i].function == function)
			return true;
	return false;
}

/* Which roots would set their id late as the program is. */
static void find_late(struct program *p)
{
	for (size_t i = 0; i < p->functions.count; i++)
		p->functions.items[i].is_outer = p->functions.items[i].is_root;
	for (size_t i = 0; i < p->sites.count; i++)
		if (p->sites.items[i].callee != NO_INDEX)
			p->functions.items[p->sites.items[i].callee].is_outer = false;
	late_find(p);
	pointed_weigh(p);
}

static struct error *find(struct targets *t)
{
	struct program *p = t->p;
	find_late(p);
	struct error *err = collect_fields(t);
	for (uint32_t i = 0; i < p->sites.count && !err; i++)
		if (!has_variants(p, p->sites.items[i].caller))
			err = guess(t, i);
	if (!err && t->guesses.count)
		err = promote_best(t);
	return err;
}

struct error *targets_promote(struct program *p, bool *ret_changed)
{
	const char *wish = getenv("WAYMARK_TARGETS");
	struct targets t = {
		.p = p,
		.layout = LLVMGetModuleDataLayout(p->module),
		.tbaa = LLVMGetMDKindIDInContext(p->context, "tbaa", 4),
		.all = wish && !strcmp(wish, "all"),
	};
	*ret_changed = false;
	if (wish && !strcmp(wish, "none"))
		return NULL;
	struct error *err = find(&t);
	*ret_changed = t.added_count != 0;
	for (size_t i = 0; i < p->functions.count; i++)
		p->functions.items[i].is_outer = p->functions.items[i].is_late = false;
	field_vec_deinit(&t.fields);
	guess_vec_deinit(&t.guesses);
	return err;
}
