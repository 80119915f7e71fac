/*
 * probe.c - loads of variables at lines, before variables become registers.
 *
 * A variable in memory (llvm.dbg.declare, globals) is loaded from where it is. Of one in registers (llvm.dbg.value) each value is stored to a new
 * variable where the debug information says so, and that one is loaded at the line; making registers of variables (mem2reg) then leaves the
 * values that can reach the line. Values of different types and parts of a variable have a new variable each.
 */
#include "analyze/probe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "analyze/debug_info.h"
#include "base/text.h"

enum {
	LEVELS_MAX = 64, /* of inlining */
	PATH_MAX = 16,   /* members in a question */
	SEEN_MAX = 12,   /* variables in a message */
	BYTE_BITS = 8,
};

/* An intrinsic of debug information that says where a variable is. */
struct saying {
	LLVMValueRef call;
	LLVMMetadataRef variable, expression;
	LLVMMetadataRef scope, inlined_at;
	LLVMValueRef value;   /* llvm.dbg.value, llvm.dbg.assign; NULL: not known */
	LLVMValueRef address; /* llvm.dbg.declare, llvm.dbg.assign */
	bool has_value;       /* it says something of the value, be it that this is not known */
};
VEC_DECLARE(saying_vec, struct saying);

/* Values of one type and part of the variable. */
struct kept {
	LLVMTypeRef type;
	LLVMMetadataRef expression;
	LLVMValueRef place; /* alloca */
};
VEC_DECLARE(kept_vec, struct kept);

/* Instructions of the line, one behind the other, of one instance of its code. */
struct run {
	LLVMValueRef first, last;
	LLVMMetadataRef location; /* in the line */
	LLVMMetadataRef scope, inlined_at;
};
VEC_DECLARE(run_vec, struct run);

struct probing {
	struct code *code;
	LLVMContextRef context;
	const struct probe_question *question;
	struct arena arena;
	char *name;              /* of the variable */
	char *members[PATH_MAX]; /* of it */
	unsigned member_count;
	struct saying_vec sayings; /* of the function */
	struct run_vec runs;       /* of the function */
	LLVMBuilderRef builder;
	LLVMMetadataRef location; /* of what is built */
	struct ir_value_vec *probes;
};

/* ---- the question ---- */

static struct error *bad_question(const struct probing *p)
{
	return error_create(ERROR_ARGUMENT, "%s: a variable is needed, or members of one, such as list->first.size",
			    p->question->variable);
}

/* Behind a name, which may have scopes: space::name. */
static char *end_of_name(char *at)
{
	for (;;) {
		while (isalnum((unsigned char)*at) || *at == '_' || *at == '$')
			at++;
		if (at[0] != ':' || at[1] != ':')
			return at;
		at += 2;
	}
}

static struct error *parse(struct probing *p)
{
	char *at = arena_strdup(&p->arena, p->question->variable);
	char **name = &p->name;

	if (!at)
		return &error_no_memory;
	for (;;) {
		char *end = end_of_name(at);

		if (end == at)
			return bad_question(p);
		*name = at;
		if (!*end)
			return NULL;
		if (*end != '.' && !(*end == '-' && end[1] == '>'))
			return bad_question(p);
		if (p->member_count == PATH_MAX)
			return bad_question(p);
		at = end + (*end == '.' ? 1 : 2);
		*end = '\0';
		name = &p->members[p->member_count++];
	}
}

/* ---- what debug information says ---- */

static LLVMMetadataRef metadata_operand(LLVMValueRef call, unsigned number)
{
	return LLVMValueAsMetadata(LLVMGetOperand(call, number));
}

/* The value in metadata; NULL: it is not known, or made of several. */
static LLVMValueRef value_operand(LLVMValueRef call, unsigned number)
{
	LLVMValueRef operand = LLVMGetOperand(call, number), value;
	LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(operand));

	if (kind != LLVMLocalAsMetadataMetadataKind && kind != LLVMConstantAsMetadataMetadataKind)
		return NULL;
	LLVMGetMDNodeOperands(operand, &value);
	return LLVMIsUndef(value) || LLVMIsPoison(value) ? NULL : value;
}

