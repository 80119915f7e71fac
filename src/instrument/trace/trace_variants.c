/*
 * trace_variants.c - a function with several schemes compiled in: one body for each, chosen by a byte that `waymark tune` edits.
 *
 *      f:          cmpb $0, chosen(%rip)       ahead of f's own code, which is the body of its first scheme: where arguments
 *                  jne f.wm                    are, and what the body does to the stack, is left as it is
 *                  ...
 *      f.wm:       cmpb $2, chosen(%rip)       with two schemes, jne leads to the other body at once
 *                  je f.wm.SCHEME2
 *                  jmp f.wm.SCHEME1
 *
 * Callers, pointers and exported names are f's as ever. What the program does not choose costs a comparison and a branch for
 * each call. Where other passes follow, which may inline f, or the linker may take another f, the same is done in IR, with tail
 * calls; LLVM 19 has these go wrong with arguments in memory (byval), so such functions have their first scheme only.
 */
#include <string.h>

#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>

#include "base/cleanup.h"
#include "format/scheme.h"
#include "instrument/trace/trace.h"
#include "llvm/ir.h"

/* Labels as values: their addresses are in tables that a copy would share. */
static bool has_labels(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b);
		if (terminator && LLVMIsAIndirectBrInst(terminator))
			return true;
	}
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
		if (LLVMIsABlockAddress(LLVMGetUser(use)))
			return true;
	return false;
}

enum {
	PARAMETERS_MAX = 256,
};

/* Code ahead of the function's own can name it: it is no symbol that another object may define, too. */
static bool has_code_ahead(const struct trace_function *f)
{
	LLVMLinkage linkage = LLVMGetLinkage(f->function);
	return f->m->path_options.is_final &&
	       (linkage == LLVMExternalLinkage || linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage);
}

static bool has_memory_arguments(const struct trace_function *f)
{
	const unsigned count = LLVMCountParams(f->function);
	for (unsigned i = 1; i <= count; i++)
		if (LLVMGetEnumAttributeAtIndex(f->function, i, f->m->kinds.byval) ||
		    LLVMGetEnumAttributeAtIndex(f->function, i, f->m->kinds.inalloca))
			return true;
	return count > PARAMETERS_MAX;
}

const char *trace_clone_reason(const struct trace_function *f)
{
	if (has_labels(f->function))
		return "labels as values: its first scheme only";
	if (f->m->paths.host->prologue_data(f->function))
		return "code of another kind ahead of its own: its first scheme only";
	if (!has_code_ahead(f) && has_memory_arguments(f))
		return "arguments in memory: its first scheme only";
	return NULL;
}

/* A copy's name, the scratch arena's; NULL without memory. */
static const char *trace_clone_name(const struct trace_function *f, const struct path_graph *g, uint8_t scheme)
{
	return arena_printf(f->scratch, "%s.wm.%s", g->meta.link_name, scheme_name(scheme));
}

static void mark_variant(LLVMValueRef body, LLVMValueRef function)
{
	size_t len_bytes;
	const char *name = LLVMGetValueName2(function, &len_bytes);
	LLVMAttributeRef attribute =
		LLVMCreateStringAttribute(LLVMGetModuleContext(LLVMGetGlobalParent(function)), IR_VARIANT_OF,
					  (unsigned)strlen(IR_VARIANT_OF), name, (unsigned)len_bytes);
	LLVMAddAttributeAtIndex(body, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

struct error *trace_clone(struct trace_function *f, const struct path_graph *g, uint8_t scheme, LLVMValueRef *ret)
{
	const char *name = trace_clone_name(f, g, scheme);
	if (!name)
		return &error_no_memory;
	*ret = f->m->paths.host->clone(f->function, name);
	if (f->m->path_options.is_final) /* else it goes on to be optimized by itself */
		mark_variant(*ret, f->function);
	return NULL;
}

static void copy_attributes(LLVMValueRef from, LLVMValueRef call, LLVMAttributeIndex index)
{
	LLVMAttributeRef attributes[64];
	unsigned count = LLVMGetAttributeCountAtIndex(from, index);
	if (count > sizeof attributes / sizeof *attributes)
		return;
	LLVMGetAttributesAtIndex(from, index, attributes);
	for (unsigned i = 0; i < count; i++)
		LLVMAddCallSiteAttribute(call, index, attributes[i]);
}

/* LLVM 19 makes loops of functions that call themselves, and adds up their results, also those of tail calls that must stay. */
static bool calls_itself(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsACallInst(user) && LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function)
			return true;
	}
	return false;
}

