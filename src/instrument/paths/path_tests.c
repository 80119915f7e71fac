/*
 * path_tests.c - what the branches of a function test: the place in the source of each condition's innermost comparison, and
 * which way out of the block means that it holds.
 *
 * A condition is followed to what the source wrote: through `!` (xor), conversions of truth values, and a phi that joins one
 * test with constants, as clang makes of `while (a && b)`:
 *
 *      head: br a, rhs, end      rhs: b = ...; br end      end: br phi [false, head], [b, rhs]      end tests b, if it comes from rhs
 *
 * Which way is the true one is known where the code is as clang's front end made it: at the source stage, and in functions that
 * no optimization is for (optnone, as at -O0). An optimizer turns branches round. What it cannot change is what the question "is it
 * zero?" means for a value that the source has at that place: the variable or the call of `if (a && !f())`.
 */
#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

#include "base/order.h"
#include "base/text.h"
#include "instrument/paths/path.h"

enum {
	FOLLOW_MAX = 16, /* instructions from a branch to what it tests */
};

VEC_DECLARE(test_vec, struct pathmeta_test);

/* A test and what distinguishes it from others. */
struct found {
	uint32_t index; /* in the vector */
	LLVMMetadataRef inlined_at;
	struct pathmeta_test *test;
};

struct base {
	LLVMValueRef value;
	LLVMBasicBlockRef from; /* of the last phi: where its value comes from; NULL without one */
	bool is_negated;
};

static bool is_truth(LLVMValueRef value)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
}

static bool is_null(LLVMValueRef value)
{
	return LLVMIsConstant(value) && LLVMIsNull(value);
}

/* The only value of a phi that is no constant, and the block it comes from. */
static LLVMValueRef only_incoming(LLVMValueRef phi, LLVMBasicBlockRef *ret_from)
{
	LLVMValueRef only = NULL;
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);
		if (LLVMIsConstant(value))
			continue;
		if (only)
			return NULL;
		only = value;
		*ret_from = LLVMGetIncomingBlock(phi, i);
	}
	return only;
}

/* The operand of a conversion or of __builtin_expect; NULL: it is neither. */
static LLVMValueRef unconverted(const struct path_graph *g, LLVMValueRef x)
{
	bool is_expect = LLVMIsACallInst(x) && path_is_intrinsic(x) &&
			 LLVMGetIntrinsicID(LLVMGetCalledValue(x)) == g->m->kinds.expect;
	return is_expect || LLVMIsAZExtInst(x) || LLVMIsASExtInst(x) ? LLVMGetOperand(x, 0) : NULL;
}

/* `x != 0` of a truth value x that was converted: x; NULL: it is no such comparison. */
static LLVMValueRef converted(const struct path_graph *g, LLVMValueRef compare, bool *ret_is_equal)
{
	LLVMIntPredicate predicate = LLVMGetICmpPredicate(compare);
	LLVMValueRef x = LLVMIsAInstruction(LLVMGetOperand(compare, 0));
	*ret_is_equal = predicate == LLVMIntEQ;
	if (!x || (predicate != LLVMIntEQ && predicate != LLVMIntNE) || !is_null(LLVMGetOperand(compare, 1)))
		return NULL;
	for (int i = 0; i < FOLLOW_MAX && x; i++) {
		LLVMValueRef from = unconverted(g, x);
		if (from && is_truth(from))
			return from;
		x = from ? LLVMIsAInstruction(from) : NULL;
	}
	return NULL;
}

