/*
 * path_table.c - what a counted function has beside its code (waymark/paths.h): its descriptor, each thread's slot, the checks
 * of a plan, and the call that makes the table.
 *
 *      wm1.path.NAME.HASH      constant; what the runtime needs to make a table
 *      wm1.slot.NAME.HASH      thread-local pointer to the table
 *      wm1.check.NAME.HASH     constant; PLAN: the packed numbers of the interesting paths
 *      wm1.enter.NAME.HASH     wm1_path_enter(descriptor, slot), out of line so that the function stays small to the inliner
 *
 * A function that several objects may have (inline functions, and what may be inlined into another object under LTO) shares
 * them under these names: hidden, in a comdat group of their own, so that copies inlined from a discarded definition still
 * link, and count once. HASH is over all that decides the table's layout, so unequal ones never meet.
 */
#include <llvm-c/Comdat.h>
#include <string.h>

#include <waymark/abi.h>

#include "instrument/path.h"

struct table_builder {
	struct path_graph *g;
	const struct path_choice *choice;
	uint64_t hash;
	LLVMComdatRef comdat; /* NULL: local */
};

static uint64_t layout_hash(const struct path_graph *g, const struct path_choice *choice)
{
	const uint64_t parts[] = {g->meta.name_key, g->meta.cfg_key,     choice->kind,
				  choice->bits,     choice->entry_count, choice->flags};
	uint64_t hash = pathmeta_hash(PATHMETA_HASH, parts, sizeof parts);
	if (choice->checks)
		hash = pathmeta_hash(hash, choice->checks, choice->entry_count * sizeof *choice->checks);
	return hash;
}

static const char *part_name(const struct table_builder *b, const char *part)
{
	return arena_printf(b->g->scratch, "wm1.%s.%s.%016llx", part, b->g->meta.link_name,
			    (unsigned long long)b->hash);
}

static void share(const struct table_builder *b, LLVMValueRef global)
{
	LLVMSetLinkage(global, b->comdat ? LLVMLinkOnceODRLinkage : LLVMInternalLinkage);
	if (b->comdat) {
		LLVMSetVisibility(global, LLVMHiddenVisibility);
		LLVMSetComdat(global, b->comdat);
	}
}

static struct error *add_global(struct table_builder *b, LLVMTypeRef type, const char *part, LLVMValueRef value,
				LLVMValueRef *ret)
{
	const char *name = part_name(b, part);
	if (!name)
		return &error_no_memory;
	LLVMValueRef global = LLVMAddGlobal(b->g->m->module, type, name);
	LLVMSetInitializer(global, value);
	share(b, global);
	LLVMSetAlignment(global, 8);
	*ret = global;
	return NULL;
}

static struct error *add_checks(struct table_builder *b, LLVMValueRef *ret)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(b->g->m->context);
	const uint32_t count = b->choice->entry_count;
	LLVMValueRef *values = arena_calloc(b->g->scratch, count, sizeof(LLVMValueRef));
	if (!values)
		return &error_no_memory;
	for (uint32_t i = 0; i < count; i++)
		values[i] = LLVMConstInt(i64, b->choice->checks[i], 0);
	struct error *err =
		add_global(b, LLVMArrayType2(i64, count), "check", LLVMConstArray2(i64, values, count), ret);
	if (!err)
		LLVMSetGlobalConstant(*ret, 1);
	return err;
}

/* The ELF header of the image, by the linker's name for it. */
static LLVMValueRef image_header(LLVMModuleRef module)
{
	const char *name = "__ehdr_start";
	LLVMValueRef header = LLVMGetNamedGlobal(module, name);
	if (header)
		return header;
	header = LLVMAddGlobal(module, LLVMInt8TypeInContext(LLVMGetModuleContext(module)), name);
	LLVMSetVisibility(header, LLVMHiddenVisibility);
	return header;
}

static struct error *add_descriptor(struct table_builder *b, LLVMValueRef checks, LLVMValueRef *ret)
{
	const struct path_graph *g = b->g;
	LLVMContextRef context = g->m->context;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(context);
	LLVMTypeRef i16 = LLVMInt16TypeInContext(context);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
	LLVMValueRef fields[] = {
		LLVMConstInt(i32, WM1_ABI_VERSION, 0),
		LLVMConstInt(i8, b->choice->kind, 0),
		LLVMConstInt(i8, b->choice->bits, 0),
		LLVMConstInt(i16, b->choice->flags, 0),
		LLVMConstInt(i64, g->meta.name_key, 0),
		LLVMConstInt(i64, g->meta.cfg_key, 0),
		LLVMConstInt(i64, g->meta.path_count, 0),
		image_header(g->m->module),
		checks ? checks : LLVMConstNull(pointer),
		LLVMConstInt(i32, b->choice->entry_count, 0),
		LLVMConstInt(i32, 0, 0),
	};
	_Static_assert(sizeof(struct wm1_path_function) == 56 && offsetof(struct wm1_path_function, flags) == 6 &&
			       offsetof(struct wm1_path_function, ehdr) == 32 &&
			       offsetof(struct wm1_path_function, entry_count) == 48,
		       "these are its fields");
	LLVMValueRef value = LLVMConstStructInContext(context, fields, sizeof fields / sizeof *fields, 0);
	struct error *err = add_global(b, LLVMTypeOf(value), "path", value, ret);
	if (!err)
		LLVMSetGlobalConstant(*ret, 1);
	return err;
}