/* return body(the same arguments); */
static void call_in_place(struct trace_function *f, LLVMBuilderRef builder, LLVMBasicBlockRef block, LLVMValueRef body)
{
	LLVMValueRef arguments[PARAMETERS_MAX];
	const unsigned count = LLVMCountParams(f->function);
	LLVMTypeRef type = LLVMGlobalGetValueType(f->function);
	LLVMGetParams(f->function, arguments);
	LLVMPositionBuilderAtEnd(builder, block);
	LLVMValueRef call = LLVMBuildCall2(builder, type, body, arguments, count, "");
	bool may_stay = LLVMIsFunctionVarArg(type) || !calls_itself(f->function);
	LLVMSetTailCallKind(call, may_stay ? LLVMTailCallKindMustTail : LLVMTailCallKindTail);
	LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(f->function));
	for (unsigned i = 0; i <= count; i++) /* 0 is the result */
		copy_attributes(f->function, call, i);
	if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
		LLVMBuildRetVoid(builder);
	else
		LLVMBuildRet(builder, call);
}

static LLVMMetadataRef first_line(const struct trace_function *f)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(f->function);
	return subprogram ? LLVMDIBuilderCreateDebugLocation(f->m->paths.context, LLVMDISubprogramGetLine(subprogram),
							     0, subprogram, NULL)
			  : NULL;
}

static void dispatch_in_ir(struct trace_function *f, LLVMValueRef chosen)
{
	LLVMContextRef context = f->m->paths.context;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(context);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef at = ir_gather_allocas(builder, f->function);
	LLVMPositionBuilderBefore(builder, at);
	LLVMSetCurrentDebugLocation2(builder, first_line(f));
	LLVMValueRef value = LLVMBuildLoad2(builder, i8, chosen, "wm1.chosen");
	LLVMValueRef other = LLVMBuildICmp(builder, LLVMIntNE, value, LLVMConstNull(i8), "wm1.other");
	LLVMValueRef then = f->m->paths.host->insert_if(other, at);
	LLVMBasicBlockRef block = LLVMGetInstructionParent(then);
	LLVMInstructionEraseFromParent(then);
	if (f->scheme_count == 2) {
		call_in_place(f, builder, block, f->bodies[1]);
	} else {
		LLVMPositionBuilderAtEnd(builder, block);
		value = LLVMBuildLoad2(builder, i8, chosen, "wm1.which");
		LLVMBasicBlockRef target = LLVMAppendBasicBlockInContext(context, f->function, "wm1.variant");
		LLVMValueRef branch = LLVMBuildSwitch(builder, value, target, f->scheme_count);
		call_in_place(f, builder, target, f->bodies[1]);
		for (uint32_t i = 2; i < f->scheme_count; i++) {
			target = LLVMAppendBasicBlockInContext(context, f->function, "wm1.variant");
			LLVMAddCase(branch, LLVMConstInt(i8, i, 0), target);
			call_in_place(f, builder, target, f->bodies[i]);
		}
	}
	LLVMDisposeBuilder(builder);
}

/* ---- ahead of the function's code ---- */

/* Distance from a place in the function's own symbol to a target, 4 bytes. */
static LLVMValueRef relative(struct trace_function *f, LLVMValueRef to, uint64_t from_off)
{
	LLVMContextRef context = f->m->paths.context;
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMValueRef from = LLVMConstAdd(LLVMConstPtrToInt(f->function, i64), LLVMConstInt(i64, from_off, 0));
	return LLVMConstTrunc(LLVMConstSub(LLVMConstPtrToInt(to, i64), from), LLVMInt32TypeInContext(context));
}

/* Both calls and jumps to a function must find endbr64 first where the processor enforces it. */
static bool marks_targets(const struct trace_module *m)
{
	static const char name[] = "cf-protection-branch";
	return LLVMGetModuleFlag(m->paths.module, name, strlen(name)) != NULL;
}