static const char *intrinsic_name(LLVMValueRef instruction)
{
	LLVMValueRef callee = ir_is_call(instruction) ? code_callee(instruction) : NULL;

	return callee && LLVMGetIntrinsicID(callee) ? LLVMGetValueName(callee) : "";
}

static bool is_debug(LLVMValueRef instruction)
{
	return text_begins(intrinsic_name(instruction), "llvm.dbg.");
}

static struct error *take_saying(struct probing *p, LLVMValueRef call)
{
	const char *name = intrinsic_name(call);
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
	struct saying s = {.call = call};

	if (!location || !(text_equal(name, "llvm.dbg.value") || text_equal(name, "llvm.dbg.declare") ||
			   text_equal(name, "llvm.dbg.assign")))
		return NULL;
	s.variable = metadata_operand(call, 1);
	s.expression = metadata_operand(call, 2);
	s.scope = LLVMDIVariableGetScope(s.variable);
	s.inlined_at = LLVMDILocationGetInlinedAt(location);
	s.has_value = !text_equal(name, "llvm.dbg.declare");
	if (s.has_value)
		s.value = value_operand(call, 0);
	if (!s.has_value)
		s.address = value_operand(call, 0);
	if (text_equal(name, "llvm.dbg.assign"))
		s.address = value_operand(call, 4);
	return saying_vec_append(&p->sayings, s);
}

/* ---- the line ---- */

static struct error *take_run(struct probing *p, LLVMValueRef instruction, LLVMMetadataRef location, struct run **now)
{
	struct run run = {instruction, instruction, location, LLVMDILocationGetScope(location),
			  LLVMDILocationGetInlinedAt(location)};
	struct error *err;

	if (*now && (*now)->inlined_at == run.inlined_at) {
		(*now)->last = instruction;
		return NULL;
	}
	err = run_vec_append(&p->runs, run);
	*now = &p->runs.items[p->runs.count - 1];
	return err;
}

static LLVMMetadataRef location_in_line(const struct probing *p, LLVMValueRef instruction)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	struct code_line lines[LEVELS_MAX];
	uint32_t count = code_lines_of(instruction, lines, LEVELS_MAX);

	for (uint32_t i = 0; i < count; i++, location = LLVMDILocationGetInlinedAt(location))
		if (lines[i].line == p->question->line && code_file_ends_with(&lines[i], p->question->file))
			return location;
	return NULL;
}

static struct error *survey(struct probing *p, LLVMValueRef function)
{
	struct error *err = NULL;

	p->sayings.count = 0;
	p->runs.count = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		struct run *now = NULL;

		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i)) {
			LLVMMetadataRef location;

			if (is_debug(i)) {
				err = take_saying(p, i);
				continue;
			}
			location = location_in_line(p, i);
			if (location)
				err = take_run(p, i, location, &now);
			else
				now = NULL;
		}
	}
	return err;
}

/* ---- loads ---- */

/* Where instructions can be put: in front of this one, or behind those that a block must begin with. */
static void position_before(struct probing *p, LLVMValueRef instruction)
{
	LLVMValueRef at = instruction;

	for (LLVMValueRef i = at; i; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsAPHINode(i) || LLVMIsALandingPadInst(i))
			at = LLVMGetNextInstruction(i);
		else if (!is_debug(i))
			break;
	}
	LLVMPositionBuilderBefore(p->builder, at);
	LLVMSetCurrentDebugLocation2(p->builder, p->location);
}

static LLVMValueRef entry_of(LLVMValueRef function)
{
	return LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
}

static LLVMTypeRef type_of_bytes(const struct probing *p, uint64_t bytes, bool is_pointer)
{
	if (is_pointer)
		return LLVMPointerTypeInContext(p->context, 0);
	if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
		return LLVMIntTypeInContext(p->context, (unsigned)bytes * BYTE_BITS);
	return LLVMArrayType2(LLVMInt8TypeInContext(p->context), bytes);
}

static LLVMValueRef move(const struct probing *p, LLVMValueRef address, uint64_t bytes)
{
	LLVMTypeRef byte = LLVMInt8TypeInContext(p->context);
	LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(p->context), bytes, false);

	return bytes ? LLVMBuildGEP2(p->builder, byte, address, &offset, 1, "") : address;
}

