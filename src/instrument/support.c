/*
 * support.c - what emitted code leans on: the runtime's symbols, the image descriptor with its registration, and the push.
 *
 * They are written as LLVM IR and linked into the module; push is inlined into every site. Field offsets are those of
 * waymark/abi.h, checked below. The stores of a push are volatile so that they stay in this order: a signal handler may
 * run between any two, and takes `top` to be the end of what is written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <waymark/abi.h>

#include "instrument/program.h"

_Static_assert(sizeof(struct wm1_entry) == 32 && offsetof(struct wm1_entry, sp) == 8 &&
		       offsetof(struct wm1_entry, site) == 16 && offsetof(struct wm1_entry, prefix) == 20 &&
		       offsetof(struct wm1_entry, run) == 24,
	       "the IR below writes these fields");
_Static_assert(offsetof(struct wm1_thread, id) == 0 && offsetof(struct wm1_thread, top) == 8, "and these");
_Static_assert(offsetof(struct wm1_image, site_base) == 8 && sizeof(struct wm1_image) == 32, "and these");
_Static_assert(WM1_SEGMENT_BYTES == 65536 && WM1_TAIL_ORDINALS == 7 && WM1_SITE_ELIDED == 0x80000000u, "and these");

static const char support_ir[] =
	"@wm1_thread_state = external thread_local(%s) global { i64, ptr }\n"
	"@__ehdr_start = external hidden global i8\n"
	"@wm1.image = internal global { i32, i32, i32, i32, ptr, i64 }\n"
	"  { i32 %d, i32 %u, i32 0, i32 0, ptr @__ehdr_start, i64 %llu }\n"
	"@wm1.first = internal global ptr @wm1.enter_image, section \".init_array.00000\"\n"
	"@wm1.last = internal global ptr @wm1.leave_image, section \".fini_array.00000\"\n"
	"@llvm.compiler.used = appending global [2 x ptr] [ptr @wm1.first, ptr @wm1.last], section \"llvm.metadata\"\n"
	/* Linking takes along only what is referred to; dropped right after. */
	"@wm1.anchors = global [5 x ptr] [ptr @wm1.push, ptr @wm1.push_tail, ptr @wm1.clean, "
	"ptr @wm1_capture, ptr @wm1_event]\n"
	"declare void @wm1_register(ptr)\n"
	"declare void @wm1_unregister(ptr)\n"
	"declare void @wm1_capture(ptr sret({ i64, i32, i32, i32, i32 }), i32)\n"
	"declare void @wm1_event(i32, ptr, i64)\n"
	"declare preserve_mostcc ptr @wm1_grow() cold nounwind\n"
	"declare i64 @llvm.read_register.i64(metadata)\n"
	"define internal void @wm1.enter_image() {\n"
	"  call void @wm1_register(ptr @wm1.image)\n"
	"  ret void\n"
	"}\n"
	"define internal void @wm1.leave_image() {\n"
	"  call void @wm1_unregister(ptr @wm1.image)\n"
	"  ret void\n"
	"}\n"
	/* Returns what to put back. A thread's first push leaves its new stack in place of none: else all pushes of the
	 * outermost function would look for it. */
	"define internal ptr @wm1.push(i32 %%site, i64 %%id, i64 %%restart) alwaysinline nounwind {\n"
	"start:\n"
	"  %%top = load ptr, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)\n"
	"  %%bits = ptrtoint ptr %%top to i64\n"
	"  %%low = and i64 %%bits, 65535\n"
	"  %%full = icmp eq i64 %%low, 0\n"
	"  br i1 %%full, label %%grow, label %%write, !prof !0\n"
	"grow:\n"
	"  %%fresh = call preserve_mostcc ptr @wm1_grow()\n"
	"  %%none = icmp eq ptr %%top, null\n"
	"  %%kept = select i1 %%none, ptr %%fresh, ptr %%top\n"
	"  br label %%write\n"
	"write:\n"
	"  %%back = phi ptr [ %%top, %%start ], [ %%kept, %%grow ]\n"
	"  %%e = phi ptr [ %%top, %%start ], [ %%fresh, %%grow ]\n"
	"  store volatile i64 %%id, ptr %%e\n"
	"  %%sp = call i64 @llvm.read_register.i64(metadata !1)\n"
	"  %%e.sp = getelementptr i8, ptr %%e, i64 8\n"
	"  store volatile i64 %%sp, ptr %%e.sp\n"
	"  %%base = load i32, ptr getelementptr (i8, ptr @wm1.image, i64 8)\n"
	"  %%number = add i32 %%base, %%site\n"
	"  %%wide = zext i32 %%number to i64\n"
	"  %%e.site = getelementptr i8, ptr %%e, i64 16\n"
	"  store volatile i64 %%wide, ptr %%e.site\n"
	"  %%e.run = getelementptr i8, ptr %%e, i64 24\n"
	"  store volatile i32 0, ptr %%e.run\n"
	"  %%next = getelementptr i8, ptr %%e, i64 32\n"
	"  store volatile ptr %%next, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)\n"
	"  store i64 %%restart, ptr @wm1_thread_state\n"
	"  ret ptr %%back\n"
	"}\n"
	/* The push before a jump. Its caller's frame ends at return_slot, and so does the callee's: entries with that sp
	 * belong to one chain of tail calls. The first eight are kept; after that the newest replaces the one before it
	 * and is marked, so that a loop of tail calls runs in bounded space and says that something is left out. */
	"define internal preserve_mostcc void @wm1.push_tail(i32 %%site, i64 %%id, i64 %%restart, ptr %%slot)\n"
	"    noinline nounwind {\n"
	"start:\n"
	"  %%base = load i32, ptr getelementptr (i8, ptr @wm1.image, i64 8)\n"
	"  %%number = add i32 %%base, %%site\n"
	"  %%here = ptrtoint ptr %%slot to i64\n"
	"  %%top = load ptr, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)\n"
	"  %%empty = icmp eq ptr %%top, null\n"
	"  br i1 %%empty, label %%grow, label %%look\n"
	"look:\n"
	"  %%last = getelementptr i8, ptr %%top, i64 -32\n"
	"  %%last.sp.at = getelementptr i8, ptr %%last, i64 8\n"
	"  %%last.sp = load i64, ptr %%last.sp.at\n"
	"  %%last.slot = and i64 %%last.sp, -8\n"
	"  %%last.ordinal = and i64 %%last.sp, 7\n"
	"  %%same = icmp eq i64 %%last.slot, %%here\n"
	"  %%after = add i64 %%last.ordinal, 1\n"
	"  %%ordinal = select i1 %%same, i64 %%after, i64 0\n"
	"  %%many = icmp ugt i64 %%ordinal, 7\n"
	"  br i1 %%many, label %%replace, label %%room\n"
	"replace:\n"
	"  %%marked = or i32 %%number, -2147483648\n"
	"  br label %%write\n"
	"room:\n"
	"  %%bits = ptrtoint ptr %%top to i64\n"
	"  %%low = and i64 %%bits, 65535\n"
	"  %%full = icmp eq i64 %%low, 0\n"
	"  br i1 %%full, label %%grow, label %%write, !prof !0\n"
	"grow:\n"
	"  %%g.ordinal = phi i64 [ 0, %%start ], [ %%ordinal, %%room ]\n"
	"  %%fresh = call preserve_mostcc ptr @wm1_grow()\n"
	"  br label %%write\n"
	"write:\n"
	"  %%e = phi ptr [ %%last, %%replace ], [ %%top, %%room ], [ %%fresh, %%grow ]\n"
	"  %%e.ordinal = phi i64 [ 7, %%replace ], [ %%ordinal, %%room ], [ %%g.ordinal, %%grow ]\n"
	"  %%e.number = phi i32 [ %%marked, %%replace ], [ %%number, %%room ], [ %%number, %%grow ]\n"
	"  store volatile i64 %%id, ptr %%e\n"
	"  %%sp = or i64 %%here, %%e.ordinal\n"
	"  %%e.sp = getelementptr i8, ptr %%e, i64 8\n"
	"  store volatile i64 %%sp, ptr %%e.sp\n"
	"  %%wide = zext i32 %%e.number to i64\n"
	"  %%e.site = getelementptr i8, ptr %%e, i64 16\n"
	"  store volatile i64 %%wide, ptr %%e.site\n"
	"  %%e.run = getelementptr i8, ptr %%e, i64 24\n"
	"  store volatile i32 0, ptr %%e.run\n"
	"  %%next = getelementptr i8, ptr %%e, i64 32\n"
	"  store volatile ptr %%next, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)\n"
	"  store i64 %%restart, ptr @wm1_thread_state\n"
	"  ret void\n"
	"}\n"
	/* Before a real return: pushes of tail calls whose frame this was. */
	"define internal void @wm1.clean(ptr %%slot) alwaysinline nounwind {\n"
	"  %%top = load ptr, ptr getelementptr (i8, ptr @wm1_thread_state, i64 8)\n"
	"  %%empty = icmp eq ptr %%top, null\n"
	"  br i1 %%empty, label %%done, label %%look, !prof !0\n"
	"look:\n"
	"  %%last.sp.at = getelementptr i8, ptr %%top, i64 -24\n"
	"  %%last.sp = load i64, ptr %%last.sp.at\n"
	"  %%last.slot = and i64 %%last.sp, -8\n"
	"  %%here = ptrtoint ptr %%slot to i64\n"
	"  %%same = icmp eq i64 %%last.slot, %%here\n"
	"  br i1 %%same, label %%drop, label %%done, !prof !0\n"
	"drop:\n"
	"  call preserve_mostcc void @wm1_drop_tails(i64 %%here)\n"
	"  br label %%done\n"
	"done:\n"
	"  ret void\n"
	"}\n"
	"declare preserve_mostcc void @wm1_drop_tails(i64) cold nounwind\n"
	"!0 = !{!\"branch_weights\", i32 1, i32 100000}\n"
	"!1 = !{!\"rsp\"}\n";

