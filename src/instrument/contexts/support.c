/*
 * support.c - puts support.ll into the module, fitted to it, and takes out what is not needed in the end.
 */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <waymark/abi.h>

#include "instrument/contexts/program.h"

_Static_assert(sizeof(struct wm1_entry) == 32 && offsetof(struct wm1_entry, sp) == 8 &&
		       offsetof(struct wm1_entry, site) == 16 && offsetof(struct wm1_entry, prefix) == 20 &&
		       offsetof(struct wm1_entry, run) == 24,
	       "support.ll writes these fields");
_Static_assert(offsetof(struct wm1_thread, id) == 0 && offsetof(struct wm1_thread, top) == 8 &&
		       offsetof(struct wm1_thread, deferred_sp) == 24 &&
		       offsetof(struct wm1_thread, deferred_site) == 32 && offsetof(struct wm1_thread, zero) == 40 &&
		       offsetof(struct wm1_thread, history) == 44 && sizeof(struct wm1_thread) == 48 &&
		       offsetof(struct wm1_entry, history) == 28 && WM1_HISTORY_NONE == 1 && WM1_SP_RESTARTS == 1 &&
		       WM1_SP_SPILLS == 2 && WM1_SP_MARKS == 15,
	       "and these");
_Static_assert(offsetof(struct wm1_image, site_base) == 8 && offsetof(struct wm1_image, site_count) == 4 &&
		       offsetof(struct wm1_image, meta_key) == 24 && sizeof(struct wm1_image) == 32,
	       "and these");
_Static_assert(WM1_ABI_VERSION == 3 && WM1_SEGMENT_BYTES == 65536 && WM1_TAIL_ORDINALS == 7 &&
		       WM1_SITE_ELIDED == 0x80000000u,
	       "and these");

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions" /* #embed */
static const char support_ir[] = {
#embed "support.ll"
};
#pragma clang diagnostic pop

static struct error *parse_support(struct program *p, LLVMModuleRef *ret)
{
	char *message = NULL;
	/* The linker's context drops names, which text needs. */
	LLVMBool discards = LLVMContextShouldDiscardValueNames(p->context);
	LLVMContextSetDiscardValueNames(p->context, 0);
	LLVMMemoryBufferRef buffer =
		LLVMCreateMemoryBufferWithMemoryRangeCopy(support_ir, sizeof support_ir, "support.ll");
	LLVMBool failed = LLVMParseIRInContext(p->context, buffer, ret, &message);
	LLVMContextSetDiscardValueNames(p->context, discards);
	if (!failed)
		return NULL;
	struct error *err = error_create(ERROR_MISMATCH, "this LLVM does not take the support code: %s", message);
	LLVMDisposeMessage(message);
	return err;
}

/* Writes the numbers of this module into the image's descriptor. */
static void fill_image(struct program *p, const struct support *s, uint32_t site_count, uint64_t meta_key)
{
	LLVMValueRef image = LLVMGetNamedGlobal(p->module, "wm1.image");
	LLVMValueRef fields[6];
	for (unsigned i = 0; i < 6; i++)
		fields[i] = LLVMGetAggregateElement(LLVMGetInitializer(image), i);
	fields[1] = LLVMConstInt(s->i32, site_count, 0);
	if (p->is_shared)
		fields[2] = LLVMConstInt(s->i32, WM1_SITE_ELIDED - site_count, 0);
	else
		fields[3] = LLVMConstInt(s->i32,
					 WM1_IMAGE_PROGRAM | (p->own_events ? WM1_IMAGE_OWN_EVENTS : 0u) |
						 (p->is_hybrid ? WM1_IMAGE_HYBRID : 0u),
					 0);
	fields[5] = LLVMConstInt(s->i64, meta_key, 0);
	LLVMSetInitializer(image, LLVMConstStructInContext(p->context, fields, 6, 0));
}

static LLVMValueRef thread_field(struct program *p, struct support *s, unsigned long long off)
{
	LLVMValueRef state = LLVMGetNamedGlobal(p->module, "wm1_thread_state");
	LLVMValueRef index = LLVMConstInt(s->i64, off, 0);
	return LLVMConstGEP2(LLVMInt8TypeInContext(p->context), state, &index, 1);
}

