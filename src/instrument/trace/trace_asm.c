/*
 * trace_asm.c - the inline assembly of traced code: each operation is one instruction on memory, and what is true behind it
 * stands in .debug_waymark_points (waymark/trace.h):
 *
 *      addb $5, 24(%rsp)
 *      771: .pushsection .debug_waymark_points,"",@progbits
 *      .quad 771b-1
 *      .quad VALUE
 *      .popsection
 *
 * It has side effects as far as the compiler knows, so it stays in its place among all that touches memory and may fault; where
 * code is duplicated each copy has points of its own. A copy that the linker discards leaves points at address 0.
 */
#include <inttypes.h>
#include <string.h>

#include "instrument/trace/trace.h"

static char suffix(unsigned bytes)
{
	return bytes == 1 ? 'b' : bytes == 2 ? 'w' : bytes == 4 ? 'l' : 'q';
}

void trace_asm_begin(struct trace_asm *a, const struct trace_body *b)
{
	*a = (struct trace_asm){.b = b};
}

static LLVMTypeRef integer_type(const struct trace_asm *a, unsigned bytes)
{
	return LLVMIntTypeInContext(a->b->f->m->paths.context, 8 * bytes);
}

/* The operand's number in the text. Register 0, if there is one, comes first: the number is known only at the end. */
static unsigned add_operand(struct trace_asm *a, LLVMValueRef value, LLVMTypeRef element)
{
	a->operands[a->count] = value;
	a->elements[a->count] = element;
	return a->count++;
}

static void end_points(struct trace_asm *a)
{
	if (a->in_points)
		buffer_printf(&a->text, "\n.popsection");
	a->in_points = false;
}

static void begin_instruction(struct trace_asm *a)
{
	end_points(a);
	a->has_code = true;
	if (a->text.len_bytes)
		buffer_printf(&a->text, "\n");
}

static bool is_immediate(uint64_t value, unsigned bytes)
{
	return bytes < 8 || (value <= INT32_MAX || value >= (uint64_t)INT32_MIN);
}

void trace_asm_constant(struct trace_asm *a, const char *what, unsigned bytes, uint64_t value, LLVMValueRef memory)
{
	value &= bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
	begin_instruction(a);
	unsigned operand = add_operand(a, memory, integer_type(a, bytes));
	a->sets_flags |= strcmp(what, "mov") != 0;
	if (is_immediate(value, bytes)) {
		/* As the assembler prints it: sign-extended. */
		unsigned shift = 64 - 8 * bytes;
		buffer_printf(&a->text, "%s%c $$%" PRId64 ", $M%u", what, suffix(bytes),
			      (int64_t)(value << shift) >> shift, operand);
		return;
	}
	a->has_scratch = true;
	buffer_printf(&a->text, "movabsq $$%" PRId64 ", $0\n%sq $0, $M%u", (int64_t)value, what, operand);
}

void trace_asm_value(struct trace_asm *a, const char *what, unsigned bytes, LLVMValueRef value, LLVMValueRef memory)
{
	static const char modifiers[] = {[1] = 'b', [2] = 'w', [4] = 'k', [8] = 'q'};
	begin_instruction(a);
	unsigned to = add_operand(a, memory, integer_type(a, bytes));
	unsigned from = add_operand(a, value, NULL);
	buffer_printf(&a->text, "%s%c ${M%u:%c}, $M%u", what, suffix(bytes), from, modifiers[bytes], to);
}

void trace_asm_increment(struct trace_asm *a, LLVMValueRef memory)
{
	begin_instruction(a);
	a->sets_flags = true;
	buffer_printf(&a->text, "incl $M%u", add_operand(a, memory, integer_type(a, 4)));
}

static void begin_point(struct trace_asm *a, enum wm1_point kind, uint32_t node)
{
	const struct trace_body *b = a->b;
	uint64_t value = node | (uint64_t)b->variant->scheme << WM1_POINT_SCHEME_SHIFT |
			 (uint64_t)kind << WM1_POINT_KIND_SHIFT | (uint64_t)b->f->index << WM1_POINT_FUNCTION_SHIFT;
	if (!a->in_points)
		buffer_printf(&a->text, "%s771: .pushsection .debug_waymark_points,\"\",@progbits",
			      a->text.len_bytes ? "\n" : "");
	if (!a->in_points && b->f->m->options->names_units)
		buffer_printf(&a->text, "\n.quad -1\n.quad %s\n.quad %s", b->f->m->key_name,
			      b->f->m->coverage ? b->f->m->coverage_name : "0");
	a->in_points = true;
	/* Behind an instruction others may jump to where the next one is: its own last byte is never taken for theirs. */
	buffer_printf(&a->text, "\n.quad 771b%s\n.quad 0x%" PRIx64, a->has_code ? "-1" : "", value);
}