/* One step of the way from a condition to what it tests; false at its end. */
static bool follow_once(const struct path_graph *g, struct base *b)
{
	LLVMValueRef next = NULL;
	bool is_equal = false;
	if (!LLVMIsAInstruction(b->value))
		return false;
	switch (LLVMGetInstructionOpcode(b->value)) {
	case LLVMXor:
		if (is_truth(b->value) && LLVMIsAConstantInt(LLVMGetOperand(b->value, 1)) &&
		    !LLVMIsNull(LLVMGetOperand(b->value, 1))) {
			next = LLVMGetOperand(b->value, 0);
			b->is_negated = !b->is_negated;
		}
		break;
	case LLVMICmp:
		next = converted(g, b->value, &is_equal);
		b->is_negated ^= next && is_equal;
		break;
	case LLVMFreeze:
		next = LLVMGetOperand(b->value, 0);
		break;
	case LLVMPHI:
		next = only_incoming(b->value, &b->from);
		break;
	default:
		break;
	}
	if (!next)
		return false;
	b->value = next;
	return true;
}

static bool precedes(LLVMMetadataRef a, LLVMMetadataRef b)
{
	unsigned x = LLVMDILocationGetLine(a), y = LLVMDILocationGetLine(b);
	return x < y || (x == y && LLVMDILocationGetColumn(a) < LLVMDILocationGetColumn(b));
}

/*
 * Where a comparison stands. Clang may compare a value with zero at the place of what came before it, as at the `&&` in front of it: what
 * is compared stands at its own place, behind that, and no instruction from there on to the comparison is where that is.
 */
static LLVMMetadataRef location_of(LLVMValueRef compare)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(compare);
	LLVMValueRef value = NULL;
	if (LLVMIsAICmpInst(compare) && LLVMGetICmpPredicate(compare) == LLVMIntNE &&
	    is_null(LLVMGetOperand(compare, 1)))
		value = LLVMIsAInstruction(LLVMGetOperand(compare, 0));
	while (value && (LLVMIsAZExtInst(value) || LLVMIsASExtInst(value)))
		value = LLVMIsAInstruction(LLVMGetOperand(value, 0));
	if (!value || LLVMIsAPHINode(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(compare))
		return location;
	LLVMMetadataRef own = LLVMInstructionGetDebugLoc(value);
	if (!own || !location || !precedes(location, own))
		return location;
	for (LLVMValueRef i = value; i && i != compare; i = LLVMGetNextInstruction(i))
		if (LLVMInstructionGetDebugLoc(i) == location)
			return location;
	return own;
}

/* Where what a branch tests stands; NULL when it is not known, or computed elsewhere. */
static LLVMMetadataRef find_base(const struct path_graph *g, LLVMValueRef branch, struct base *ret)
{
	*ret = (struct base){.value = LLVMGetCondition(branch)};
	for (int i = 0; i < FOLLOW_MAX && follow_once(g, ret); i++)
		;
	LLVMValueRef i = LLVMIsAInstruction(ret->value);
	if (!i || LLVMIsAPHINode(i))
		return NULL;
	LLVMBasicBlockRef block = ret->from ? ret->from : LLVMGetInstructionParent(branch);
	if (LLVMGetInstructionParent(i) != block)
		return NULL;
	LLVMMetadataRef location = location_of(i);
	return location && LLVMDILocationGetLine(location) ? location : NULL;
}

static const char *callee_name(const struct path_graph *g, LLVMValueRef call, unsigned *ret_len)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t len_bytes = 0;
	if (!LLVMIsAFunction(callee))
		return NULL;
	LLVMMetadataRef subprogram = LLVMGetSubprogram(callee);
	if (subprogram)
		return g->m->host->plain_name(subprogram, ret_len);
	const char *name = LLVMGetValueName2(callee, &len_bytes);
	*ret_len = (unsigned)len_bytes;
	return name;
}

static enum pathmeta_compare compare_integers(LLVMValueRef base)
{
	bool is_zero = is_null(LLVMGetOperand(base, 1));
	switch (LLVMGetICmpPredicate(base)) {
	case LLVMIntEQ:
		return PATHMETA_COMPARE_EQUAL;
	case LLVMIntNE:
		return is_zero ? PATHMETA_COMPARE_TRUTH : PATHMETA_COMPARE_UNEQUAL;
	case LLVMIntULT:
	case LLVMIntSLT:
		return PATHMETA_COMPARE_LESS;
	case LLVMIntULE:
	case LLVMIntSLE:
		return PATHMETA_COMPARE_LESS_EQUAL;
	case LLVMIntUGT:
	case LLVMIntSGT:
		return PATHMETA_COMPARE_GREATER;
	case LLVMIntUGE:
	case LLVMIntSGE:
		return PATHMETA_COMPARE_GREATER_EQUAL;
	}
	return PATHMETA_COMPARE_UNKNOWN;
}

