/*
 * native_code.c - makes the thunks, and what they call.
 *
 *      page of code          thunk i:  lea  its place in the page of data, %r11
 *                                      jmp  *the last place
 *      page of data          place i:  struct thunk;  the last one: the address of jvm_native_call
 *
 * A page of code is the same at any address, and is not changed once it can be run.
 */
#include "jvm/c/bridge/native_code.h"

#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "jvm/c/base/pause.h"
#include "jvm/c/classes/hook.h"
#include "jvm/c/base/log.h"
#include "jvm/c/bridge/thread_start.h"
#include "jvm/c/base/java.h"
#include "recorder/client.h"
#include "recorder/sys.h"
#include "runtime/contexts/capture.h"
#include "runtime/contexts/stack.h"
#include "waymark/runtime.h"

enum {
	PAGE_BYTES = 4096,
	THUNK_BYTES = 16, /* of code, and of data */
	THUNKS = PAGE_BYTES / THUNK_BYTES - 1,
	INTEGER_REGISTERS = 6 - 2, /* the first two are the JNIEnv and the object or class */
	FLOAT_REGISTERS = 8,
	NOT_ENTERED = -2, /* of struct native_call */
};

/* Read by native_call.S. */
struct thunk {
	void *method;
	uint32_t stack_bytes; /* of arguments; a multiple of 16 */
	uint32_t loads;       /* the method loads a library */
};
_Static_assert(sizeof(struct thunk) == THUNK_BYTES, "a place for each");

struct page {
	struct page *next;
	char *code;
	struct thunk *data;
	size_t used;
};

/* A call of a native method; 48 bytes have room in native_call.S. */
struct native_call {
	JNIEnv *env;
	struct native_call *outer; /* of those that load */
	uint64_t id;               /* wm1_thread_state before */
	struct wm1_entry *top;
	int32_t depth;    /* for Java; NOT_ENTERED: contexts do not go on here */
	int32_t frames;   /* of those that load: of Java, below this */
	uint32_t history; /* as id */
};
_Static_assert(sizeof(struct native_call) <= 48, "its room");

/* Each is written once. */
_Atomic uint32_t jvm_native_code_is_on __attribute__((visibility("hidden")));
static jvmtiEnv *tools;
/* Has a method of java.lang.VirtualThread been bound? */
static atomic_flag has_virtual = ATOMIC_FLAG_INIT;
static atomic_bool is_ready;
static jclass java_class;
static jmethodID enter, leave;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *pages; /* under the lock */

/* The innermost call that loads a library and has entered nothing yet. */
static _Thread_local struct native_call *loading __attribute__((tls_model("initial-exec")));

void jvm_native_call(void) __attribute__((visibility("hidden")));
void jvm_native_enter(JNIEnv *env, struct native_call *call) __attribute__((visibility("hidden")));
void jvm_native_leave(JNIEnv *env, const struct native_call *call) __attribute__((visibility("hidden")));

/* ---- a call ---- */

/* The prefix that native code stands on, and what Java wants back; without stack for Java code that is lost. */
static uint32_t enter_java(JNIEnv *env, int32_t *depth)
{
	jlong ret;

	jvm_pause();
	ret = (*env)->CallStaticLongMethod(env, java_class, enter);
	jvm_resume();
	*depth = (int32_t)ret;
	if (!jvm_drop_thrown(env))
		return (uint32_t)((uint64_t)ret >> 32);
	*depth = NOT_ENTERED;
	return WM_PREFIX_LOST;
}

static int32_t frames_here(void)
{
	jint ret = 0;

	return (*tools)->GetFrameCount(tools, NULL, &ret) == JVMTI_ERROR_NONE ? ret : -1;
}

static void go_on(struct native_call *call)
{
	const uint32_t prefix = enter_java(call->env, &call->depth);

	wmrt_push_root(prefix, (uintptr_t)call);
}