static LLVMValueRef bytes(struct trace_function *f, const uint8_t *text, unsigned len)
{
	LLVMValueRef values[8];
	LLVMTypeRef i8 = LLVMInt8TypeInContext(f->m->paths.context);
	for (unsigned i = 0; i < len; i++)
		values[i] = LLVMConstInt(i8, text[i], 0);
	return LLVMConstArray2(i8, values, len);
}

/* [endbr64;] cmpb $0, chosen(%rip); jne other */
static void put_ahead(struct trace_function *f, LLVMValueRef chosen, LLVMValueRef other)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, cmpb[] = {0x80, 0x3d},
			     zero_jne[] = {0x00, 0x0f, 0x85};
	const unsigned start = marks_targets(f->m) ? sizeof endbr64 : 0;
	const unsigned cmpb_end = start + 7, jne_end = cmpb_end + 6;
	LLVMValueRef parts[] = {
		bytes(f, endbr64, start),      bytes(f, cmpb, sizeof cmpb),
		relative(f, chosen, cmpb_end), bytes(f, zero_jne, sizeof zero_jne),
		relative(f, other, jne_end),
	};
	f->m->paths.host->set_prologue_data(f->function, LLVMConstStructInContext(f->m->paths.context, parts,
										  sizeof parts / sizeof *parts, 1));
}

/* f.wm: to the body that is chosen, if it is not the function's own. */
static struct error *make_switch(struct trace_function *f, LLVMValueRef chosen, LLVMValueRef *ret)
{
	const struct path_module *m = &f->m->paths;
	const char *name = arena_printf(f->scratch, "%s.wm", LLVMGetValueName(f->function));
	CLEANUP(buffer_deinit) struct buffer text = {0};
	CLEANUP(buffer_deinit) struct buffer constraints = {0};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), NULL, 0, 0);
	LLVMValueRef operands[WM1_SCHEMES] = {chosen};
	for (uint32_t i = 0; i < f->scheme_count; i++) {
		buffer_printf(&constraints, i ? ",i" : "i");
		if (i >= 1)
			operands[i] = f->bodies[i];
		if (i >= 2)
			buffer_printf(&text, "cmpb $$%u, ${0:c}(%%rip)\nje ${%u:c}\n", i, i);
	}
	buffer_printf(&text, "jmp ${1:c}");
	struct error *err = name ? buffer_error(&text) : &error_no_memory;
	if (!err)
		err = buffer_error(&constraints);
	if (err)
		return err;
	*ret = ir_add_naked(m->module, name, type,
			    &(struct ir_assembly){&text, (const char *)constraints.bytes, constraints.len_bytes,
						  operands, f->scheme_count});
	ir_add_attribute(*ret, "nounwind", 0);
	return NULL;
}

static struct error *dispatch_ahead(struct trace_function *f, LLVMValueRef chosen)
{
	LLVMValueRef other = f->bodies[1];
	struct error *err = f->scheme_count > 2 ? make_switch(f, chosen, &other) : NULL;
	if (!err)
		put_ahead(f, chosen, other);
	return err;
}

/* ---- what tune edits ---- */

static LLVMValueRef add_data(struct trace_function *f, const char *part, LLVMTypeRef type, LLVMValueRef value)
{
	LLVMValueRef global = LLVMAddGlobal(f->m->paths.module, type, part);
	LLVMSetInitializer(global, value);
	LLVMSetLinkage(global, LLVMInternalLinkage);
	LLVMComdatRef comdat = LLVMGetComdat(f->function);
	if (comdat)
		LLVMSetComdat(global, comdat);
	return global;
}

static LLVMValueRef add_text(struct trace_function *f, const char *text)
{
	LLVMValueRef value = LLVMConstStringInContext(f->m->paths.context, text, (unsigned)strlen(text), 0);
	LLVMValueRef global = add_data(f, "wm1.text", LLVMTypeOf(value), value);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(global, 1);
	LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
	LLVMSetAlignment(global, 1);
	return global;
}

/* to, from the field of the tunable on. */
static LLVMValueRef distance(struct trace_function *f, LLVMTypeRef type, LLVMValueRef tunable, unsigned field,
			     LLVMValueRef to)
{
	LLVMContextRef context = f->m->paths.context;
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	LLVMValueRef indices[] = {LLVMConstInt(i32, 0, 0), LLVMConstInt(i32, field, 0)};
	LLVMValueRef from = LLVMConstInBoundsGEP2(type, tunable, indices, 2);
	return LLVMConstTrunc(LLVMConstSub(LLVMConstPtrToInt(to, i64), LLVMConstPtrToInt(from, i64)), i32);
}