struct error *support_add(struct program *p, uint32_t site_count, uint64_t meta_key, struct support *ret)
{
	LLVMModuleRef support;
	struct error *err = parse_support(p, &support);
	if (err)
		return err;
	LLVMSetTarget(support, LLVMGetTarget(p->module));
	LLVMSetDataLayout(support, LLVMGetDataLayoutStr(p->module));
	if (LLVMLinkModules2(p->module, support))
		return error_create(ERROR_MISMATCH, "%s: defines a symbol that starts with wm1, which is Waymark's own",
				    p->unit);
	struct support s = {
		.i32 = LLVMInt32TypeInContext(p->context),
		.i64 = LLVMInt64TypeInContext(p->context),
		.pointer = LLVMPointerTypeInContext(p->context, 0),
		.void_type = LLVMVoidTypeInContext(p->context),
	};
	s.thread_id = LLVMGetNamedGlobal(p->module, "wm1_thread_state");
	if (!p->is_shared)
		LLVMSetThreadLocalMode(s.thread_id, LLVMLocalExecTLSModel);
	fill_image(p, &s, site_count, meta_key);
	s.thread_top = thread_field(p, &s, offsetof(struct wm1_thread, top));
	s.thread_deferred_sp = thread_field(p, &s, offsetof(struct wm1_thread, deferred_sp));
	s.thread_history = thread_field(p, &s, offsetof(struct wm1_thread, history));
	LLVMValueRef index = LLVMConstInt(s.i64, offsetof(struct wm1_image, site_base), 0);
	s.site_base =
		LLVMConstGEP2(LLVMInt8TypeInContext(p->context), LLVMGetNamedGlobal(p->module, "wm1.image"), &index, 1);
	s.push = LLVMGetNamedFunction(p->module, "wm1.push");
	s.push_tail = LLVMGetNamedFunction(p->module, "wm1.push_tail");
	s.clean = LLVMGetNamedFunction(p->module, "wm1.clean");
	s.defer = LLVMGetNamedFunction(p->module, "wm1.defer");
	s.end_defer = LLVMGetNamedFunction(p->module, "wm1.end_defer");
	s.enter = LLVMGetNamedFunction(p->module, "wm1.look");
	s.call_self = LLVMGetNamedFunction(p->module, "wm1.call_self");
	s.call_self_first = LLVMGetNamedFunction(p->module, "wm1.call_self_first");
	s.call_selves = LLVMGetNamedFunction(p->module, "wm1.call_selves");
	s.next_self = LLVMGetNamedFunction(p->module, "wm1.next_self");
	s.return_self = LLVMGetNamedFunction(p->module, "wm1.return_self");
	s.capture = LLVMGetNamedFunction(p->module, "wm1_capture");
	s.event = LLVMGetNamedFunction(p->module, "wm1_event");
	s.hybrid_main = LLVMGetNamedFunction(p->module, "wm1_hybrid_main");
	LLVMDeleteGlobal(LLVMGetNamedGlobal(p->module, "wm1.anchors"));
	err = outline_add(p, &s);
	if (!err)
		*ret = s;
	return err;
}

LLVMTypeRef support_type(LLVMValueRef function)
{
	return LLVMGlobalGetValueType(function);
}

LLVMValueRef support_number(const struct program *p, const struct support *s, LLVMBuilderRef builder, uint32_t site)
{
	if (!p->is_shared)
		return LLVMConstInt(s->i32, WM1_SITE_PROGRAM + site, 0);
	LLVMValueRef base = LLVMBuildLoad2(builder, s->i32, s->site_base, "wm1.base");
	return LLVMBuildAdd(builder, base, LLVMConstInt(s->i32, site, 0), "wm1.site");
}

static void remove_unused(LLVMModuleRef module, const char *name)
{
	LLVMValueRef function = LLVMGetNamedFunction(module, name);
	if (function && !LLVMGetFirstUse(function))
		LLVMDeleteFunction(function);
}

struct error *support_finish(struct program *p)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failure = LLVMRunPasses(p->module, "always-inline", NULL, options);
	LLVMDisposePassBuilderOptions(options);
	if (failure) {
		char *message = LLVMGetErrorMessage(failure);
		struct error *err = error_create(ERROR_MISMATCH, "%s: %s", p->unit, message);
		LLVMDisposeErrorMessage(message);
		return err;
	}
	static const char *const names[] = {
		"wm1.push",      "wm1.push_tail",       "wm1.clean",         "wm1.defer",      "wm1.end_defer",
		"wm1.look",      "wm1.defer_here",      "wm1.end_here",      "wm1.enter_here", "wm1.enter_slow",
		"wm1.push_here", "wm1.put_back",        "wm1.set",           "wm1.add",        "wm1.subtract",
		"wm1.call_self", "wm1.call_self_first", "wm1.call_selves",   "wm1.next_self",  "wm1.return_self",
		"wm1.push_self", "wm1.push_selves",     "wm1.put_back_self", "wm1_hybrid_main"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		remove_unused(p->module, names[i]);
	return NULL;
}