static struct error *add_probe(struct probing *p, LLVMValueRef value)
{
	return ir_value_vec_append(p->probes, LLVMBuildFreeze(p->builder, value, ""));
}

static struct error *no_member(struct probing *p, LLVMMetadataRef type, const char *name)
{
	const char *members = debug_type_members(p->context, type, &p->arena);

	if (!members)
		return &error_no_memory;
	if (!*members)
		return error_create(ERROR_NOT_FOUND, "%s: there are no members for '%s' to be one of",
				    p->question->variable, name);
	return error_create(ERROR_NOT_FOUND, "%s: no member '%s'; there are %s", p->question->variable, name, members);
}

/* The value of that type at that address, and then of the members from `member` on. */
static struct error *load(struct probing *p, LLVMValueRef address, LLVMMetadataRef type, unsigned member)
{
	LLVMTypeRef whole = LLVMIsAAllocaInst(address) ? LLVMGetAllocatedType(address) : NULL;
	uint64_t offset = 0, bytes = debug_type_bytes(p->context, type);
	LLVMMetadataRef target;

	for (; member < p->member_count; member++) {
		struct debug_member m;

		if (debug_type_is_pointer(p->context, type, &target)) {
			address = LLVMBuildLoad2(p->builder, type_of_bytes(p, 0, true), move(p, address, offset), "");
			type = target;
			offset = 0;
		}
		if (!debug_type_member(p->context, type, p->members[member], &m))
			return no_member(p, type, p->members[member]);
		offset += m.offset_bits / BYTE_BITS;
		bytes = (m.offset_bits % BYTE_BITS + m.size_bits + BYTE_BITS - 1) / BYTE_BITS;
		type = m.type;
		whole = NULL;
	}
	if (!bytes)
		return error_create(ERROR_NOT_FOUND, "%s: its size is not known", p->question->variable);
	if (!whole || (LLVMGetTypeKind(whole) != LLVMIntegerTypeKind && LLVMGetTypeKind(whole) != LLVMPointerTypeKind &&
		       LLVMGetTypeKind(whole) != LLVMFloatTypeKind && LLVMGetTypeKind(whole) != LLVMDoubleTypeKind))
		whole = type_of_bytes(p, bytes, debug_type_is_pointer(p->context, type, &target));
	return add_probe(p, LLVMBuildLoad2(p->builder, whole, move(p, address, offset), ""));
}

/* The value of the variable is in a register. */
static struct error *use_value(struct probing *p, LLVMValueRef value, LLVMMetadataRef type)
{
	LLVMMetadataRef target;
	struct debug_member m;

	if (!p->member_count)
		return add_probe(p, value);
	if (debug_type_is_pointer(p->context, type, &target))
		return load(p, value, target, 0);
	/* The members of a structure in registers are its parts: all of them are taken. */
	return debug_type_member(p->context, type, p->members[0], &m) ? add_probe(p, value)
								      : no_member(p, type, p->members[0]);
}

static struct error *optimized_out(const struct probing *p)
{
	return error_create(ERROR_NOT_FOUND,
			    "%s:%u: the optimizer kept no value of %s there; a program built with -O0, or with "
			    "--wm-stage=source, has all variables",
			    p->question->file, p->question->line, p->name);
}

/* ---- variables of functions ---- */

static bool is_of(const struct saying *s, const struct saying *variable)
{
	return s->variable == variable->variable && s->inlined_at == variable->inlined_at;
}

static bool is_plain(const struct probing *p, LLVMMetadataRef expression)
{
	char *text = LLVMPrintValueToString(LLVMMetadataAsValue(p->context, expression));
	bool is = text_equal(text, "!DIExpression()");

	LLVMDisposeMessage(text);
	return is;
}

static bool is_part_or_computed(const struct probing *p, LLVMMetadataRef expression, bool *ret_is_address)
{
	char *text = LLVMPrintValueToString(LLVMMetadataAsValue(p->context, expression));

	*ret_is_address = text_equal(text, "!DIExpression(DW_OP_deref)");
	bool is = *ret_is_address || !strstr(text, "DW_OP_deref");

	LLVMDisposeMessage(text);
	return is;
}

