/*
 * outline.c - what cold call sites do (cold.c), by calls of helpers that keep all registers but r11 and vectors (preserve_most).
 *
 *      movl  $SITE, %edi
 *      call  wm1.push_here                  *T.top++ = (T.id, stack pointer, SITE)
 *      ...                                  the call itself
 *      call  wm1.put_back                   T = as it was: the entry has the id, and is where top was
 *
 *      wm1.push_self, wm1.put_back_self     the same for calls that the history has no room for: it begins again
 *
 *      movl  $SITE, %edi
 *      call  wm1.defer_here                 T.deferred = SITE, stack pointer
 *      ...                                  the call, of foreign code
 *      call  wm1.end_here                   T.deferred = 0; put_back where it is not this call's any more
 *
 * That is 15 bytes of code in place of some 100. The entry is known by its stack pointer: what is on top may be another one
 * (waymark/runtime.h, wm1_put_back).
 *
 *      movl  $N, %edi;  call  wm1.add       T.id += N: 10 bytes in place of 13, in a shared library of 15
 *      call  wm1.add.N                      the same, where that is done in several places
 *      ...   wm1.subtract, wm1.set          T.id -= N, T.id = N
 *
 *      call  wm1.enter_slow                 *T.top++ = T.deferred: code that foreign code has called (entry.c)
 *      call  wm1.enter_here                 the same if there is one;  T.id = 0 (late.c)
 *
 * The helpers are assembly, but called as any function is: so the code generator still merges blocks with equal ends. Inlined
 * functions leave many copies of what they do when they fail.
 */
#include <string.h>

#include <waymark/abi.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

enum {
	VECTORS = 8, /* registers that pass arguments */
};

/* How helpers reach the words of the thread, and the registers they take. In a library the offset of the words is in r11. */
struct place {
	const char *begin, *id, *top, *deferred_sp, *deferred_site, *zero, *history;
	const char *temporary, *short_temporary, *save, *restore;
	unsigned depth; /* bytes from the stack pointer to where it is before the helper is called */
	const char *save_temporary, *restore_temporary; /* for helpers that need no other */
	unsigned short_depth;                           /* with the temporary saved */
};

static const struct place of_program = {
	.begin = "",
	.id = "%fs:wm1_thread_state@tpoff",
	.top = "%fs:wm1_thread_state@tpoff+8",
	.deferred_sp = "%fs:wm1_thread_state@tpoff+24",
	.deferred_site = "%fs:wm1_thread_state@tpoff+32",
	.zero = "%fs:wm1_thread_state@tpoff+40",
	.history = "%fs:wm1_thread_state@tpoff+44",
	.temporary = "%r11",
	.short_temporary = "%r11d",
	.save = "pushq %rax\n.cfi_adjust_cfa_offset 8\n",
	.restore = "popq %rax\n.cfi_adjust_cfa_offset -8\n",
	.depth = 16,
	.save_temporary = "",
	.restore_temporary = "",
	.short_depth = 8,
};

static const struct place of_library = {
	.begin = "movq wm1_thread_state@gottpoff(%rip), %r11\n",
	.id = "%fs:(%r11)",
	.top = "%fs:8(%r11)",
	.deferred_sp = "%fs:24(%r11)",
	.deferred_site = "%fs:32(%r11)",
	.zero = "%fs:40(%r11)",
	.history = "%fs:44(%r11)",
	.temporary = "%rcx",
	.short_temporary = "%ecx",
	.save = "pushq %rax\n.cfi_adjust_cfa_offset 8\npushq %rcx\n.cfi_adjust_cfa_offset 8\n",
	.restore = "popq %rcx\n.cfi_adjust_cfa_offset -8\npopq %rax\n.cfi_adjust_cfa_offset -8\n",
	.depth = 24,
	.save_temporary = "pushq %rcx\n.cfi_adjust_cfa_offset 8\n",
	.restore_temporary = "popq %rcx\n.cfi_adjust_cfa_offset -8\n",
	.short_depth = 16,
};

static const char *const change_names[] = {[ID_SET] = "wm1.set", [ID_ADD] = "wm1.add", [ID_SUBTRACT] = "wm1.subtract"};
static const char *const change_codes[] = {[ID_SET] = "movq", [ID_ADD] = "addq", [ID_SUBTRACT] = "subq"};

static const struct place *place_of(const struct program *p)
{
	return p->is_shared ? &of_library : &of_program;
}