void trace_asm_point(struct trace_asm *a, enum wm1_point kind, uint32_t node)
{
	begin_point(a, kind, node);
}

void trace_asm_frame(struct trace_asm *a, LLVMValueRef record)
{
	begin_point(a, WM1_POINT_FRAME, 0);
	buffer_printf(&a->text, "\n.asciz \"$M%u\"", add_operand(a, record, integer_type(a, 1)));
}

/* $M1 is $1, or $2 when a register stands before. */
static struct error *number_operands(const struct trace_asm *a, struct buffer *ret)
{
	const uint8_t *text = a->text.bytes;
	for (size_t i = 0; i < a->text.len_bytes; i++) {
		bool is_operand = text[i] == 'M' && i && (text[i - 1] == '$' || text[i - 1] == '{');
		if (is_operand)
			buffer_u8(ret, (uint8_t)(text[++i] + a->has_scratch));
		else
			buffer_u8(ret, text[i]);
	}
	return buffer_error(ret);
}

static void add_enum_attribute(LLVMValueRef call, LLVMContextRef context, LLVMAttributeIndex index, const char *name)
{
	unsigned kind = ir_attribute_kind(name);
	LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(context, kind, 0));
}

static void build(struct trace_asm *a, LLVMBuilderRef builder, const struct buffer *text)
{
	LLVMContextRef context = a->b->f->m->paths.context;
	LLVMTypeRef types[sizeof a->operands / sizeof *a->operands];
	for (unsigned i = 0; i < a->count; i++) {
		types[i] = LLVMTypeOf(a->operands[i]);
		buffer_printf(&a->constraints, "%s%s", i || a->has_scratch ? "," : "", a->elements[i] ? "*m" : "r");
	}
	if (a->sets_flags)
		buffer_printf(&a->constraints, ",~{flags}");
	LLVMTypeRef result = a->has_scratch ? LLVMInt64TypeInContext(context) : LLVMVoidTypeInContext(context);
	LLVMTypeRef type = LLVMFunctionType(result, types, a->count, 0);
	LLVMValueRef code =
		LLVMGetInlineAsm(type, (const char *)text->bytes, text->len_bytes, (const char *)a->constraints.bytes,
				 a->constraints.len_bytes, 1, 0, LLVMInlineAsmDialectATT, 0);
	/* Points alone have no line: the assembler would give the line's row of the table to the first bytes it sees, which are
	 * those of the other section, and the instruction behind would go without. */
	LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(builder);
	if (!a->has_code)
		LLVMSetCurrentDebugLocation2(builder, NULL);
	LLVMValueRef call = LLVMBuildCall2(builder, type, code, a->operands, a->count, "");
	LLVMSetCurrentDebugLocation2(builder, location);
	for (unsigned i = 0; i < a->count; i++)
		if (a->elements[i]) {
			LLVMAddCallSiteAttribute(call, i + 1,
						 LLVMCreateTypeAttribute(context, a->b->f->m->kinds.elementtype,
									 a->elements[i]));
			add_enum_attribute(call, context, i + 1, "nocapture");
		}
	static const char *const harmless[] = {"nounwind", "willreturn", "nofree", "nocallback"};
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		add_enum_attribute(call, context, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, harmless[i]);
}

struct error *trace_asm_end(struct trace_asm *a, LLVMBuilderRef builder)
{
	struct buffer text = {0};
	end_points(a);
	if (a->has_scratch)
		buffer_printf(&a->constraints, "=&r");
	struct error *err = buffer_error(&a->text);
	if (!err)
		err = number_operands(a, &text);
	if (!err && text.len_bytes)
		build(a, builder, &text);
	if (!err)
		err = buffer_error(&a->constraints);
	buffer_deinit(&text);
	buffer_deinit(&a->text);
	buffer_deinit(&a->constraints);
	return err;
}
