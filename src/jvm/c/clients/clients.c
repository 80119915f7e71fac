/*
 * clients.c - JVMTI's events become the recorder's.
 *
 * Callbacks run in the thread that has raised the event. They run Java code, for which it may be short of stack, only to compare, and where
 * a context is doubtful.
 */
#include "jvm/c/clients/clients.h"

#include <jvmti.h>
#include <math.h>
#include <time.h>

#include "jvm/c/clients/cpu.h"
#include "jvm/c/base/say.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/contexts/thread_state.h"
#include "jvm/c/base/thrown.h"
#include "recorder/event.h"
#include "recorder/text.h"
#include "runtime/contexts/capture.h"

enum {
	FRAMES_BYTES = 512,
};

/* Written before the first event. */
static int32_t alloc_bytes;
static jclass oracle; /* NULL: nothing is compared */
static jmethodID check_event, check_contention;
static jclass java_clients;
static jmethodID settle;
static jfieldID thrown; /* of Thread */
static jclass stack_overflow;
/* Of the running thread. */
static _Thread_local uint32_t paused __attribute__((tls_model("initial-exec")));
/* The frame of the outermost pause. */
static _Thread_local uintptr_t paused_at __attribute__((tls_model("initial-exec")));
/* For the monitor that it waits for. */
static _Thread_local struct {
	bool is_there;
	uint64_t since_ns;
	wm_context context;
} wait __attribute__((tls_model("initial-exec")));

/*
 * A stack overflow may take the call away that would resume. A pause ends with the frame that has made it: what that frame calls is further
 * down than the pause's own frame, but for the size of a frame or two.
 */
static bool is_paused(uintptr_t frame)
{
	if (paused && frame > paused_at + FRAMES_BYTES)
		paused = 0;
	return paused;
}

__attribute__((noinline)) void jvm_clients_pause(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (!is_paused(frame))
		paused_at = frame;
	paused++;
}

void jvm_clients_resume(void)
{
	if (paused)
		paused--;
}

/* ---- contexts ---- */

/* False: the event is our own, or there is no memory. */
static bool begin_event(JNIEnv *env)
{
	if (is_paused((uintptr_t)__builtin_frame_address(0)) ||
	    (*env)->EnsureLocalCapacity(env, JVM_THREAD_REFERENCES) != 0)
		return false;
	jvm_clients_pause();
	jvm_thread_name_here(env);
	return true;
}

/* A static Java method without arguments. What it throws or pauses is undone. */
static void run_java(JNIEnv *env, jclass class, jmethodID method)
{
	uint32_t before = paused;

	(*env)->CallStaticVoidMethod(env, class, method);
	jvm_drop_thrown(env);
	paused = before;
}

/* Of the running thread. check: Oracle's method for the event; NULL: it is not to be compared. */
static wm_context context_here(JNIEnv *env, jthread thread, jmethodID check)
{
	struct jvm_thread_state state;

	jvm_thread_state_read(env, thread, &state);
	if (jvm_thread_state_is_doubtful(env, &state)) {
		run_java(env, java_clients, settle);
		jvm_thread_state_read(env, thread, &state);
	}
	if (oracle && check)
		run_java(env, oracle, check);
	if (jvm_thread_state_is_native(&state))
		return wmrt_capture(WM_SITE_FOREIGN);
	return jvm_thread_state_context(env, &state);
}

/* ---- allocations ---- */

/*
 * Bytes that an allocation stands for. The virtual machine samples one when a random number of bytes was allocated, which is `interval`
 * on average and distributed geometrically: one of `size` bytes with the probability 1 - e^(-size / interval).
 */
static uint64_t sampled_bytes(jlong size, int32_t interval)
{
	return interval ? (uint64_t)llround((double)size / -expm1(-(double)size / interval)) : (uint64_t)size;
}

static void JNICALL object_allocated(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass class,
				     jlong size)
{
	(void)jvmti, (void)object, (void)class;
	if (!begin_event(env))
		return;
	wmrt_event(context_here(env, thread, check_event), "alloc", sampled_bytes(size, alloc_bytes));
	jvm_clients_resume();
}

/* ---- contention ---- */

static uint64_t now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The context is that of before the wait, which the time for making it is no part of. */
static void JNICALL monitor_is_taken(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	(void)jvmti, (void)object;
	if (!begin_event(env))
		return;
	wait.context = context_here(env, thread, check_contention);
	wait.is_there = true;
	wait.since_ns = now_ns();
	jvm_clients_resume();
}

static void JNICALL monitor_is_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	if (is_paused((uintptr_t)__builtin_frame_address(0)) || !wait.is_there)
		return;
	wait.is_there = false;
	wmrt_event(wait.context, "contention", now_ns() - wait.since_ns);
}

/* ---- exceptions ---- */

/* Is it thrown on only, by code that the rewriter has marked? Each mark is for the next event. */
static bool is_passed_on(JNIEnv *env, jthread thread, jobject exception)
{
	jobject passed = (*env)->GetObjectField(env, thread, thrown);

	if (!passed)
		return false;
	(*env)->SetObjectField(env, thread, thrown, NULL);
	return (*env)->IsSameObject(env, passed, exception);
}

static void JNICALL exception_is_thrown(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
					jlocation location, jobject exception, jmethodID catcher, jlocation handler)
{
	bool is_short;

	(void)jvmti, (void)method, (void)location, (void)catcher, (void)handler;
	if (is_passed_on(env, thread, exception) || !begin_event(env))
		return;
	is_short = (*env)->IsInstanceOf(env, exception, stack_overflow);
	wmrt_event(context_here(env, thread, is_short ? NULL : check_event), "exception", 1);
	jvm_clients_resume();
}

/* ---- start ---- */

