/*
 * async_walker.c - AsyncGetCallTrace, which HotSpot exports for profilers and documents nowhere: it finds nothing where the interrupted code has no
 * whole frame, in prologues and stubs, and says why by a number.
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <string.h>

#include "jvm/c/walk/java_walker.h"
#include "jvm/c/walk/leaf_calls.h"
#include "jvm/c/walk/repair.h"

enum {
	NO_FRAME = 0,
	UNKNOWN_NOT_JAVA = -3,
	UNKNOWN_JAVA = -5,
	NOT_WALKABLE_JAVA = -6,
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
	jvm_leaf_calls_init((void *)(*vm)->GetEnv);
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

/* From the caller on, which is where it called. What was called is a stub, or a method that has no frame yet, or none any more. */
static bool walk_repaired(struct java_walk *w, struct call_trace *trace)
{
	ucontext_t caller = *(const ucontext_t *)w->context;
	struct repair repair;
	size_t first;

	jvm_leaf_calls_leave(&caller);
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

static void walk(struct java_walk *w)
{
	struct call_trace trace = {.frames = (struct call_frame *)(void *)w->frames};

	w->count = 0;
	w->leaf = NULL;
	w->is_cut = w->is_idle = false;
	w->is_java = (*machine)->GetEnv(machine, (void **)&trace.env, JNI_VERSION_1_6) == JNI_OK;
	if (!w->is_java) {
		w->leaf = reason(UNKNOWN_NOT_JAVA);
		return;
	}
	get_call_trace(&trace, (jint)w->max, w->context);
	if (trace.count <= 0) {
		jint why = trace.count;

		if (is_repairable(why) && walk_repaired(w, &trace))
			return;
		trace.count = why;
		w->is_idle = trace.count == NO_FRAME || trace.count == UNKNOWN_NOT_JAVA;
		w->leaf = reason(trace.count);
		return;
	}
	take_frames(w, &trace, 0);
}

const struct java_walker java_walker_async = {.init = init, .walk = walk};
