/*
 * outline.c - what cold call sites do (cold.c), by calls of helpers that keep all registers but r11 and vectors (preserve_most).
 *
 *      movl  $SITE, %edi
 *      call  wm1.push_here                  *T.top++ = (T.id, stack pointer, SITE)
 *      ...                                  the call itself
 *      call  wm1.put_back                   T = as it was: the entry has the id, and is where top was
 *
 * That is 15 bytes of code in place of some 100. The entry is known by its stack pointer: what is on top may be another one
 * (waymark/runtime.h, wm1_put_back).
 *
 *      movl  $N, %edi;  call  wm1.add       T.id += N: 10 bytes in place of 13, in a shared library of 15
 *      call  wm1.add.N                      the same, where that is done in several places
 *      ...   wm1.subtract, wm1.set          T.id -= N, T.id = N
 *
 * The helpers are assembly, but called as any function is: so the code generator still merges blocks with equal ends. Inlined
 * functions leave many copies of what they do when they fail.
 */
#include <string.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

/* How helpers reach the two words of the thread, and the registers they take. In a library the offset of the words is in r11. */
struct place {
	const char *begin, *id, *top;
	const char *temporary, *save, *restore;
	unsigned depth; /* bytes from the stack pointer to where it is before the helper is called */
};

static const struct place of_program = {
	.begin = "",
	.id = "%fs:wm1_thread_state@tpoff",
	.top = "%fs:wm1_thread_state@tpoff+8",
	.temporary = "%r11",
	.save = "pushq %rax\n.cfi_adjust_cfa_offset 8\n",
	.restore = "popq %rax\n.cfi_adjust_cfa_offset -8\n",
	.depth = 16,
};

static const struct place of_library = {
	.begin = "movq wm1_thread_state@gottpoff(%rip), %r11\n",
	.id = "%fs:(%r11)",
	.top = "%fs:8(%r11)",
	.temporary = "%rcx",
	.save = "pushq %rax\n.cfi_adjust_cfa_offset 8\npushq %rcx\n.cfi_adjust_cfa_offset 8\n",
	.restore = "popq %rcx\n.cfi_adjust_cfa_offset -8\npopq %rax\n.cfi_adjust_cfa_offset -8\n",
	.depth = 24,
};

static const char *const change_names[] = {[ID_SET] = "wm1.set", [ID_ADD] = "wm1.add", [ID_SUBTRACT] = "wm1.subtract"};
static const char *const change_codes[] = {[ID_SET] = "movq", [ID_ADD] = "addq", [ID_SUBTRACT] = "subq"};

static const struct place *place_of(const struct program *p)
{
	return p->is_shared ? &of_library : &of_program;
}

/* Calls a function of the runtime, which keeps what helpers keep; rax gets what it returns. */
static void print_rare_call(struct buffer *b, const char *function)
{
	buffer_printf(b, "pushq %%rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %%rbp, 0\n"
			 "movq %%rsp, %%rbp\n.cfi_def_cfa_register %%rbp\nandq $$-16, %%rsp\n");
	buffer_printf(b, "callq *%s@GOTPCREL(%%rip)\nleave\n", function);
}

static void print_push(struct buffer *b, const struct place *place)
{
	const char *t = place->temporary;
	buffer_printf(b, "%s%smovq %s, %%rax\ntestw %%ax, %%ax\nje 2f\n", place->save, place->begin, place->top);
	buffer_printf(b, "1:\nmovq %s, %s\nmovq %s, (%%rax)\n", place->id, t, t);
	buffer_printf(b, "leaq %u(%%rsp), %s\nmovq %s, 8(%%rax)\n", place->depth, t, t);
	buffer_printf(b, "addl ${0:c}+8(%%rip), %%edi\nmovq %%rdi, 16(%%rax)\nsubl ${0:c}+8(%%rip), %%edi\n"
			 "movl $$0, 24(%%rax)\n");
	buffer_printf(b, "addq $$32, %%rax\nmovq %%rax, %s\n.cfi_remember_state\n%sretq\n", place->top, place->restore);
	buffer_printf(b, "2:\n.cfi_restore_state\n.cfi_remember_state\n");
	print_rare_call(b, "wm1_grow");
	buffer_printf(b, ".cfi_restore_state\n%sjmp 1b\n", place->begin);
}