/* The last instruction of the run that sets the variable; NULL: none. */
static LLVMValueRef setter(const struct probing *p, const struct run *run, const struct saying *variable)
{
	LLVMValueRef last = NULL, end = LLVMGetNextInstruction(run->last);

	while (end && is_debug(end))
		end = LLVMGetNextInstruction(end);
	for (LLVMValueRef i = run->first; i && i != end; i = LLVMGetNextInstruction(i))
		for (size_t k = 0; k < p->sayings.count; k++) {
			const struct saying *s = &p->sayings.items[k];

			if (!is_of(s, variable))
				continue;
			if ((s->has_value && s->call == i) ||
			    (s->address && LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == s->address))
				last = i;
		}
	return last;
}

/* What the debug information says last of the variable in the block, in front of `end` (NULL: at its end). */
static const struct saying *last_saying(const struct probing *p, LLVMBasicBlockRef block, LLVMValueRef end,
					const struct saying *variable)
{
	LLVMValueRef i = end ? LLVMGetPreviousInstruction(end) : LLVMGetLastInstruction(block);

	for (; i; i = LLVMGetPreviousInstruction(i))
		for (size_t k = 0; k < p->sayings.count; k++)
			if (p->sayings.items[k].call == i && p->sayings.items[k].has_value &&
			    is_of(&p->sayings.items[k], variable))
				return &p->sayings.items[k];
	return NULL;
}

/* Blocks that lead to a block, those that are not in `blocks` yet. */
static void add_predecessors(LLVMBasicBlockRef block, LLVMBasicBlockRef *blocks, unsigned *count)
{
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		LLVMBasicBlockRef from = LLVMIsATerminatorInst(user) ? LLVMGetInstructionParent(user) : NULL;
		unsigned k = 0;

		while (k < *count && blocks[k] != from)
			k++;
		if (from && k == *count)
			blocks[(*count)++] = from;
	}
}

/* On each way that leads here from the function's beginning the value is known, or was never set, and it is known on one. */
static struct error *is_known(struct probing *p, LLVMValueRef at, const struct saying *variable, bool *ret)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(at);
	unsigned count = 0;
	LLVMBasicBlockRef *blocks =
		arena_calloc(&p->arena, LLVMCountBasicBlocks(LLVMGetBasicBlockParent(block)) + 1, sizeof *blocks);
	const struct saying *s = last_saying(p, block, at, variable);

	if (!blocks)
		return &error_no_memory;
	*ret = s && s->value;
	if (s)
		return NULL;
	add_predecessors(block, blocks, &count);
	for (unsigned i = 0; i < count; i++) {
		s = last_saying(p, blocks[i], NULL, variable);
		if (s && !s->value) {
			*ret = false;
			return NULL;
		}
		if (s)
			*ret = true;
		else
			add_predecessors(blocks[i], blocks, &count);
	}
	return NULL;
}

static struct error *place_of(struct probing *p, struct kept_vec *kept, const struct saying *s, LLVMValueRef *ret)
{
	LLVMTypeRef type = LLVMTypeOf(s->value);
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(s->call));
	struct error *err;

	for (size_t i = 0; i < kept->count; i++)
		if (kept->items[i].type == type && kept->items[i].expression == s->expression) {
			*ret = kept->items[i].place;
			return NULL;
		}
	LLVMPositionBuilderBefore(p->builder, entry_of(function));
	*ret = LLVMBuildAlloca(p->builder, type, "");
	err = kept_vec_append(kept, (struct kept){type, s->expression, *ret});
	return err;
}

static struct error *keep_values(struct probing *p, const struct saying *variable, struct kept_vec *kept)
{
	struct error *err = NULL;

	for (size_t i = 0; i < p->sayings.count && !err; i++) {
		const struct saying *s = &p->sayings.items[i];
		LLVMValueRef place;

		if (!s->value || !is_of(s, variable))
			continue;
		err = place_of(p, kept, s, &place);
		if (err)
			break;
		position_before(p, LLVMGetNextInstruction(s->call));
		LLVMBuildStore(p->builder, s->value, place);
	}
	return err;
}

