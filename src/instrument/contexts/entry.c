/*
 * entry.c - the way from outside into a root: code ahead of its own, which sets the id to where contexts start there.
 *
 *      f:        [endbr64]                      pointers, other images and foreign code come here, with any id
 *                cmpq $0, %fs:deferred_sp       foreign code, whose call has not been pushed?
 *                je   1f
 *                call wm1.enter_slow
 *      1:        movq $RESTART, %fs:id
 *                [code that the tracer has put ahead]
 *      inner:    ...                            calls of this image come here, with the id that the encoding gives them
 *
 * Both ways are in one symbol with one frame description: names, addresses, breakpoints, backtraces are as ever. The code is data
 * to LLVM (prologue data), which cannot say where a thread-local variable is: a symbol of the assembler says it.
 */
#include <stddef.h>
#include <string.h>

#include <waymark/abi.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

enum {
	PARTS_MAX = 24,
	ALIGNED = 16, /* functions begin at a multiple of it; so does what is inside, if little is missing */
};

struct entry {
	struct program *p;
	const struct support *s;
	LLVMValueRef function;
	LLVMValueRef parts[PARTS_MAX];
	unsigned count;
	unsigned len_bytes;
};

static bool has_attribute(LLVMValueRef function, const char *name)
{
	return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
					     (unsigned)strlen(name)) != NULL;
}

static bool has_variants(const struct program *p, uint32_t index)
{
	for (size_t i = 0; i < p->variants.count; i++)
		if (p->variants.items[i].function == index)
			return true;
	return false;
}

/* In a shared library the code needs a register: r11, in which these conventions pass nothing. */
static bool leaves_r11(LLVMValueRef function)
{
	static const unsigned conventions[] = {LLVMCCallConv,           LLVMFastCallConv,
					       LLVMColdCallConv,        LLVMPreserveMostCallConv,
					       LLVMPreserveAllCallConv, LLVMX8664SysVCallConv};
	for (size_t i = 0; i < sizeof conventions / sizeof *conventions; i++)
		if (LLVMGetFunctionCallConv(function) == conventions[i])
			return true;
	return false;
}

bool entry_is_possible(const struct program *p, uint32_t index)
{
	static const char *const others[] = {"patchable-function-entry", "patchable-function", "fentry-call"};
	LLVMValueRef function = p->functions.items[index].value;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (has_attribute(function, others[i]))
			return false;
	if (p->host->prologue_data(function) && !has_variants(p, index))
		return false;
	return !p->is_shared || leaves_r11(function);
}

static void add(struct entry *e, LLVMValueRef part, unsigned len_bytes)
{
	e->parts[e->count++] = part;
	e->len_bytes += len_bytes;
}

static void add_bytes(struct entry *e, const char *text, unsigned len_bytes)
{
	add(e, LLVMConstStringInContext(e->p->context, text, len_bytes, 1), len_bytes);
}

static void add_number(struct entry *e, uint64_t value)
{
	add(e, LLVMConstInt(e->s->i32, value & UINT32_MAX, 0), 4);
}

/* Where the thread's state is: its offset in a program, the way to its offset in a library. */
static void add_state(struct entry *e, int off)
{
	LLVMValueRef place = LLVMGetNamedGlobal(e->p->module, "wm1.place");
	if (!place) {
		const char *text = e->p->is_shared ? ".set wm1.place, wm1_thread_state@gottpoff"
						   : ".set wm1.place, wm1_thread_state@tpoff";
		LLVMAppendModuleInlineAsm(e->p->module, text, strlen(text));
		place = LLVMAddGlobal(e->p->module, LLVMInt8TypeInContext(e->p->context), "wm1.place");
		LLVMSetVisibility(place, LLVMHiddenVisibility);
	}
	LLVMValueRef at = LLVMConstPtrToInt(place, e->s->i64);
	if (off)
		at = LLVMConstAdd(at, LLVMConstInt(e->s->i64, (uint64_t)(int64_t)off, 1));
	add(e, LLVMConstTrunc(at, e->s->i32), 4);
}

/* Flags say whether something is deferred. */
static void add_slow_call(struct entry *e)
{
	add_bytes(e, "\x74\x05\xe8", 3); /* je over the call; call wm1.enter_slow */
	LLVMValueRef end = LLVMConstInt(e->s->i64, e->len_bytes + 4, 0);
	LLVMValueRef distance =
		LLVMConstSub(LLVMConstPtrToInt(e->s->enter_slow, e->s->i64), LLVMConstPtrToInt(e->function, e->s->i64));
	add(e, LLVMConstTrunc(LLVMConstSub(distance, end), e->s->i32), 4);
}