static enum pathmeta_compare compare_floats(LLVMValueRef base)
{
	bool is_zero = is_null(LLVMGetOperand(base, 1));
	switch (LLVMGetFCmpPredicate(base)) {
	case LLVMRealOEQ:
		return PATHMETA_COMPARE_EQUAL;
	case LLVMRealUNE:
		return is_zero ? PATHMETA_COMPARE_TRUTH : PATHMETA_COMPARE_UNEQUAL;
	case LLVMRealOLT:
		return PATHMETA_COMPARE_LESS;
	case LLVMRealOLE:
		return PATHMETA_COMPARE_LESS_EQUAL;
	case LLVMRealOGT:
		return PATHMETA_COMPARE_GREATER;
	case LLVMRealOGE:
		return PATHMETA_COMPARE_GREATER_EQUAL;
	default:
		return PATHMETA_COMPARE_UNKNOWN;
	}
}

static enum pathmeta_compare compare_of(LLVMValueRef base)
{
	switch (LLVMGetInstructionOpcode(base)) {
	case LLVMICmp:
		return compare_integers(base);
	case LLVMFCmp:
		return compare_floats(base);
	case LLVMTrunc: /* bool in memory */
	case LLVMCall:
	case LLVMInvoke:
		return PATHMETA_COMPARE_TRUTH;
	default:
		return PATHMETA_COMPARE_UNKNOWN;
	}
}

/* The value's first operand that is no constant. */
static LLVMValueRef first_operand(LLVMValueRef value)
{
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMICmp:
	case LLVMFCmp:
		return LLVMGetOperand(value, LLVMIsConstant(LLVMGetOperand(value, 0)) ? 1 : 0);
	case LLVMAnd:
	case LLVMTrunc:
	case LLVMFreeze:
	case LLVMLoad:
	case LLVMGetElementPtr:
		return LLVMGetOperand(value, 0);
	default:
		return NULL;
	}
}

/* The variable or function of the source whose value is tested first; NULL when not known. */
static struct error *name_of(struct path_graph *g, LLVMValueRef base, LLVMMetadataRef location, const char **ret)
{
	LLVMMetadataRef scope = LLVMDILocationGetScope(location);
	const char *name = NULL;
	unsigned len_bytes = 0;
	for (int i = 0; i < FOLLOW_MAX && base && !name; i++) {
		name = g->m->host->variable_name(base, scope, &len_bytes);
		if (name || !LLVMIsAInstruction(base))
			break;
		if (LLVMIsACallInst(base) || LLVMIsAInvokeInst(base)) {
			name = callee_name(g, base, &len_bytes);
			break;
		}
		base = unconverted(g, base) ?: first_operand(base);
	}
	*ret = name && len_bytes ? arena_strndup(&g->m->meta.arena, name, len_bytes) : NULL;
	return name && len_bytes && !*ret ? &error_no_memory : NULL;
}

/* The block's node; NO_EDGE when it has none. */
static uint32_t node_of(const struct path_graph *g, LLVMBasicBlockRef block)
{
	for (uint32_t n = 0; n < g->cfg.node_count; n++)
		if (g->nodes[n].block == block)
			return n;
	return NO_EDGE;
}

static bool is_as_written(const struct path_graph *g, LLVMMetadataRef location)
{
	if (!g->m->options->is_final)
		return true;
	return location && !LLVMDILocationGetInlinedAt(location) && ir_has_attribute(g->function, g->m->kinds.optnone);
}