static struct error *probe_values(struct probing *p, LLVMValueRef at, const struct saying *variable)
{
	LLVMMetadataRef type = debug_type_plain(p->context, debug_variable_type(p->context, variable->variable));
	struct kept_vec kept = {0};
	bool is = false;
	struct error *err = is_known(p, at, variable, &is);

	if (!err && !is)
		err = optimized_out(p);
	if (!err)
		err = keep_values(p, variable, &kept);
	for (size_t i = 0; i < kept.count && !err; i++) {
		const struct kept *k = &kept.items[i];
		bool is_address;
		LLVMValueRef value;

		if (!is_part_or_computed(p, k->expression, &is_address) ||
		    (p->member_count && !is_address && !is_plain(p, k->expression) &&
		     LLVMGetTypeKind(k->type) == LLVMPointerTypeKind)) {
			err = optimized_out(p);
			break;
		}
		position_before(p, at);
		value = LLVMBuildLoad2(p->builder, k->type, k->place, "");
		err = is_address ? load(p, value, type, 0) : use_value(p, value, type);
	}
	kept_vec_deinit(&kept);
	return err;
}

static struct error *probe_memory(struct probing *p, LLVMValueRef at, const struct saying *s)
{
	LLVMMetadataRef type = debug_type_plain(p->context, debug_variable_type(p->context, s->variable));
	LLVMValueRef address = s->address;
	bool is_address;

	if (!is_part_or_computed(p, s->expression, &is_address) || (!is_address && !is_plain(p, s->expression)))
		return optimized_out(p);
	position_before(p, at);
	if (is_address)
		address = LLVMBuildLoad2(p->builder, type_of_bytes(p, 0, true), address, "");
	return load(p, address, type, 0);
}

static struct error *probe_local(struct probing *p, const struct run *run, const struct saying *variable)
{
	LLVMValueRef after = setter(p, run, variable), at = after ? LLVMGetNextInstruction(after) : run->first;
	bool has_values = false;
	struct error *err = NULL;

	for (size_t i = 0; i < p->sayings.count && !err; i++) {
		const struct saying *s = &p->sayings.items[i];

		if (!is_of(s, variable))
			continue;
		has_values |= s->has_value;
		if (s->address)
			err = probe_memory(p, at, s);
	}
	return err || !has_values ? err : probe_values(p, at, variable);
}

/* The variable of that name whose scope is the innermost around the run. */
static const struct saying *find_local(const struct probing *p, const struct run *run)
{
	const struct saying *found = NULL;

	for (size_t i = 0; i < p->sayings.count; i++) {
		const struct saying *s = &p->sayings.items[i];

		if (s->inlined_at != run->inlined_at ||
		    !text_equal(debug_variable_name(p->context, s->variable), p->name) ||
		    !debug_scope_is_in(p->context, run->scope, s->scope))
			continue;
		if (!found || debug_scope_is_in(p->context, s->scope, found->scope))
			found = s;
	}
	return found;
}

/* ---- globals ---- */

/* The debug information of a global; NULL: it has none. */
static LLVMMetadataRef variable_of_global(LLVMValueRef global)
{
	size_t count = 0;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
	LLVMMetadataRef variable = NULL;

	for (size_t i = 0; i < count && !variable; i++) {
		LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, (unsigned)i);

		if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableExpressionMetadataKind)
			variable = LLVMDIGlobalVariableExpressionGetVariable(node);
	}
	LLVMDisposeValueMetadataEntries(entries);
	return variable;
}

/* How near a global is to the run: 0 cannot be seen there, 1 of another file, 2 of the same one, 3 within the function. */
static unsigned nearness(const struct probing *p, LLVMValueRef global, LLVMMetadataRef variable, const struct run *run)
{
	LLVMMetadataRef scope = LLVMDIVariableGetScope(variable);
	LLVMMetadataKind kind = scope ? LLVMGetMetadataKind(scope) : 0;

	if (kind == LLVMDISubprogramMetadataKind || kind == LLVMDILexicalBlockMetadataKind)
		return debug_scope_is_in(p->context, run->scope, scope) ? 3 : 0;
	if (LLVMDIVariableGetFile(variable) == LLVMDIScopeGetFile(run->scope))
		return 2;
	return !ir_is_local(global) || kind != LLVMDICompileUnitMetadataKind;
}