static LLVMValueRef add_tunable(struct trace_function *f, const struct path_graph *g)
{
	LLVMContextRef context = f->m->paths.context;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(context);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	_Static_assert(sizeof(struct wm1_tunable) == 28 && offsetof(struct wm1_tunable, chosen) == 12, "as below");
	LLVMTypeRef types[] = {i32, i32, i32, i32, LLVMArrayType2(i8, 12)};
	LLVMTypeRef type = LLVMStructTypeInContext(context, types, sizeof types / sizeof *types, 0);
	LLVMValueRef chosen = add_data(f, "wm1.chosen", i8, LLVMConstNull(i8));
	LLVMSetSection(chosen, "wm1_chosen");
	LLVMValueRef tunable = add_data(f, "wm1.tunable", type, LLVMConstNull(type));
	LLVMSetSection(tunable, "wm1_tunables");
	LLVMSetAlignment(tunable, 4);
	LLVMSetGlobalConstant(tunable, 1);
	uint8_t bytes[12] = {(uint8_t)f->scheme_count};
	memcpy(bytes + 2, f->schemes, f->scheme_count);
	LLVMValueRef end[12];
	for (unsigned i = 0; i < sizeof bytes; i++)
		end[i] = LLVMConstInt(i8, bytes[i], 0);
	LLVMValueRef fields[] = {
		distance(f, type, tunable, 0, add_text(f, g->meta.name)),
		distance(f, type, tunable, 1, add_text(f, f->plain_name ? f->plain_name : "")),
		distance(f, type, tunable, 2, add_text(f, g->meta.file ? g->meta.file : "")),
		distance(f, type, tunable, 3, chosen),
		LLVMConstArray2(i8, end, sizeof bytes),
	};
	LLVMSetInitializer(tunable, LLVMConstStructInContext(context, fields, sizeof fields / sizeof *fields, 0));
	f->m->paths.host->keep_linked(tunable);
	f->m->paths.host->keep_linked(chosen);
	return chosen;
}

struct error *trace_tune(struct trace_function *f, const struct path_graph *g)
{
	LLVMValueRef chosen = add_tunable(f, g);
	f->m->has_tunables = true;
	if (has_code_ahead(f))
		return dispatch_ahead(f, chosen);
	dispatch_in_ir(f, chosen);
	return NULL;
}

/* ---- start-up ---- */

static LLVMValueRef section_end(struct trace_module *m, const char *name)
{
	LLVMValueRef end = LLVMGetNamedGlobal(m->paths.module, name);
	if (!end) {
		end = LLVMAddGlobal(m->paths.module, LLVMInt8TypeInContext(m->paths.context), name);
		LLVMSetVisibility(end, LLVMHiddenVisibility);
	}
	return end;
}

/* One constructor for each image, of all its units. */
void trace_add_constructor(struct trace_module *m)
{
	static const char name[] = "wm1.trace.choose";
	LLVMModuleRef module = m->paths.module;
	LLVMContextRef context = m->paths.context;
	if (!m->has_tunables)
		return;
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
	LLVMTypeRef types[] = {pointer, pointer};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), types, 2, 0);
	LLVMValueRef choose = LLVMAddFunction(module, "wm1_trace_choose", type);
	LLVMSetVisibility(choose, LLVMHiddenVisibility);
	LLVMValueRef constructor =
		LLVMAddFunction(module, name, LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0));
	LLVMSetLinkage(constructor, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(constructor, LLVMHiddenVisibility);
	LLVMSetComdat(constructor, LLVMGetOrInsertComdat(module, name));
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, constructor, ""));
	LLVMValueRef arguments[] = {section_end(m, "__start_wm1_tunables"), section_end(m, "__stop_wm1_tunables")};
	LLVMBuildCall2(builder, type, choose, arguments, 2, "");
	LLVMBuildRetVoid(builder);
	LLVMDisposeBuilder(builder);
	m->paths.host->add_constructor(constructor);
}
