/*
 * outline.c - the push of a call site that is not among the hottest: two calls of helpers, which keep all registers that pass
 * arguments and results.
 *
 *      movl  $SITE, %r11d
 *      call  wm1.push_here                  *T.top++ = (T.id, stack pointer, SITE)
 *      ...                                  the call itself
 *      call  wm1.put_back                   T = as it was: the entry has the id, and is where top was
 *
 * That is 16 bytes of code in place of some 100. The helpers are assembly, one of each in an image; they take nothing on the
 * stack. The entry is known by its stack pointer: what is on top may be another one (waymark/runtime.h, wm1_put_back).
 */
#include <string.h>

#include "instrument/ir.h"
#include "instrument/program.h"

/* Where the two words of the thread are. In a library their offset is in a register. */
struct place {
	const char *push_begin, *push_id, *push_top;
	const char *put_begin, *put_id, *put_top;
	const char *push_clobbers, *put_clobbers;
};

static const struct place of_program = {
	.push_begin = "",
	.push_id = "%fs:wm1_thread_state@tpoff",
	.push_top = "%fs:wm1_thread_state@tpoff+8",
	.put_begin = "",
	.put_id = "%fs:wm1_thread_state@tpoff",
	.put_top = "%fs:wm1_thread_state@tpoff+8",
	.push_clobbers = "i,i,~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}",
	.put_clobbers = "i,~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}",
};

static const struct place of_library = {
	.push_begin = "movq wm1_thread_state@gottpoff(%rip), %rax\n",
	.push_id = "%fs:(%rax)",
	.push_top = "%fs:8(%rax)",
	.put_begin = "movq wm1_thread_state@gottpoff(%rip), %rdi\n",
	.put_id = "%fs:(%rdi)",
	.put_top = "%fs:8(%rdi)",
	.push_clobbers = "i,i,~{rax},~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}",
	.put_clobbers = "i,~{rdi},~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}",
};

static const struct place *place_of(const struct program *p)
{
	return p->is_shared ? &of_library : &of_program;
}

/* Calls a function of the runtime, which keeps all but rax, r10, r11 and vector registers; r10 gets what it returns. */
static void print_rare_call(struct buffer *b, const char *function)
{
	buffer_printf(b, ".cfi_remember_state\npushq %%rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %%rbp, 0\n"
			 "movq %%rsp, %%rbp\n.cfi_def_cfa_register %%rbp\n"
			 "subq $$272, %%rsp\nandq $$-16, %%rsp\n");
	for (unsigned i = 0; i < 16; i++)
		buffer_printf(b, "movups %%xmm%u, %u(%%rsp)\n", i, 16 * i);
	buffer_printf(b, "movq %%r11, 256(%%rsp)\nmovq %%rax, 264(%%rsp)\ncallq *%s@GOTPCREL(%%rip)\n", function);
	for (unsigned i = 0; i < 16; i++)
		buffer_printf(b, "movups %u(%%rsp), %%xmm%u\n", 16 * i, i);
	buffer_printf(b,
		      "movq %%rax, %%r10\nmovq 256(%%rsp), %%r11\nmovq 264(%%rsp), %%rax\nleave\n.cfi_restore_state\n");
}

static void print_push(struct buffer *b, const struct place *place)
{
	buffer_printf(b, "%smovq %s, %%r10\ntestw %%r10w, %%r10w\nje 2f\n", place->push_begin, place->push_top);
	buffer_printf(b, "1:\naddl ${0:c}+8(%%rip), %%r11d\nmovq %%r11, 16(%%r10)\n");
	buffer_printf(b, "movq %s, %%r11\nmovq %%r11, (%%r10)\n", place->push_id);
	buffer_printf(b, "leaq 8(%%rsp), %%r11\nmovq %%r11, 8(%%r10)\nmovl $$0, 24(%%r10)\n");
	buffer_printf(b, "addq $$32, %%r10\nmovq %%r10, %s\nretq\n", place->push_top);
	buffer_printf(b, "2:\n");
	print_rare_call(b, "wm1_grow");
	buffer_printf(b, "jmp 1b\n");
}