static LLVMValueRef find_global(const struct probing *p, const struct run *run, LLVMMetadataRef *ret)
{
	LLVMValueRef found = NULL;
	unsigned best = 0;

	for (LLVMValueRef g = LLVMGetFirstGlobal(p->code->module); g; g = LLVMGetNextGlobal(g)) {
		LLVMMetadataRef variable = variable_of_global(g);
		unsigned near = variable && text_equal(debug_variable_name(p->context, variable), p->name)
					? nearness(p, g, variable, run)
					: 0;

		if (near > best) {
			best = near;
			found = g;
			*ret = variable;
		}
	}
	return found;
}

static struct error *probe_global(struct probing *p, const struct run *run, LLVMValueRef global,
				  LLVMMetadataRef variable)
{
	LLVMMetadataRef type = debug_type_plain(p->context, debug_variable_type(p->context, variable));
	LLVMValueRef at = run->first, end = LLVMGetNextInstruction(run->last);

	for (LLVMValueRef i = run->first; i && i != end; i = LLVMGetNextInstruction(i))
		if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == global)
			at = LLVMGetNextInstruction(i);
	position_before(p, at);
	return load(p, global, type, 0);
}

/* ---- the whole ---- */

/* "a, b, c": what can be seen there. */
static struct error *no_variable(struct probing *p, const struct run *run)
{
	const char *names = "", *name;
	unsigned count = 0;

	for (size_t i = 0; i < p->sayings.count && names; i++) {
		const struct saying *s = &p->sayings.items[i];
		size_t k = 0;

		while (k < i && !is_of(&p->sayings.items[k], s))
			k++;
		name = debug_variable_name(p->context, s->variable);
		if (k < i || s->inlined_at != run->inlined_at || !debug_scope_is_in(p->context, run->scope, s->scope))
			continue;
		if (count++ < SEEN_MAX)
			names = arena_printf(&p->arena, "%s%s%s", names, *names ? ", " : "", name);
	}
	if (!names)
		return &error_no_memory;
	if (!count)
		return error_create(ERROR_NOT_FOUND, "%s:%u: no variable '%s' is known there", p->question->file,
				    p->question->line, p->name);
	return error_create(ERROR_NOT_FOUND, "%s:%u: no variable '%s' is known there; besides globals there are %s%s",
			    p->question->file, p->question->line, p->name, names, count > SEEN_MAX ? " and more" : "");
}

static struct error *probe_run(struct probing *p, const struct run *run)
{
	const struct saying *variable = find_local(p, run);
	LLVMMetadataRef global_variable;
	LLVMValueRef global = variable ? NULL : find_global(p, run, &global_variable);

	p->location = run->location;
	if (variable)
		return probe_local(p, run, variable);
	return global ? probe_global(p, run, global, global_variable) : no_variable(p, run);
}

static struct error *probe_all(struct probing *p)
{
	struct error *err = NULL;

	for (LLVMValueRef f = LLVMGetFirstFunction(p->code->module); f && !err; f = LLVMGetNextFunction(f)) {
		err = survey(p, f);
		for (size_t i = 0; i < p->runs.count && !err; i++)
			err = probe_run(p, &p->runs.items[i]);
	}
	return err;
}

struct error *probe_add(struct code *c, const struct probe_question *question, struct ir_value_vec *ret)
{
	struct probing p = {.code = c, .context = c->context, .question = question, .probes = ret};
	bool has_records = LLVMIsNewDbgInfoFormat(c->module);
	struct error *err = parse(&p);

	/* LLVM 19's C interface reads what is said of variables in the older format alone. */
	LLVMSetIsNewDbgInfoFormat(c->module, false);
	p.builder = LLVMCreateBuilderInContext(c->context);
	if (!err)
		err = probe_all(&p);
	LLVMDisposeBuilder(p.builder);
	LLVMSetIsNewDbgInfoFormat(c->module, has_records);
	arena_deinit(&p.arena);
	saying_vec_deinit(&p.sayings);
	run_vec_deinit(&p.runs);
	return err;
}