/* A value of the source: the variable whose memory is read, or the call. NULL: neither. */
static LLVMValueRef read_or_called(LLVMValueRef value)
{
	if (LLVMIsALoadInst(value)) {
		LLVMValueRef from = LLVMGetOperand(value, 0);
		return LLVMIsAGlobalVariable(from) || LLVMIsAAllocaInst(from) ? from : NULL;
	}
	return LLVMIsACallInst(value) || LLVMIsAInvokeInst(value) ? value : NULL;
}

/* What is asked to be zero or not, if it stands at that very place in the source; NULL: something else is asked. */
static LLVMValueRef find_value(LLVMValueRef base, LLVMMetadataRef location, bool *ret_is_equal)
{
	LLVMValueRef value = base;
	*ret_is_equal = false;
	if (LLVMIsAICmpInst(base)) {
		LLVMIntPredicate predicate = LLVMGetICmpPredicate(base);
		if ((predicate != LLVMIntEQ && predicate != LLVMIntNE) || !is_null(LLVMGetOperand(base, 1)))
			return NULL;
		*ret_is_equal = predicate == LLVMIntEQ;
		value = LLVMGetOperand(base, 0);
	} else if (LLVMIsATruncInst(base) && is_truth(base)) { /* bool in memory */
		value = LLVMGetOperand(base, 0);
	}
	if (!LLVMIsAInstruction(value) || LLVMInstructionGetDebugLoc(value) != location)
		return NULL;
	return read_or_called(value);
}

/* Whether the true way, as the outcomes have it, is that of the condition's being false. */
static bool has_true_last(const struct path_graph *g, uint32_t node)
{
	uint32_t first = g->cfg.first_edge[node];
	return (g->meta.outcomes[first].kind == PATHMETA_TRUE) != (g->successors[first] == 0);
}

static struct error *make_test(struct path_graph *g, struct path_line_cache *cache, uint32_t node,
			       struct pathmeta_test *ret, LLVMMetadataRef *ret_inlined_at)
{
	struct base base;
	LLVMMetadataRef location = find_base(g, g->nodes[node].terminator, &base);
	*ret = (struct pathmeta_test){.node = node, .from = NO_EDGE};
	if (!location)
		return NULL;
	if (base.from) {
		ret->from = node_of(g, base.from);
		if (ret->from == NO_EDGE)
			return NULL;
		ret->flags |= PATHMETA_TEST_JOINED;
	}
	bool is_equal = false;
	LLVMValueRef value = NULL;
	if (is_as_written(g, location))
		ret->flags |= PATHMETA_TEST_AS_WRITTEN;
	else
		value = find_value(base.value, location, &is_equal);
	ret->compare = (uint8_t)compare_of(base.value);
	if (value) {
		ret->flags |= PATHMETA_TEST_VALUE;
		ret->compare = PATHMETA_COMPARE_TRUTH;
		base.is_negated ^= is_equal;
	}
	if (base.is_negated != has_true_last(g, node))
		ret->flags |= PATHMETA_TEST_NEGATED;
	*ret_inlined_at = LLVMDILocationGetInlinedAt(location);
	struct error *err = name_of(g, value ?: base.value, location, &ret->name);
	return err ? err : path_line_of(g, cache, location, &ret->at);
}

/* A switch over characters. */
static bool is_of_character(LLVMValueRef terminator)
{
	LLVMValueRef value = LLVMGetOperand(terminator, 0);
	LLVMTypeRef type = LLVMTypeOf(value);
	if (LLVMIsAZExtInst(value) || LLVMIsASExtInst(value))
		type = LLVMTypeOf(LLVMGetOperand(value, 0));
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 8;
}

/* ---- tests of one line ---- */

static int by_address(const char *a, const char *b)
{
	return compare_u64((uintptr_t)a, (uintptr_t)b);
}

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	return compare_u64(x->test->at.line, y->test->at.line) ?: by_address(x->test->at.file, y->test->at.file) ?:
	       compare_u64(x->test->at.column, y->test->at.column) ?:
	       compare_u64((uintptr_t)x->inlined_at, (uintptr_t)y->inlined_at) ?: compare_u64(x->index, y->index);
}

