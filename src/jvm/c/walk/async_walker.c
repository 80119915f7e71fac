/*
 * async_walker.c - AsyncGetCallTrace, which HotSpot exports for profilers and documents nowhere: it finds nothing where the interrupted code has no
 * whole frame, in prologues and stubs, and says why by a number.
 *
 * A thread that is in native code has noted where Java code left the stack (java_anchor.h), and its frames are those from there on. The native frames are
 * joined to them if their walk has come to that place. Functions that Java code calls without a note (leaves, such as barriers of collectors, and
 * handlers of signals) are joined by the code that they return to.
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <string.h>

#include "jvm/c/walk/code_ranges.h"
#include "jvm/c/walk/java_anchor.h"
#include "jvm/c/walk/java_walker.h"
#include "jvm/c/walk/native_between.h"
#include "jvm/c/walk/repair.h"

enum {
	NO_FRAME = 0,
	UNKNOWN_NOT_JAVA = -3,
	UNKNOWN_JAVA = -5,
	NOT_WALKABLE_JAVA = -6,
	/* Between a call and where Java code says that it has left the stack: a return address, and what keeps the stack aligned. */
	ANCHOR_BYTES = 16,
};

struct call_frame {
	jint bci; /* below 0: of a native method */
	jmethodID method;
};

struct call_trace {
	JNIEnv *env; /* of the thread */
	jint count;  /* of frames; 0 and below: why there are none */
	struct call_frame *frames;
};

_Static_assert(sizeof(struct call_frame) == sizeof(struct jvm_walk_frame), "frames are converted in place");

/* Written by init. */
static JavaVM *machine;
static void (*get_call_trace)(struct call_trace *trace, jint depth, void *context);

/* HotSpot's names (prims/forte.cpp), from 0 downwards. */
static const char *const reasons[] = {
	"[no_Java_frame]",         "[no_class_load]",  "[GC_active]",         "[unknown_not_Java]",
	"[not_walkable_not_Java]", "[unknown_Java]",   "[not_walkable_Java]", "[unknown_state]",
	"[thread_exit]",           "[deoptimization]", "[safepoint]",
};

static const char *reason(jint number)
{
	size_t i = (size_t)-(int64_t)number;

	return i < sizeof reasons / sizeof *reasons ? reasons[i] : "[unknown]";
}

static bool is_repairable(jint number)
{
	return number == UNKNOWN_JAVA || number == NOT_WALKABLE_JAVA;
}

