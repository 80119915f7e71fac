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
 *
 * At the source stage a translation unit's small arrays lie one after the other, as a bundle with one slot for all: what is
 * inlined into one function there finds the slot loaded and tested.
 *
 *      wm1.slot  -->  words of f | record of g | words of g | record of h | words of h ...     offsets are known when compiling
 *      wm1.path       array of descriptors of f, g, h ...; the first says how many follow
 *      wm1.enter      wm1_path_enter(wm1.path, a place for the pointer)
 *
 * A bundle has none of what other objects may have as well, but for bodies that C's `inline` made for the inliner alone:
 * copies of these elsewhere count in tables of their own, which readers add.
 */
#include <llvm-c/Comdat.h>
#include <string.h>

#include <waymark/abi.h>
#include <waymark/wmk.h>

#include "base/hash.h"
#include "instrument/paths/path.h"

enum {
	BUNDLED_PATHS = 64,       /* larger arrays stand alone: each thread has all of a bundle, or nothing */
	BUNDLE_BYTES = 256 << 10, /* of its records: larger ones the runtime has no room for */
};

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
	uint64_t hash = hash_bytes(HASH_START, parts, sizeof parts);
	if (choice->checks)
		hash = hash_bytes(hash, choice->checks, choice->entry_count * sizeof *choice->checks);
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

static LLVMValueRef descriptor_value(const struct table_builder *b, LLVMValueRef checks)
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
			       offsetof(struct wm1_path_function, entry_count) == 48 &&
			       offsetof(struct wm1_path_function, more) == 52,
		       "these are its fields");
	return LLVMConstStructInContext(context, fields, sizeof fields / sizeof *fields, 0);
}

static struct error *add_descriptor(struct table_builder *b, LLVMValueRef checks, LLVMValueRef *ret)
{
	LLVMValueRef value = descriptor_value(b, checks);
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

LLVMValueRef path_runtime_function(const struct path_module *m, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
	if (function)
		return function;
	function = LLVMAddFunction(m->module, name, type);
	LLVMSetFunctionCallConv(function, LLVMPreserveMostCallConv);
	ir_add_attribute(function, "nounwind", 0);
	/* The lazy resolver does not keep all the registers that preserve_most does. */
	ir_add_attribute(function, "nonlazybind", 0);
	if (is_program(m))
		m->host->bind_locally(function); /* `waymark cc` links the runtime into programs */
	if (strcmp(name, "wm1_path_miss") != 0)
		ir_add_attribute(function, "cold", 0);
	return function;
}

static LLVMValueRef add_enter_function(const struct path_module *m, const char *name)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
	LLVMValueRef function = LLVMAddFunction(m->module, name, LLVMFunctionType(pointer, NULL, 0, 0));
	path_mark_counted(m, function);
	LLVMSetFunctionCallConv(function, LLVMPreserveMostCallConv);
	static const char *const attributes[] = {"nounwind", "cold", "noinline"};
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		ir_add_attribute(function, attributes[i], 0);
	return function;
}

/* slot: where the runtime stores the pointer; NULL: the caller stores it. */
static void fill_enter(const struct path_module *m, LLVMValueRef function, LLVMValueRef descriptor, LLVMValueRef slot)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
	LLVMTypeRef types[] = {pointer, pointer};
	LLVMTypeRef type = LLVMFunctionType(pointer, types, 2, 0);
	LLVMValueRef runtime = path_runtime_function(m, "wm1_path_enter", type);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(m->context, function, ""));
	LLVMValueRef arguments[] = {descriptor, slot ? slot : LLVMBuildAlloca(builder, pointer, "")};
	LLVMValueRef call = LLVMBuildCall2(builder, type, runtime, arguments, 2, "");
	LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
	LLVMSetTailCall(call, slot != NULL);
	LLVMBuildRet(builder, call);
	LLVMDisposeBuilder(builder);
}

static struct error *add_enter(struct table_builder *b, struct path_table *table)
{
	const char *name = part_name(b, "enter");
	if (!name)
		return &error_no_memory;
	table->enter = add_enter_function(b->g->m, name);
	share(b, table->enter);
	fill_enter(b->g->m, table->enter, table->descriptor, table->slot);
	return NULL;
}

static bool is_local(const struct path_graph *g)
{
	return g->m->options->is_final || ir_is_local(g->function);
}