/* To where the state is remembered: depth is CFA - stack pointer there. LLVM's assembler keeps the offset that .cfi_adjust_cfa_offset adds to
   through .cfi_restore_state (until 19), so it is said again. */
static void print_restore_state(struct buffer *b, unsigned depth)
{
	buffer_printf(b, ".cfi_restore_state\n.cfi_def_cfa_offset %u\n", depth);
}

/* Calls a function of the runtime, which keeps what helpers keep; rax gets what it returns. */
static void print_rare_call(struct buffer *b, const char *function)
{
	buffer_printf(b, "pushq %%rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %%rbp, 0\n"
			 "movq %%rsp, %%rbp\n.cfi_def_cfa_register %%rbp\nandq $$-16, %%rsp\n");
	buffer_printf(b, "callq *%s@GOTPCREL(%%rip)\nleave\n", function);
}

/* The number of the site is in edi: that of the process in a program, that of the image in a library. */
static void print_number(struct buffer *b, const struct place *place, const char *operation)
{
	if (place == &of_library)
		buffer_printf(b, "%s ${0:c}+8(%%rip), %%edi\n", operation);
}

/* mark: in sp. */
static void print_any_push(struct buffer *b, const struct place *place, unsigned mark)
{
	const char *t = place->temporary;
	buffer_printf(b, "%s%smovq %s, %%rax\ntestw %%ax, %%ax\nje 2f\n", place->save, place->begin, place->top);
	buffer_printf(b, "1:\nmovq %s, %s\nmovq %s, (%%rax)\n", place->id, t, t);
	buffer_printf(b, "leaq %u(%%rsp), %s\nmovq %s, 8(%%rax)\n", place->depth + mark, t, t);
	print_number(b, place, "addl");
	buffer_printf(b, "movq %%rdi, 16(%%rax)\n");
	print_number(b, place, "subl");
	buffer_printf(b, "movq %s, %s\nmovq %s, 24(%%rax)\n", place->zero, t, t);
	buffer_printf(b, "addq $$32, %%rax\nmovq %%rax, %s\n", place->top);
	if (mark == WM1_SP_RESTARTS)
		buffer_printf(b, "movl $$%d, %s\n", WM1_HISTORY_NONE, place->history);
	buffer_printf(b, ".cfi_remember_state\n%sretq\n", place->restore);
	buffer_printf(b, "2:\n");
	print_restore_state(b, place->depth);
	buffer_printf(b, ".cfi_remember_state\n");
	print_rare_call(b, "wm1_grow");
	print_restore_state(b, place->depth);
	buffer_printf(b, "%sjmp 1b\n", place->begin);
}

static void print_push(struct buffer *b, const struct place *place)
{
	print_any_push(b, place, 0);
}

static void print_push_self(struct buffer *b, const struct place *place)
{
	print_any_push(b, place, WM1_SP_RESTARTS);
}

static void print_push_selves(struct buffer *b, const struct place *place)
{
	print_any_push(b, place, WM1_SP_SPILLS);
}

/* own: of a call by itself, whose mark is in sp. Prints the slow part: no stack, the end of a segment, its first entry (segments behind the first know the one before). */
static void print_any_put_back(struct buffer *b, const struct place *place, bool own)
{
	const char *t = place->temporary;
	buffer_printf(b, "%s%smovq %s, %%rax\ntestw $$0xffbf, %%ax\nje 2f\n", place->save, place->begin, place->top);
	if (!own)
		buffer_printf(b, "1:\nleaq %u(%%rsp), %s\ncmpq %s, -24(%%rax)\njne 3f\n", place->depth, t, t);
	else
		buffer_printf(b, "1:\nmovq -24(%%rax), %s\nandq $$-4, %s\nsubq %%rsp, %s\ncmpq $$%u, %s\njne 3f\n", t,
			      t, t, place->depth, t);
	if (own)
		buffer_printf(b, "movl -4(%%rax), %s\nmovl %s, %s\n", place->short_temporary, place->short_temporary,
			      place->history);
	buffer_printf(b, "movq -32(%%rax), %s\nmovq %s, %s\nmovq $$0, %s\n", t, t, place->id, place->deferred_sp);
	buffer_printf(b, "addq $$-32, %%rax\nmovq %%rax, %s\n.cfi_remember_state\n%sretq\n", place->top,
		      place->restore);
	buffer_printf(b, "2:\n");
	print_restore_state(b, place->depth);
	buffer_printf(b, "testw %%ax, %%ax\nje 3f\ncmpq $$0, -56(%%rax)\nje 1b\n");
	buffer_printf(b, "3:\nleaq %u(%%rsp), %s\npushq %%rdi\n.cfi_adjust_cfa_offset 8\nmovq %s, %%rdi\n",
		      place->depth, t, t);
	buffer_printf(b, ".cfi_remember_state\n");
	print_rare_call(b, "wm1_put_back");
	print_restore_state(b, place->depth + 8);
	buffer_printf(b, "popq %%rdi\n.cfi_adjust_cfa_offset -8\n%sretq\n", place->restore);
}

