/*
 * interpose.c - calls of a library's own functions that another image may replace (ELF symbol interposition).
 *
 * Such a call is an edge as any other; what it calls is a local entry, one for each function that is called so:
 *
 *      wm1.call.f:                               wm1.call_bound:
 *          f is what the dynamic linker bound?       *T.top++ = (T.id, stack pointer, SITE)
 *          yes: jump to its code, an edge            call what is bound
 *          no:  r11 = SITE; jump =============>      T = as it was
 *                                                    return
 *
 * SITE is at f: id is how f was called, and that f itself does not run (META_SITE_BOUND). The way through wm1.call_bound has a
 * return address of its own, so arguments must be in registers. Other calls are foreign code, a push each.
 */
#include <string.h>

#include <waymark/abi.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

enum {
	INTEGERS_MAX = 6, /* arguments in registers */
	FLOATS_MAX = 8,
	RESULTS_MAX = 2,
};

static bool is_integer(LLVMTypeRef type)
{
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	return kind == LLVMPointerTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

static bool is_float(LLVMTypeRef type)
{
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

static bool is_result(LLVMTypeRef type)
{
	return is_integer(type) || is_float(type) || LLVMGetTypeKind(type) == LLVMX86_FP80TypeKind;
}

/* The code generator would hand a pointer to memory over for what does not fit. */
static bool returns_in_registers(LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
		return true;
	if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
		return is_result(type);
	unsigned count = LLVMCountStructElementTypes(type);
	for (unsigned i = 0; i < count; i++)
		if (count > RESULTS_MAX || !is_result(LLVMStructGetTypeAtIndex(type, i)))
			return false;
	return true;
}

/* In memory, or in a register of its own. */
static bool is_passed_apart(LLVMValueRef call, LLVMValueRef callee, unsigned argument)
{
	static const char *const names[] = {"byval",     "inalloca",   "preallocated", "nest",
					    "swiftself", "swiftasync", "swifterror"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		unsigned kind = ir_attribute_kind(names[i]);
		if (LLVMGetCallSiteEnumAttribute(call, argument + 1, kind) ||
		    (argument < LLVMCountParams(callee) && LLVMGetEnumAttributeAtIndex(callee, argument + 1, kind)))
			return true;
	}
	return false;
}

static bool passes_in_registers(LLVMValueRef call, LLVMValueRef callee)
{
	unsigned integers = 0, floats = 0, count = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < count; i++) {
		LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(call, i));
		integers += is_integer(type);
		floats += is_float(type);
		if ((!is_integer(type) && !is_float(type)) || is_passed_apart(call, callee, i))
			return false;
	}
	return integers <= INTEGERS_MAX && floats <= FLOATS_MAX;
}

bool interpose_is_possible(const struct program *p, LLVMValueRef call, uint32_t index)
{
	const LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	const unsigned twice = ir_attribute_kind("returns_twice");
	LLVMValueRef callee = p->functions.items[index].value;
	return p->is_shared && entry_is_possible(p, index) && !LLVMGetCallSiteEnumAttribute(call, at, twice) &&
	       !LLVMGetEnumAttributeAtIndex(callee, at, twice) &&
	       !(LLVMIsACallInst(call) && LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail) &&
	       LLVMGetInstructionCallConv(call) == LLVMCCallConv && LLVMGetFunctionCallConv(callee) == LLVMCCallConv &&
	       returns_in_registers(LLVMTypeOf(call)) && passes_in_registers(call, callee);
}

static LLVMValueRef add_code(struct program *p, const char *name, const struct buffer *text, const char *constraints,
			     LLVMValueRef *operands, unsigned count)
{
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(p->context), NULL, 0, 0);
	return outline_add_code(p, name, type, text, constraints, operands, count);
}

/* The bound function is in r10, the site in r11; arguments are in all registers that pass some, the number of those in vector registers
 * in al. The helpers keep all registers but vectors. */
_Static_assert(WM1_CALL_BOUND_BYTES == 24 + 136, "its return address, r10, rdi, and a place for vectors");
static struct error *call_bound(struct program *p, const struct support *s, LLVMValueRef *ret)
{
	struct buffer text = {0};
	LLVMValueRef operands[] = {s->push_here, s->put_back};
	*ret = LLVMGetNamedFunction(p->module, WM1_CALL_BOUND);
	if (*ret)
		return NULL;
	buffer_printf(&text, "pushq %%r10\n.cfi_adjust_cfa_offset 8\npushq %%rdi\n.cfi_adjust_cfa_offset 8\n"
			     "subq $$136, %%rsp\n.cfi_adjust_cfa_offset 136\n");
	outline_save_vectors(&text, FLOATS_MAX);
	buffer_printf(&text, "movl %%r11d, %%edi\ncallq ${0:c}\n");
	outline_load_vectors(&text, FLOATS_MAX);
	buffer_printf(&text, "movq 136(%%rsp), %%rdi\ncallq *144(%%rsp)\n");
	outline_save_vectors(&text, RESULTS_MAX);
	buffer_printf(&text, "callq ${1:c}\n");
	outline_load_vectors(&text, RESULTS_MAX);
	buffer_printf(&text, "addq $$152, %%rsp\n.cfi_adjust_cfa_offset -152\nretq\n");
	struct error *err = buffer_error(&text);
	if (!err)
		*ret = add_code(p, WM1_CALL_BOUND, &text, "i,i", operands, 2);
	buffer_deinit(&text);
	return err;
}

/* The definition in this library, by a name that nobody replaces. */
static LLVMValueRef own_definition(struct program *p, const struct function *f)
{
	LLVMValueRef own = LLVMAddAlias2(p->module, LLVMGlobalGetValueType(f->value), 0, f->value, "wm1.own");
	LLVMSetLinkage(own, LLVMPrivateLinkage);
	p->host->bind_locally(own);
	return own;
}

struct error *interpose_add(struct program *p, const struct support *s, struct function *f)
{
	static const char code[] = "leaq ${0:c}(%rip), %r11\n"
				   "cmpq ${1:p}@GOTPCREL(%rip), %r11\n"
				   "je ${2:c}\n"
				   "movq ${1:p}@GOTPCREL(%rip), %r10\n"
				   "movl $3, %r11d\n"
				   "jmp ${4:c}\n";
	const struct buffer text = {.bytes = (uint8_t *)(uintptr_t)code, .len_bytes = strlen(code)};
	const char *name = arena_printf(&p->arena, WM1_CALL "%s", f->name);
	LLVMValueRef operands[] = {own_definition(p, f), f->value, f->inner, LLVMConstInt(s->i32, f->bound_site, 0),
				   NULL};
	struct error *err = name ? call_bound(p, s, &operands[4]) : &error_no_memory;
	if (!err)
		f->entry = add_code(p, name, &text, "i,Ws,i,i,i", operands, 5);
	return err;
}