void jvm_native_enter(JNIEnv *env, struct native_call *call)
{
	wm1_push_deferred();
	*call = (struct native_call){.env = env,
				     .outer = loading,
				     .id = wm1_thread_state.id,
				     .top = wm1_thread_state.top,
				     .history = wm1_thread_state.history,
				     .depth = NOT_ENTERED};
	if (!atomic_load(&is_ready))
		return;
	loading = NULL;
	if (atomic_load(&jvm_native_code_is_on)) {
		go_on(call);
	} else {
		call->frames = frames_here();
		loading = call;
	}
}

/* An exception of the method is thrown on. */
static void leave_java(JNIEnv *env, int32_t depth)
{
	jthrowable thrown = (*env)->ExceptionOccurred(env);

	if (thrown)
		(*env)->ExceptionClear(env);
	jvm_pause();
	(*env)->CallStaticVoidMethod(env, java_class, leave, depth);
	jvm_resume();
	jvm_drop_thrown(env);
	if (thrown)
		(*env)->Throw(env, thrown);
}

void jvm_native_leave(JNIEnv *env, const struct native_call *call)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;

	thread->top = call->top;
	thread->id = call->id;
	thread->history = call->history;
	loading = call->outer;
	if (call->depth != NOT_ENTERED)
		leave_java(env, call->depth);
}

/* ---- images ---- */

/* In the thread that loads it: its constructors and JNI_OnLoad come behind this. */
static void image_added(void)
{
	struct native_call *call = loading;

	atomic_store(&jvm_native_code_is_on, 1);
	loading = NULL;
	/* Else a native method without a thunk has loaded it, below the one that has. */
	if (call && call->frames == frames_here())
		go_on(call);
}

const struct wmrt_client jvm_native_code = {.image_added = image_added};

/* ---- thunks ---- */

static void put(char *code, size_t *at, const char *bytes, size_t count, int32_t relative)
{
	memcpy(code + *at, bytes, count);
	memcpy(code + *at + count, &relative, sizeof relative);
	*at += count + sizeof relative;
}

/* Under the lock. NULL without memory. */
static struct page *page_new(void)
{
	char *memory = wmrt_map_memory(3 * (size_t)PAGE_BYTES);
	struct page *page = (struct page *)(void *)(memory + 2 * (size_t)PAGE_BYTES);
	void (*to)(void) = jvm_native_call;

	if (!memory)
		return NULL;
	*page = (struct page){.code = memory, .data = (struct thunk *)(void *)(memory + PAGE_BYTES), .next = pages};
	for (size_t i = 0; i < THUNKS; i++) {
		size_t at = i * THUNK_BYTES;

		put(memory, &at, "\x4c\x8d\x1d", 3, PAGE_BYTES - 7);
		put(memory, &at, "\xff\x25", 2, (int32_t)(PAGE_BYTES + THUNKS * THUNK_BYTES - at) - 6);
	}
	memcpy(&page->data[THUNKS], &to, sizeof to);
	if (mprotect(memory, PAGE_BYTES, PROT_READ | PROT_EXEC) != 0)
		return NULL;
	pages = page;
	return page;
}

static bool is_equal(const struct thunk *a, const struct thunk *b)
{
	return a->method == b->method && a->stack_bytes == b->stack_bytes && a->loads == b->loads;
}

/* Under the lock. */
static void *find(const struct thunk *wanted)
{
	for (const struct page *page = pages; page; page = page->next)
		for (size_t i = 0; i < page->used; i++)
			if (is_equal(&page->data[i], wanted))
				return page->code + i * THUNK_BYTES;
	return NULL;
}

/* Under the lock. NULL without memory. */
static void *add(const struct thunk *wanted)
{
	struct page *page = pages && pages->used < THUNKS ? pages : page_new();

	if (!page)
		return NULL;
	page->data[page->used] = *wanted;
	return page->code + page->used++ * THUNK_BYTES;
}