static struct error *parse_support(struct program *p, uint32_t site_count, uint64_t meta_key, LLVMModuleRef *ret)
{
	char text[sizeof support_ir + 128];
	int len = snprintf(text, sizeof text, support_ir, p->is_shared ? "initialexec" : "localexec", WM1_ABI_VERSION,
			   site_count, (unsigned long long)meta_key);
	char *message = NULL;
	/* The linker's context drops names, which text needs. */
	LLVMBool discards = LLVMContextShouldDiscardValueNames(p->context);
	LLVMContextSetDiscardValueNames(p->context, 0);
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, (size_t)len, "waymark support");
	LLVMBool failed = LLVMParseIRInContext(p->context, buffer, ret, &message);
	LLVMContextSetDiscardValueNames(p->context, discards);
	if (!failed)
		return NULL;
	struct error *err = error_create(ERROR_MISMATCH, "this LLVM does not take the support code: %s", message);
	LLVMDisposeMessage(message);
	return err;
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
	struct error *err = parse_support(p, site_count, meta_key, &support);
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
	s.thread_top = thread_field(p, &s, offsetof(struct wm1_thread, top));
	LLVMValueRef index = LLVMConstInt(s.i64, offsetof(struct wm1_image, site_base), 0);
	s.site_base =
		LLVMConstGEP2(LLVMInt8TypeInContext(p->context), LLVMGetNamedGlobal(p->module, "wm1.image"), &index, 1);
	s.push = LLVMGetNamedFunction(p->module, "wm1.push");
	s.push_tail = LLVMGetNamedFunction(p->module, "wm1.push_tail");
	s.clean = LLVMGetNamedFunction(p->module, "wm1.clean");
	s.capture = LLVMGetNamedFunction(p->module, "wm1_capture");
	s.event = LLVMGetNamedFunction(p->module, "wm1_event");
	LLVMDeleteGlobal(LLVMGetNamedGlobal(p->module, "wm1.anchors"));
	*ret = s;
	return NULL;
}

LLVMTypeRef support_type(LLVMValueRef function)
{
	return LLVMGlobalGetValueType(function);
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
	remove_unused(p->module, "wm1.push");
	remove_unused(p->module, "wm1.push_tail");
	remove_unused(p->module, "wm1.clean");
	return NULL;
}