static bool is_as_written_test(const struct found *f)
{
	return f->test->flags & PATHMETA_TEST_AS_WRITTEN;
}

/* The tests have one place in the source and still differ: tests of a macro's parameters all have the macro's place. */
static bool are_different(const struct found *a, const struct found *b)
{
	if (a->test->at.column != b->test->at.column)
		return true;
	if (a->inlined_at == b->inlined_at && is_as_written_test(a) && is_as_written_test(b))
		return true;
	return a->test->name && b->test->name && !text_equal(a->test->name, b->test->name);
}

/* Those of one place whose order is known. */
static void number_place(struct found *found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_as_written_test(&found[i]))
			return;
	}
	for (size_t i = 0; i < count; i++) {
		found[i].test->number = (uint32_t)i;
		found[i].test->count = (uint32_t)count;
	}
}

static void mark_line(struct found *found, size_t count)
{
	bool is_one_of = false;
	for (size_t i = 1; i < count; i++)
		is_one_of |= are_different(&found[i - 1], &found[i]);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && found[end].test->at.column == found[i].test->at.column &&
				  found[end].inlined_at == found[i].inlined_at;)
			end++;
		number_place(&found[i], end - i);
	}
	for (size_t i = 0; i < count && is_one_of; i++)
		found[i].test->flags |= PATHMETA_TEST_ONE_OF;
}

static void mark_lines(struct found *found, size_t count)
{
	if (count)
		qsort(found, count, sizeof *found, compare_found);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && found[end].test->at.line == found[i].test->at.line &&
				  found[end].test->at.file == found[i].test->at.file;)
			end++;
		mark_line(&found[i], end - i);
	}
}

static struct error *add_tests(struct path_graph *g, struct test_vec *tests, struct found *found, size_t *ret_found)
{
	struct path_line_cache cache = {0};
	struct error *err = NULL;
	for (uint32_t n = 0; n < g->cfg.node_count && !err; n++) {
		LLVMValueRef end = g->nodes[n].terminator;
		struct pathmeta_test test = {.node = n, .from = NO_EDGE};
		LLVMMetadataRef inlined_at = NULL;
		if (g->cfg.first_edge[n + 1] - g->cfg.first_edge[n] < 2)
			continue;
		if (LLVMGetInstructionOpcode(end) == LLVMBr && LLVMIsConstant(LLVMGetCondition(end)))
			test.flags = PATHMETA_TEST_CONSTANT;
		else if (LLVMGetInstructionOpcode(end) == LLVMBr)
			err = make_test(g, &cache, n, &test, &inlined_at);
		else if (LLVMGetInstructionOpcode(end) == LLVMSwitch)
			test.flags = (is_of_character(end) ? PATHMETA_TEST_CHARACTER : 0) |
				     (is_as_written(g, LLVMInstructionGetDebugLoc(end)) ? PATHMETA_TEST_AS_WRITTEN : 0);
		if (err || (!test.at.line && !test.flags))
			continue;
		if (test.at.line)
			found[(*ret_found)++] = (struct found){(uint32_t)tests->count, inlined_at, NULL};
		err = test_vec_append(tests, test);
	}
	return err;
}

struct error *path_tests_add(struct path_graph *g)
{
	struct test_vec tests = {0};
	struct found *found = arena_calloc(g->scratch, (size_t)g->cfg.node_count + 1, sizeof *found);
	size_t count = 0;
	struct error *err = found ? add_tests(g, &tests, found, &count) : &error_no_memory;
	for (size_t i = 0; i < count && !err; i++)
		found[i].test = &tests.items[found[i].index];
	if (!err)
		mark_lines(found, count);
	if (!err) {
		g->meta.tests = arena_copy(&g->m->meta.arena, tests.items, tests.count, sizeof *g->meta.tests);
		g->meta.test_count = (uint32_t)tests.count;
		err = g->meta.tests ? NULL : &error_no_memory;
	}
	test_vec_deinit(&tests);
	return err;
}