static void add_store_of_program(struct entry *e, uint64_t id)
{
	add_bytes(e, "\x64\x48\x83\x3c\x25", 5); /* cmpq $0, %fs:state + 24 */
	add_state(e, offsetof(struct wm1_thread, deferred_sp));
	add_bytes(e, "\0", 1);
	add_slow_call(e);
	if (id <= INT32_MAX) {
		add_bytes(e, "\x64\x48\xc7\x04\x25", 5); /* movq $id, %fs:state */
		add_state(e, 0);
		add_number(e, id);
		return;
	}
	for (int half = 0; half < 2; half++) {
		add_bytes(e, "\x64\xc7\x04\x25", 4); /* movl $half, %fs:state + 4 * half */
		add_state(e, 4 * half);
		add_number(e, id >> 32 * half);
	}
}

static void add_store_of_library(struct entry *e, uint64_t id)
{
	add_bytes(e, "\x4c\x8b\x1d", 3); /* movq state@gottpoff(%rip), %r11 */
	add_state(e, -4);
	add_bytes(e, "\x64\x49\x83\x7b\x18\x00", 6); /* cmpq $0, %fs:24(%r11) */
	add_slow_call(e);
	if (id <= INT32_MAX) {
		add_bytes(e, "\x64\x49\xc7\x03", 4); /* movq $id, %fs:(%r11) */
		add_number(e, id);
		return;
	}
	add_bytes(e, "\x64\x41\xc7\x03", 4); /* movl $half, %fs:(%r11) */
	add_number(e, id);
	add_bytes(e, "\x64\x41\xc7\x43\x04", 5); /* movl $half, %fs:4(%r11) */
	add_number(e, id >> 32);
}

static void align(struct entry *e)
{
	static const char *const nops[] = {"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00"};
	const unsigned missing = (ALIGNED - e->len_bytes % ALIGNED) % ALIGNED;
	if (missing && missing < sizeof nops / sizeof *nops)
		add_bytes(e, nops[missing], missing);
}

/* The tracer's distances count from the beginning of the function: there is more in between now. */
static void add_moved(struct entry *e, LLVMValueRef data)
{
	LLVMValueRef moved = LLVMConstInt(e->s->i32, e->len_bytes, 0);
	const unsigned count = LLVMCountStructElementTypes(LLVMTypeOf(data));
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef part = LLVMGetAggregateElement(data, i);
		add(e, LLVMIsAConstantExpr(part) ? LLVMConstSub(part, moved) : part, 0);
	}
}

void entry_split(struct program *p, const struct support *s, struct function *f, uint64_t restart)
{
	static const char protection[] = "cf-protection-branch";
	struct entry e = {.p = p, .s = s, .function = f->value};
	LLVMValueRef traced = p->host->prologue_data(f->value);
	if (LLVMGetModuleFlag(p->module, protection, strlen(protection)))
		add_bytes(&e, "\xf3\x0f\x1e\xfa", 4);
	if (p->is_shared)
		add_store_of_library(&e, restart);
	else
		add_store_of_program(&e, restart);
	align(&e);
	const unsigned inner_off = e.len_bytes;
	if (traced)
		add_moved(&e, traced);
	p->host->set_prologue_data(f->value, LLVMConstStructInContext(p->context, e.parts, e.count, 1));
	LLVMValueRef off = LLVMConstInt(s->i64, inner_off, 0);
	LLVMValueRef inner = LLVMConstGEP2(LLVMInt8TypeInContext(p->context), f->value, &off, 1);
	f->inner = LLVMAddAlias2(p->module, LLVMGlobalGetValueType(f->value), 0, inner, "wm1.inner");
	LLVMSetLinkage(f->inner, LLVMPrivateLinkage);
	p->host->bind_locally(f->inner);
}

/* An alias has no attributes of its own: what the code generator asks of a callee stands at the call. */
void entry_call_inner(LLVMValueRef call, const struct function *f, LLVMValueRef inner)
{
	static const char *const names[] = {"nounwind", "noreturn", "returns_twice"};
	const LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(f->value, index, ir_attribute_kind(names[i]));
		if (attribute)
			LLVMAddCallSiteAttribute(call, index, attribute);
	}
	LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, inner);
}