/* What needs a second look: no stack, the end of a segment, its first entry (segments behind the first know the one before). */
static void print_put_back(struct buffer *b, const struct place *place)
{
	buffer_printf(b, "%smovq %s, %%r11\ntestw $$0xffbf, %%r11w\nje 2f\n", place->put_begin, place->put_top);
	buffer_printf(b, "1:\nleaq 8(%%rsp), %%r10\ncmpq %%r10, -24(%%r11)\njne 3f\n");
	buffer_printf(b, "movq -32(%%r11), %%r10\nmovq %%r10, %s\n", place->put_id);
	buffer_printf(b, "addq $$-32, %%r11\nmovq %%r11, %s\nretq\n", place->put_top);
	buffer_printf(b, "2:\ntestw %%r11w, %%r11w\nje 3f\ncmpq $$0, -56(%%r11)\nje 1b\n");
	/* Its argument is in rdi, which may hold part of a result where the convention is another. */
	buffer_printf(b, "3:\nleaq 8(%%rsp), %%r10\npushq %%rdi\n.cfi_adjust_cfa_offset 8\nmovq %%r10, %%rdi\n");
	print_rare_call(b, "wm1_put_back");
	buffer_printf(b, "popq %%rdi\n.cfi_adjust_cfa_offset -8\nretq\n");
}

static void build_asm(LLVMBuilderRef builder, LLVMContextRef context, const struct buffer *text,
		      const char *constraints, LLVMValueRef *operands, LLVMTypeRef *types, unsigned count)
{
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), types, count, 0);
	LLVMValueRef code = LLVMGetInlineAsm(type, (const char *)text->bytes, text->len_bytes, constraints,
					     strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
	LLVMValueRef call = LLVMBuildCall2(builder, type, code, operands, count, "");
	LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				 LLVMCreateEnumAttribute(context, ir_attribute_kind("nounwind"), 0));
}

static struct error *add_helper(struct program *p, const char *name, struct buffer *text, LLVMValueRef *ret)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(p->context, 0);
	LLVMValueRef image = LLVMGetNamedGlobal(p->module, "wm1.image");
	LLVMValueRef helper = p->host->add_naked(p->module, name);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(p->context);
	struct error *err = buffer_error(text);
	LLVMAddAttributeAtIndex(helper, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(p->context, ir_attribute_kind("uwtable"), 2)); /* async */
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(p->context, helper, ""));
	if (!err)
		build_asm(builder, p->context, text, "i", &image, &pointer, 1);
	LLVMBuildUnreachable(builder);
	LLVMDisposeBuilder(builder);
	*ret = helper;
	return err;
}

struct error *outline_add(struct program *p, struct support *s)
{
	const struct place *place = place_of(p);
	struct buffer push = {0}, put_back = {0};
	print_push(&push, place);
	print_put_back(&put_back, place);
	struct error *err = add_helper(p, "wm1.push_here", &push, &s->push_here);
	if (!err)
		err = add_helper(p, "wm1.put_back", &put_back, &s->put_back);
	buffer_deinit(&push);
	buffer_deinit(&put_back);
	return err;
}

/* The helper keeps xmm0 to xmm15 at the most. */
bool outline_is_possible(LLVMValueRef call)
{
	unsigned count = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < count; i++)
		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMVectorTypeKind)
			return false;
	return true;
}

static void build_call(struct program *p, LLVMBuilderRef builder, const char *text, const char *constraints,
		       LLVMValueRef *operands, LLVMTypeRef *types, unsigned count)
{
	const struct buffer code = {.bytes = (uint8_t *)(uintptr_t)text, .len_bytes = strlen(text)};
	build_asm(builder, p->context, &code, constraints, operands, types, count);
}

void outline_push(struct program *p, const struct support *s, LLVMBuilderRef builder, uint32_t site)
{
	LLVMValueRef operands[] = {LLVMConstInt(s->i32, site, 0), s->push_here};
	LLVMTypeRef types[] = {s->i32, s->pointer};
	build_call(p, builder, "movl $0, %r11d\ncallq ${1:c}", place_of(p)->push_clobbers, operands, types, 2);
}

void outline_put_back(struct program *p, const struct support *s, LLVMBuilderRef builder)
{
	LLVMValueRef operands[] = {s->put_back};
	LLVMTypeRef types[] = {s->pointer};
	build_call(p, builder, "callq ${0:c}", place_of(p)->put_clobbers, operands, types, 1);
}