/* False: the client is switched off, in a line that says why. */
static bool add_capability(jvmtiEnv *jvmti, const jvmtiCapabilities *wanted, const char *client, const char *name)
{
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};

	if ((*jvmti)->AddCapabilities(jvmti, wanted) == JVMTI_ERROR_NONE)
		return true;
	wmrt_text_add(&text, client);
	wmrt_text_add(&text, " is off: the virtual machine does not give ");
	wmrt_text_add(&text, name);
	wmrt_text_add(&text, ", which another agent may have (a debugger)");
	jvm_say(line);
	return false;
}

bool jvm_clients_prepare(const struct jvmtiInterface_1_ **jvmti, struct jvm_options *options)
{
	static const jvmtiCapabilities alloc = {.can_generate_sampled_object_alloc_events = 1},
				       exceptions = {.can_generate_exception_events = 1},
				       contention = {.can_generate_monitor_events = 1};

	options->has_alloc = options->has_alloc &&
			     add_capability(jvmti, &alloc, "alloc", "can_generate_sampled_object_alloc_events");
	options->has_exceptions = options->has_exceptions &&
				  add_capability(jvmti, &exceptions, "exceptions", "can_generate_exception_events");
	options->has_contention = options->has_contention &&
				  add_capability(jvmti, &contention, "contention", "can_generate_monitor_events");
	alloc_bytes = options->alloc_bytes;
	return !options->has_alloc || (*jvmti)->SetHeapSamplingInterval(jvmti, alloc_bytes) == JVMTI_ERROR_NONE;
}

void jvm_clients_callbacks(void *callbacks)
{
	jvmtiEventCallbacks *ret = callbacks;

	ret->SampledObjectAlloc = object_allocated;
	ret->Exception = exception_is_thrown;
	ret->MonitorContendedEnter = monitor_is_taken;
	ret->MonitorContendedEntered = monitor_is_entered;
	ret->ThreadStart = jvm_cpu_thread_starts;
}

static bool is_on(const struct jvm_options *options)
{
	return options->has_alloc || options->has_contention || options->has_exceptions || options->cpu_hz;
}

/* *method: the static one without arguments. NULL: it is not there. */
static jclass find_method(JNIEnv *env, const char *class_name, const char *name, jmethodID *method)
{
	jclass class = (*env)->FindClass(env, class_name);

	*method = class ? (*env)->GetStaticMethodID(env, class, name, "()V") : NULL;
	if (*method)
		return (*env)->NewGlobalRef(env, class);
	(*env)->ExceptionClear(env);
	return NULL;
}

/* The rewriter is to know which. */
static bool start_java(JNIEnv *env, const struct jvm_options *options)
{
	jmethodID start = (*env)->GetStaticMethodID(env, java_clients, "start", "(ZZZ)V");

	if (start)
		(*env)->CallStaticVoidMethod(env, java_clients, start, (jboolean)options->has_alloc,
					     (jboolean)options->has_contention, (jboolean)options->has_exceptions);
	return !jvm_drop_thrown(env) && start;
}

/* Of the virtual machine. */
static bool find_throwables(JNIEnv *env)
{
	jclass thread = (*env)->FindClass(env, "java/lang/Thread");
	jclass class = (*env)->FindClass(env, "java/lang/StackOverflowError");

	thrown = thread ? (*env)->GetFieldID(env, thread, "waymark$thrown", "Ljava/lang/Throwable;") : NULL;
	stack_overflow = class ? (*env)->NewGlobalRef(env, class) : NULL;
	if (thrown && stack_overflow)
		return true;
	(*env)->ExceptionClear(env);
	return false;
}

static bool find_java(JNIEnv *env, const struct jvm_options *options)
{
	java_clients = find_method(env, "dev/waymark/agent/Clients", "settle", &settle);
	if (options->is_checked)
		oracle = find_method(env, "dev/waymark/agent/Oracle", "checkEvent", &check_event);
	if (oracle)
		check_contention = (*env)->GetStaticMethodID(env, oracle, "checkContention", "()V");
	return java_clients && find_throwables(env) && (oracle || !options->is_checked) && start_java(env, options);
}

static bool enable(jvmtiEnv *jvmti, bool is_wanted, jvmtiEvent event)
{
	return !is_wanted || (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event, NULL) == JVMTI_ERROR_NONE;
}

/*
 * One environment alone has can_suspend: a debugger that does not get it when it is loaded ends the virtual machine. So it is asked for when
 * all agents are loaded. Classes are rewritten as with this client, also without it: a cache is for the one and the other.
 */
static bool begin_cpu(jvmtiEnv *jvmti, JNIEnv *env, const struct jvm_options *options)
{
	static const jvmtiCapabilities suspend = {.can_suspend = 1}, time = {.can_get_thread_cpu_time = 1};

	if (!add_capability(jvmti, &suspend, "cpu", "can_suspend") ||
	    !add_capability(jvmti, &time, "cpu", "can_get_thread_cpu_time"))
		return true;
	return jvm_cpu_prepare(env) && enable(jvmti, true, JVMTI_EVENT_THREAD_START) &&
	       jvm_cpu_begin(jvmti, env, options->cpu_hz, options->is_checked);
}

bool jvm_clients_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
		       const struct jvm_options *options)
{
	return !is_on(options) || (jvm_thread_state_init(env, options->is_lucce) && find_java(env, options) &&
				   enable(jvmti, options->has_alloc, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC) &&
				   enable(jvmti, options->has_exceptions, JVMTI_EVENT_EXCEPTION) &&
				   enable(jvmti, options->has_contention, JVMTI_EVENT_MONITOR_CONTENDED_ENTER) &&
				   enable(jvmti, options->has_contention, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED) &&
				   (!options->cpu_hz || begin_cpu(jvmti, env, options)));
}