static void print_put_back(struct buffer *b, const struct place *place)
{
	print_any_put_back(b, place, false);
}

static void print_put_back_self(struct buffer *b, const struct place *place)
{
	print_any_put_back(b, place, true);
}

static void print_defer(struct buffer *b, const struct place *place)
{
	const char *t = place->temporary;
	buffer_printf(b, "%s%s", place->save_temporary, place->begin);
	print_number(b, place, "addl");
	buffer_printf(b, "movl %%edi, %s\nleaq %u(%%rsp), %s\nmovq %s, %s\n", place->deferred_site, place->short_depth,
		      t, t, place->deferred_sp);
	print_number(b, place, "subl");
	buffer_printf(b, "%sretq\n", place->restore_temporary);
}

static void print_end(struct buffer *b, const struct place *place)
{
	const char *t = place->temporary;
	buffer_printf(b, "%s%sleaq %u(%%rsp), %s\ncmpq %s, %s\n%sjne ${1:c}\n", place->save_temporary, place->begin,
		      place->short_depth, t, t, place->deferred_sp, place->restore_temporary);
	buffer_printf(b, "movq $$0, %s\nretq\n", place->deferred_sp);
}

void outline_save_vectors(struct buffer *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		buffer_printf(b, "movups %%xmm%u, %u(%%rsp)\n", i, 16 * i);
}

void outline_load_vectors(struct buffer *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		buffer_printf(b, "movups %u(%%rsp), %%xmm%u\n", 16 * i, i);
}

/* Arguments of the function that is entered are in all registers that pass some. */
static void print_enter(struct buffer *b, const struct place *place)
{
	static const char save[] = "pushq %rax\n.cfi_adjust_cfa_offset 8\npushq %rcx\n.cfi_adjust_cfa_offset 8\n";
	static const unsigned depth = 8 + 16;
	static const char restore[] = "popq %rcx\n.cfi_adjust_cfa_offset -8\npopq %rax\n.cfi_adjust_cfa_offset -8\n";
	buffer_printf(b, "%s%smovq %s, %%rax\ntestw %%ax, %%ax\nje 2f\n", save, place->begin, place->top);
	buffer_printf(b, "movq %s, %%rcx\nmovq %%rcx, (%%rax)\nmovq %s, %%rcx\nmovq %%rcx, 8(%%rax)\n", place->id,
		      place->deferred_sp);
	buffer_printf(b, "movl %s, %%ecx\nmovq %%rcx, 16(%%rax)\nmovq %s, %%rcx\nmovq %%rcx, 24(%%rax)\n",
		      place->deferred_site, place->zero);
	buffer_printf(b, "addq $$32, %%rax\n");
	buffer_printf(b, "movq %%rax, %s\nmovq $$0, %s\n.cfi_remember_state\n%sretq\n", place->top, place->deferred_sp,
		      restore);
	buffer_printf(b, "2:\n");
	print_restore_state(b, depth);
	buffer_printf(b, "subq $$%u, %%rsp\n.cfi_adjust_cfa_offset %u\n", 16 * VECTORS, 16 * VECTORS);
	outline_save_vectors(b, VECTORS);
	buffer_printf(b, ".cfi_remember_state\n");
	print_rare_call(b, "wm1_push_deferred");
	print_restore_state(b, depth + 16 * VECTORS);
	outline_load_vectors(b, VECTORS);
	buffer_printf(b, "addq $$%u, %%rsp\n.cfi_adjust_cfa_offset -%u\n%s%sretq\n", 16 * VECTORS, 16 * VECTORS,
		      restore, place->begin);
}