static bool init(JavaVM *vm)
{
	Dl_info info;
	void *library = dladdr((void *)(*vm)->GetEnv, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	machine = vm;
	if (library) {
		*(void **)&get_call_trace = dlsym(library, "AsyncGetCallTrace");
		dlclose(library);
	}
	return get_call_trace;
}

static void convert(const struct call_frame *from, struct jvm_walk_frame *to)
{
	const struct call_frame frame = *from;

	*to = (struct jvm_walk_frame){.method = frame.method, .location = frame.bci < 0 ? -1 : frame.bci};
}

/* first: where in w->frames they go, or are already. */
static void take_frames(struct java_walk *w, const struct call_trace *trace, size_t first)
{
	w->count = first + (size_t)trace->count;
	w->is_cut = w->count == w->max;
	for (size_t i = first; i < w->count; i++)
		convert(&trace->frames[i - first], &w->frames[i]);
}

/* ---- native frames ---- */

/* Compiled code with that method in it has called them: of inlined methods it is the outermost one. */
static bool is_called_by(const struct java_walk *w, uintptr_t pc)
{
	struct jvm_code_range range;

	if (!jvm_code_ranges_find(pc - 1, &range) || !range.method)
		return false;
	for (size_t i = 0; i < w->count; i++)
		if (w->frames[i].method == range.method)
			return true;
	return false;
}

/* The native frames end where Java code has left the stack. */
static bool is_at_anchor(const struct java_walk *w, JNIEnv *env)
{
	uintptr_t anchor = jvm_java_anchor_sp(env);

	return anchor && w->native->end == WALK_STOPPED && anchor - w->native->caller.r[CFI_RSP] <= ANCHOR_BYTES;
}

static bool is_joined(const struct java_walk *w, JNIEnv *env)
{
	const struct jvm_native_frames *n = w->native;

	if (!n->count || is_at_anchor(w, env))
		return true;
	return n->end == WALK_STOPPED && !jvm_java_anchor_sp(env) && is_called_by(w, n->caller.pc);
}

/* ---- walks ---- */

/* From the caller on, which is where it called. What was called is a stub, or a method that has no frame yet, or none any more. */
static bool walk_repaired(struct java_walk *w, struct call_trace *trace, const ucontext_t *from)
{
	ucontext_t caller = *from;
	struct repair repair;
	size_t first;

	if (!repair_context(&caller, &repair))
		return false;
	first = repair.method ? 1 : 0;
	trace->frames = (struct call_frame *)(void *)(w->frames + first);
	get_call_trace(trace, (jint)(w->max - first), &caller);
	if (trace->count <= 0)
		return false;
	take_frames(w, trace, first);
	if (first)
		w->frames[0] = (struct jvm_walk_frame){.method = repair.method, .location = -1};
	memcpy(w->rule, repair.name, sizeof w->rule);
	w->leaf = w->rule;
	return true;
}

/*
 * From the code that has called native code, or that a signal has interrupted. In a method the stack may have more on it than its frame where it calls: where
 * that call returns to is not known by its address. The interpreter has a frame pointer.
 */
static bool walk_below(struct java_walk *w, struct call_trace *trace, ucontext_t *context)
{
	const struct unwind_regs *caller = &w->native->caller;
	struct jvm_code_range range;

	if (caller->is_return_address && jvm_code_ranges_find(caller->pc - 1, &range) && !repair_is_interpreter(&range))
		return !range.method && walk_repaired(w, trace, context);
	trace->frames = (struct call_frame *)(void *)w->frames;
	get_call_trace(trace, (jint)w->max, context);
	if (trace->count > 0) {
		take_frames(w, trace, 0);
		return true;
	}
	return is_repairable(trace->count) && walk_repaired(w, trace, context);
}

static bool walk_otherwise(struct java_walk *w, struct call_trace *trace)
{
	ucontext_t context = *(const ucontext_t *)w->context;

	if (!w->native->count)
		return walk_repaired(w, trace, &context);
	w->is_joined = jvm_native_frames_leave(w->native, &context) && walk_below(w, trace, &context);
	return w->is_joined;
}

static void walk_java(struct java_walk *w, const struct call_trace *of_thread)
{
	struct call_trace trace = *of_thread;
	jint why;

	get_call_trace(&trace, (jint)w->max, w->context);
	if (trace.count == UNKNOWN_NOT_JAVA && is_at_anchor(w, trace.env) && jvm_java_anchor_complete(trace.env))
		get_call_trace(&trace, (jint)w->max, w->context);
	why = trace.count;
	if (why > 0) {
		take_frames(w, &trace, 0);
		w->is_joined = is_joined(w, trace.env);
		return;
	}
	if (is_repairable(why) && walk_otherwise(w, &trace))
		return;
	w->count = 0;
	w->is_idle = (why == NO_FRAME || why == UNKNOWN_NOT_JAVA) && w->native->end != WALK_STOPPED;
	w->leaf = reason(why);
}

static void walk(struct java_walk *w)
{
	struct call_trace trace = {.frames = (struct call_frame *)(void *)w->frames};

	w->count = w->between_count = 0;
	w->leaf = NULL;
	w->is_cut = w->is_idle = w->is_joined = false;
	w->is_java = (*machine)->GetEnv(machine, (void **)&trace.env, JNI_VERSION_1_6) == JNI_OK;
	if (!w->is_java) {
		w->leaf = reason(UNKNOWN_NOT_JAVA);
		return;
	}
	walk_java(w, &trace);
	jvm_native_between_find(w, trace.env);
}

const struct java_walker java_walker_async = {.init = init, .walk = walk};