/* NULL without memory. */
static void *thunk_of(const struct thunk *wanted)
{
	void *ret;

	pthread_mutex_lock(&lock);
	ret = find(wanted);
	if (!ret)
		ret = add(wanted);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* ---- methods ---- */

/* Bytes of the arguments of a method that are passed on the stack. descriptor: (TYPES)TYPE. */
static uint32_t stack_bytes(const char *descriptor)
{
	size_t integers = 0, floats = 0, words = 0;

	for (const char *s = descriptor + 1; *s != ')'; s++) {
		if (*s == 'F' || *s == 'D')
			words += floats++ >= FLOAT_REGISTERS;
		else
			words += integers++ >= INTEGER_REGISTERS;
		while (*s == '[')
			s++;
		if (*s == 'L')
			s += strcspn(s, ";");
	}
	return (uint32_t)((words + 1) / 2 * 16);
}

/* Is the class of the JDK one that loads libraries? Its methods are called by the application's own call. */
static bool is_of_loader(const char *class_signature)
{
	return strncmp(class_signature, "Ljdk/internal/loader/", strlen("Ljdk/internal/loader/")) == 0 ||
	       strcmp(class_signature, "Ljava/lang/ClassLoader$NativeLibrary;") == 0;
}

/* A class binds its first native method when it is initialised. */
static void see_jdk_class(jclass class, const char *signature)
{
	if (strcmp(signature, "Ljava/lang/VirtualThread;") == 0 && !atomic_flag_test_and_set(&has_virtual))
		jvm_hook_begin_virtual(class);
}

/* False: it is the JDK's, and may stay as it is. */
static bool is_wanted(jvmtiEnv *jvmti, JNIEnv *env, jmethodID method, struct thunk *ret)
{
	jclass class = NULL;
	jobject loader = NULL;
	char *signature = NULL;
	bool is_known = (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) == JVMTI_ERROR_NONE &&
			(*jvmti)->GetClassLoader(jvmti, class, &loader) == JVMTI_ERROR_NONE &&
			(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE;

	ret->loads = is_known && !loader && is_of_loader(signature);
	if (is_known && !loader)
		see_jdk_class(class, signature);
	is_known &= loader || ret->loads;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*env)->DeleteLocalRef(env, loader);
	(*env)->DeleteLocalRef(env, class);
	return is_known;
}

static void JNICALL method_is_bound(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address,
				    void **ret)
{
	struct thunk wanted = {.method = address};
	char *descriptor = NULL;
	void *thunk;

	(void)thread;
	thunk = jvm_thread_start_bound(address);
	if (thunk) {
		*ret = thunk;
		return;
	}
	/* Very early there is no Java. */
	if (!env || !is_wanted(jvmti, env, method, &wanted) ||
	    (*jvmti)->GetMethodName(jvmti, method, NULL, &descriptor, NULL) != JVMTI_ERROR_NONE)
		return;
	wanted.stack_bytes = stack_bytes(descriptor);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	thunk = thunk_of(&wanted);
	if (thunk)
		*ret = thunk;
	else
		jvm_log_of("a native method", "contexts begin at [thread]: there is no memory for code");
}

/* ---- start ---- */

bool jvm_native_code_prepare(const struct jvmtiInterface_1_ **jvmti)
{
	const jvmtiCapabilities wanted = {.can_generate_native_method_bind_events = 1};
	Dl_info info;

	tools = jvmti;
	jvm_thread_start_prepare(jvmti);
	return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE && dladdr(&pages, &info) &&
	       dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

void jvm_native_code_callbacks(void *callbacks)
{
	((jvmtiEventCallbacks *)callbacks)->NativeMethodBind = method_is_bound;
}

/* The prefix of the running thread's native code; 0: it has none. */
static jint prefix(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	if (!wm1_thread_state.top && !wm1_thread_state.origin)
		return 0;
	return (jint)wmrt_capture(WM_SITE_FOREIGN).prefix;
}

bool jvm_native_code_begin(const struct JNINativeInterface_ **env)
{
	static const JNINativeMethod native = {(char *)"prefix", (char *)"()I", (void *)prefix};

	if (jvm_register_natives(env, "dev/waymark/agent/NativeCode", &native, 1))
		java_class = jvm_find_class(env, "dev/waymark/agent/NativeCode");
	enter = jvm_find_static(env, java_class, "enter", "()J");
	leave = jvm_find_static(env, java_class, "leave", "(I)V");
	if (!enter || !leave)
		return false;
	atomic_store(&is_ready, true);
	return true;
}