static void print_enter_here(struct buffer *b, const struct place *place)
{
	buffer_printf(b, "%scmpq $$0, %s\nje 1f\ncallq ${1:c}\n", place->begin, place->deferred_sp);
	buffer_printf(b, "1:\nmovq $$0, %s\nretq\n", place->id);
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

/* other: a second operand of the assembly, or NULL. */
static struct error *add_helper(struct program *p, const char *name, struct buffer *text, bool has_argument,
				LLVMValueRef other, LLVMValueRef *ret)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(p->context);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(p->context), &i64, has_argument, 0);
	LLVMValueRef operands[] = {LLVMGetNamedGlobal(p->module, "wm1.image"), other};
	struct error *err = buffer_error(text);
	if (err)
		return err;
	*ret = outline_add_code(p, name, type, text, other ? "i,i" : "i", operands, other ? 2 : 1);
	LLVMSetFunctionCallConv(*ret, LLVMPreserveMostCallConv);
	ir_add_attribute(*ret, "nounwind", 0);
	return NULL;
}

typedef void (*print_helper)(struct buffer *b, const struct place *place);

static struct error *add_printed(struct program *p, const char *name, print_helper print, bool has_argument,
				 LLVMValueRef other, LLVMValueRef *ret)
{
	struct buffer text = {0};
	print(&text, place_of(p));
	struct error *err = add_helper(p, name, &text, has_argument, other, ret);
	buffer_deinit(&text);
	return err;
}

/* The helper, where support.ll has a declaration for it. */
static void put_in_place(struct program *p, const char *late, LLVMValueRef helper)
{
	LLVMValueRef declared = LLVMGetNamedFunction(p->module, late);
	LLVMReplaceAllUsesWith(declared, helper);
	LLVMDeleteFunction(declared);
}

struct error *outline_add(struct program *p, struct support *s)
{
	struct error *err = add_printed(p, "wm1.push_here", print_push, true, NULL, &s->push_here);
	if (!err)
		err = add_printed(p, "wm1.put_back", print_put_back, false, NULL, &s->put_back);
	if (!err)
		err = add_printed(p, "wm1.push_self", print_push_self, true, NULL, &s->push_self);
	if (!err)
		err = add_printed(p, "wm1.push_selves", print_push_selves, true, NULL, &s->push_selves);
	if (!err)
		err = add_printed(p, "wm1.put_back_self", print_put_back_self, false, NULL, &s->put_back_self);
	if (!err)
		err = add_printed(p, "wm1.defer_here", print_defer, true, NULL, &s->defer_here);
	if (!err)
		err = add_printed(p, "wm1.end_here", print_end, false, s->put_back, &s->end_here);
	if (!err)
		err = add_printed(p, "wm1.enter_slow", print_enter, false, NULL, &s->enter_slow);
	if (!err)
		err = add_printed(p, "wm1.enter_here", print_enter_here, false, s->enter_slow, &s->enter_here);
	if (err)
		return err;
	put_in_place(p, "wm1.late_put_back", s->put_back);
	put_in_place(p, "wm1.late_push_self", s->push_self);
	put_in_place(p, "wm1.late_push_selves", s->push_selves);
	put_in_place(p, "wm1.late_put_back_self", s->put_back_self);
	put_in_place(p, "wm1.late_enter", s->enter_slow);
	for (unsigned i = 0; i < ID_CHANGE_COUNT && !err; i++) {
		struct buffer text = {0};
		buffer_printf(&text, "%s%s %%rdi, %s\nretq\n", place_of(p)->begin, change_codes[i], place_of(p)->id);
		err = add_helper(p, change_names[i], &text, true, NULL, &s->change[i]);
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
		err = add_helper(p, (const char *)name.bytes, &text, false, NULL, &shared->helper);
	buffer_deinit(&text);
	buffer_deinit(&name);
	return err;
}

void outline_call(LLVMBuilderRef builder, LLVMValueRef helper, LLVMValueRef *argument)
{
	LLVMValueRef call = LLVMBuildCall2(builder, support_type(helper), helper, argument, argument != NULL, "");
	LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
}

struct error *outline_change(struct program *p, const struct support *s, LLVMBuilderRef builder, enum id_change change,
			     uint64_t value)
{
	struct shared_change *shared = cold_find(p, change, value);
	LLVMValueRef number = LLVMConstInt(s->i64, value, 0);
	struct error *err = shared && !shared->helper ? add_shared(p, shared) : NULL;
	if (!err)
		outline_call(builder, shared ? shared->helper : s->change[change], shared ? NULL : &number);
	return err;
}