static void set_slot_model(const struct path_module *m, LLVMValueRef slot)
{
	LLVMSetThreadLocalMode(slot, is_program(m) ? LLVMLocalExecTLSModel : LLVMGeneralDynamicTLSModel);
}

static uint64_t record_bytes(const struct path_choice *array)
{
	const uint64_t unit = 16;
	return (sizeof(struct wmk_paths) + 16 + 8 * (uint64_t)array->entry_count + unit - 1) / unit * unit;
}

static bool is_bundled(const struct path_graph *g, const struct path_choice *choice)
{
	const struct path_module *m = g->m;
	LLVMLinkage linkage = LLVMGetLinkage(g->function);
	if (m->options->is_final || choice->kind != WM1_PATHS_ARRAY || choice->entry_count > BUNDLED_PATHS)
		return false;
	if (m->bundle.len_bytes + record_bytes(choice) > BUNDLE_BYTES)
		return false;
	return is_local(g) || linkage == LLVMExternalLinkage;
}

static void begin_bundle(struct path_module *m)
{
	struct path_bundle *bundle = &m->bundle;
	LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
	bundle->slot = LLVMAddGlobal(m->module, pointer, "wm1.slot");
	LLVMSetInitializer(bundle->slot, LLVMConstNull(pointer));
	LLVMSetLinkage(bundle->slot, LLVMInternalLinkage);
	LLVMSetAlignment(bundle->slot, 8);
	set_slot_model(m, bundle->slot);
	bundle->enter = add_enter_function(m, "wm1.enter");
	LLVMSetLinkage(bundle->enter, LLVMInternalLinkage);
}

static struct error *join_bundle(const struct table_builder *b, struct path_table *ret)
{
	struct path_module *m = b->g->m;
	struct path_bundle *bundle = &m->bundle;
	if (!bundle->slot)
		begin_bundle(m);
	*ret = (struct path_table){
		.slot = bundle->slot,
		.enter = bundle->enter,
		.off_bytes = bundle->len_bytes,
		.is_bundled = true,
		.is_local_exec = is_program(m),
	};
	bundle->len_bytes += record_bytes(b->choice);
	return ir_value_vec_append(&bundle->descriptors, descriptor_value(b, NULL));
}

/* The descriptor with the number of those that follow it, its last field. */
static LLVMValueRef with_more(const struct path_module *m, LLVMValueRef descriptor, uint64_t more)
{
	enum {
		FIELDS = 11
	};
	LLVMValueRef fields[FIELDS];
	for (unsigned i = 0; i < FIELDS; i++)
		fields[i] = LLVMGetAggregateElement(descriptor, i);
	fields[FIELDS - 1] = LLVMConstInt(LLVMInt32TypeInContext(m->context), more, 0);
	return LLVMConstStructInContext(m->context, fields, FIELDS, 0);
}

void path_bundle_finish(struct path_module *m)
{
	const struct path_bundle *bundle = &m->bundle;
	const struct ir_value_vec *list = &bundle->descriptors;
	if (!list->count)
		return;
	list->items[0] = with_more(m, list->items[0], list->count - 1);
	LLVMValueRef value = LLVMConstArray2(LLVMTypeOf(list->items[0]), list->items, list->count);
	LLVMValueRef global = LLVMAddGlobal(m->module, LLVMTypeOf(value), "wm1.path");
	LLVMSetInitializer(global, value);
	LLVMSetLinkage(global, LLVMInternalLinkage);
	LLVMSetGlobalConstant(global, 1);
	LLVMSetAlignment(global, 8);
	fill_enter(m, bundle->enter, global, NULL);
}

struct error *path_table_add(struct path_graph *g, const struct path_choice *choice, struct path_table *ret)
{
	struct table_builder b = {.g = g, .choice = choice, .hash = layout_hash(g, choice)};
	LLVMTypeRef pointer = LLVMPointerTypeInContext(g->m->context, 0);
	struct path_table table = {.is_local_exec = is_program(g->m)};
	LLVMValueRef checks = NULL;
	if (is_bundled(g, choice))
		return join_bundle(&b, ret);
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
	set_slot_model(g->m, table.slot);
	err = add_enter(&b, &table);
	if (err)
		return err;
	*ret = table;
	return NULL;
}