/* Prints the slow part: no stack, the end of a segment, its first entry (segments behind the first know the one before). */
static void print_put_back(struct buffer *b, const struct place *place)
{
	const char *t = place->temporary;
	buffer_printf(b, "%s%smovq %s, %%rax\ntestw $$0xffbf, %%ax\nje 2f\n", place->save, place->begin, place->top);
	buffer_printf(b, "1:\nleaq %u(%%rsp), %s\ncmpq %s, -24(%%rax)\njne 3f\n", place->depth, t, t);
	buffer_printf(b, "movq -32(%%rax), %s\nmovq %s, %s\n", t, t, place->id);
	buffer_printf(b, "addq $$-32, %%rax\nmovq %%rax, %s\n.cfi_remember_state\n%sretq\n", place->top,
		      place->restore);
	buffer_printf(b, "2:\n.cfi_restore_state\ntestw %%ax, %%ax\nje 3f\ncmpq $$0, -56(%%rax)\nje 1b\n");
	buffer_printf(b, "3:\nleaq %u(%%rsp), %s\npushq %%rdi\n.cfi_adjust_cfa_offset 8\nmovq %s, %%rdi\n",
		      place->depth, t, t);
	buffer_printf(b, ".cfi_remember_state\n");
	print_rare_call(b, "wm1_put_back");
	buffer_printf(b, ".cfi_restore_state\npopq %%rdi\n.cfi_adjust_cfa_offset -8\n%sretq\n", place->restore);
}

LLVMValueRef outline_add_code(struct program *p, const char *name, LLVMTypeRef type, const struct buffer *text,
			      const char *constraints, LLVMValueRef *operands, unsigned count)
{
	const struct ir_assembly code = {text, constraints, strlen(constraints), operands, count};
	LLVMValueRef helper = ir_add_naked(p->module, name, type, &code);
	ir_add_attribute(helper, "optsize", 0);
	ir_add_attribute(helper, "uwtable", 2); /* async */
	return helper;
}

static struct error *add_helper(struct program *p, const char *name, struct buffer *text, bool has_argument,
				LLVMValueRef *ret)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(p->context);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(p->context), &i64, has_argument, 0);
	LLVMValueRef image = LLVMGetNamedGlobal(p->module, "wm1.image");
	struct error *err = buffer_error(text);
	if (err)
		return err;
	*ret = outline_add_code(p, name, type, text, "i", &image, 1);
	LLVMSetFunctionCallConv(*ret, LLVMPreserveMostCallConv);
	ir_add_attribute(*ret, "nounwind", 0);
	return NULL;
}

static struct error *add_push_and_put_back(struct program *p, struct support *s)
{
	struct buffer push = {0}, put_back = {0};
	print_push(&push, place_of(p));
	print_put_back(&put_back, place_of(p));
	struct error *err = add_helper(p, "wm1.push_here", &push, true, &s->push_here);
	if (!err)
		err = add_helper(p, "wm1.put_back", &put_back, false, &s->put_back);
	buffer_deinit(&push);
	buffer_deinit(&put_back);
	return err;
}

struct error *outline_add(struct program *p, struct support *s)
{
	struct error *err = add_push_and_put_back(p, s);
	for (unsigned i = 0; i < ID_CHANGE_COUNT && !err; i++) {
		struct buffer text = {0};
		buffer_printf(&text, "%s%s %%rdi, %s\nretq\n", place_of(p)->begin, change_codes[i], place_of(p)->id);
		err = add_helper(p, change_names[i], &text, true, &s->change[i]);
		buffer_deinit(&text);
	}
	return err;
}

static struct error *add_shared(struct program *p, struct shared_change *shared)
{
	const struct place *place = place_of(p);
	const unsigned long long value = shared->value;
	struct buffer text = {0}, name = {0};
	buffer_printf(&text, "%s%s $$%llu, %s\nretq\n", place->begin, change_codes[shared->change], value, place->id);
	buffer_printf(&name, "%s.%llu", change_names[shared->change], value);
	struct error *err = buffer_error(&name);
	if (!err)
		err = add_helper(p, (const char *)name.bytes, &text, false, &shared->helper);
	buffer_deinit(&text);
	buffer_deinit(&name);
	return err;
}

static void build_call(LLVMBuilderRef builder, LLVMValueRef helper, LLVMValueRef *argument)
{
	LLVMValueRef call = LLVMBuildCall2(builder, support_type(helper), helper, argument, argument != NULL, "");
	LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
}

void outline_push(const struct support *s, LLVMBuilderRef builder, uint32_t site)
{
	LLVMValueRef number = LLVMConstInt(s->i64, site, 0);
	build_call(builder, s->push_here, &number);
}

void outline_put_back(const struct support *s, LLVMBuilderRef builder)
{
	build_call(builder, s->put_back, NULL);
}

struct error *outline_change(struct program *p, const struct support *s, LLVMBuilderRef builder, enum id_change change,
			     uint64_t value)
{
	struct shared_change *shared = cold_find(p, change, value);
	LLVMValueRef number = LLVMConstInt(s->i64, value, 0);
	struct error *err = shared && !shared->helper ? add_shared(p, shared) : NULL;
	if (!err)
		build_call(builder, shared ? shared->helper : s->change[change], shared ? NULL : &number);
	return err;
}