static uint64_t module_flag(LLVMModuleRef module, const char *name)
{
	LLVMMetadataRef flag = LLVMGetModuleFlag(module, name, strlen(name));
	if (!flag)
		return 0;
	LLVMValueRef value = LLVMMetadataAsValue(LLVMGetModuleContext(module), flag);
	LLVMValueRef number = LLVMGetNumOperands(value) ? LLVMGetOperand(value, 0) : NULL;
	return number && LLVMIsAConstantInt(number) ? LLVMConstIntGetZExtValue(number) : 0;
}

/* The code will be part of a program, not of a shared library. */
static bool is_program(const struct path_module *m)
{
	if (m->options->is_final)
		return !m->options->is_shared;
	return !module_flag(m->module, "PIC Level") || module_flag(m->module, "PIE Level");
}

static void add_function_attribute(const struct path_module *m, LLVMValueRef function, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(m->context, kind, 0));
}

LLVMValueRef path_runtime_function(const struct path_module *m, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
	if (function)
		return function;
	function = LLVMAddFunction(m->module, name, type);
	LLVMSetFunctionCallConv(function, LLVMPreserveMostCallConv);
	add_function_attribute(m, function, "nounwind");
	/* The lazy resolver does not keep all the registers that preserve_most does. */
	add_function_attribute(m, function, "nonlazybind");
	if (is_program(m))
		m->host->bind_locally(function); /* `waymark cc` links the runtime into programs */
	if (strcmp(name, "wm1_path_miss") != 0)
		add_function_attribute(m, function, "cold");
	return function;
}

static struct error *add_enter(struct table_builder *b, struct path_table *table)
{
	const struct path_module *m = b->g->m;
	LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
	const char *name = part_name(b, "enter");
	if (!name)
		return &error_no_memory;
	LLVMTypeRef types[] = {pointer, pointer};
	LLVMTypeRef type = LLVMFunctionType(pointer, types, 2, 0);
	LLVMValueRef runtime = path_runtime_function(m, "wm1_path_enter", type);
	table->enter = LLVMAddFunction(m->module, name, LLVMFunctionType(pointer, NULL, 0, 0));
	share(b, table->enter);
	path_mark_counted(m, table->enter);
	LLVMSetFunctionCallConv(table->enter, LLVMPreserveMostCallConv);
	static const char *const attributes[] = {"nounwind", "cold", "noinline"};
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		add_function_attribute(m, table->enter, attributes[i]);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(m->context, table->enter, ""));
	LLVMValueRef arguments[] = {table->descriptor, table->slot};
	LLVMValueRef call = LLVMBuildCall2(builder, type, runtime, arguments, 2, "");
	LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
	LLVMSetTailCall(call, 1);
	LLVMBuildRet(builder, call);
	LLVMDisposeBuilder(builder);
	return NULL;
}

static bool is_local(const struct path_graph *g)
{
	LLVMLinkage linkage = LLVMGetLinkage(g->function);
	return g->m->options->is_final || linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

struct error *path_table_add(struct path_graph *g, const struct path_choice *choice, struct path_table *ret)
{
	struct table_builder b = {.g = g, .choice = choice, .hash = layout_hash(g, choice)};
	LLVMTypeRef pointer = LLVMPointerTypeInContext(g->m->context, 0);
	struct path_table table = {.is_local_exec = is_program(g->m)};
	LLVMValueRef checks = NULL;
	if (!is_local(g)) {
		const char *name =
			arena_printf(g->scratch, "wm1.path.%s.%016llx", g->meta.link_name, (unsigned long long)b.hash);
		if (!name)
			return &error_no_memory;
		b.comdat = LLVMGetOrInsertComdat(g->m->module, name);
	}
	struct error *err = choice->checks ? add_checks(&b, &checks) : NULL;
	if (!err)
		err = add_descriptor(&b, checks, &table.descriptor);
	if (!err)
		err = add_global(&b, pointer, "slot", LLVMConstNull(pointer), &table.slot);
	if (err)
		return err;
	LLVMSetThreadLocalMode(table.slot, table.is_local_exec ? LLVMLocalExecTLSModel : LLVMGeneralDynamicTLSModel);
	err = add_enter(&b, &table);
	if (err)
		return err;
	*ret = table;
	return NULL;
}
