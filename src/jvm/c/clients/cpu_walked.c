/*
 * cpu_walked.c - the client `cpu` where contexts are walks: a tick of its CPU time walks the stack of each thread, wherever that is. A sample's
 * value is the time since the thread's last one.
 *
 * A tick records methods without their names, but for those of classes that may be unloaded (method_names.h). A thread of the agent's puts
 * names into what is recorded.
 */
#include <errno.h>
#include <jvmti.h>
#include <linux/prctl.h>
#include <string.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/base/pause.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/clients/ticker.h"
#include "jvm/c/walk/code_ranges.h"
#include "jvm/c/walk/java_anchor.h"
#include "jvm/c/walk/java_walker.h"
#include "jvm/c/walk/method_names.h"
#include "jvm/c/walk/native_between.h"
#include "jvm/c/walk/sampled_threads.h"
#include "jvm/c/walk/thread_ids.h"
#include "jvm/c/walk/walk.h"
#include "recorder/clock.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/sys.h"
#include "recorder/task.h"
#include "waymark/abi.h"

enum {
	SECOND_NS = 1000000000,
	TASK_NAME_BYTES = 16, /* of the kernel */
	NAMES_HZ = 10,
};

static const struct java_walker *const walker = &java_walker_async;
/* Written by run, before the first tick. */
static uint64_t period_ns;
static JavaVM *machine;

/* ---- names ---- */

static void complete_names(jvmtiEnv *jvmti, JNIEnv *env)
{
	(void)jvmti;
	jvm_method_names_complete(env);
}

static struct jvm_ticker names = {.name = "waymark names", .tick = complete_names, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- a tick ---- */

/* What threads of the virtual machine are, by their names, of which the kernel keeps 15 bytes: without the numbers of equal ones. */
static void label_thread(char label[TASK_NAME_BYTES + 2])
{
	char name[TASK_NAME_BYTES] = "";
	size_t len;

	wmrt_sys3(SYS_prctl, PR_GET_NAME, (long)name, 0);
	len = strnlen(name, sizeof name - 1);
	while (len > 1 && ((name[len - 1] >= '0' && name[len - 1] <= '9') || name[len - 1] == '#'))
		len--;
	label[0] = '[';
	memcpy(label + 1, name, len);
	label[len + 1] = ']';
	label[len + 2] = '\0';
}

/* A compiler's thread can run Java code, and has other reasons for having none while garbage is collected. */
static bool is_compiler(const char *label)
{
	return strncmp(label, "[C1 Comp", 8) == 0 || strncmp(label, "[C2 Comp", 8) == 0;
}

/* What is known of a thread without a Java frame: which of the virtual machine's it is, or why the walk has found none. */
static const char *describe(struct java_walk *w, char label[TASK_NAME_BYTES + 2])
{
	label_thread(label);
	w->is_idle |= !w->is_java || is_compiler(label);
	return w->is_idle ? label : w->leaf;
}

/* Where the walks end that have not come to the outermost frame, or to Java code; NULL: that one has. */
static const char *gap_of(const struct java_walk *w)
{
	if (!w->native->count || (w->count ? w->is_joined : w->native->end == WALK_COMPLETE || !w->is_idle))
		return NULL;
	return w->native->end == WALK_TOO_DEEP ? "[too deep]" : "[no unwind data]";
}

/* The frames to the innermost native ones between Java frames; the frames above those are the first *ret_count. */
static uint32_t prefix_of_outer(const struct java_walk *w, size_t *ret_count)
{
	uint32_t prefix = w->is_cut ? WM_PREFIX_TOO_DEEP : jvm_walk_root();
	size_t count = w->count;

	for (size_t i = w->between_count; i-- > 0 && prefix != WM_PREFIX_LOST;) {
		const struct jvm_native_between *between = &w->memory->between[i];

		prefix = jvm_walk_prefix(prefix, w->frames + between->below, count - between->below, NULL);
		prefix = jvm_native_frames_prefix(&between->native, prefix);
		count = between->below;
	}
	*ret_count = count;
	return prefix;
}

static wm_context context_of(const struct java_walk *w, const char *leaf, const char *gap)
{
	size_t count;
	uint32_t outer = prefix_of_outer(w, &count), prefix;

	if (!w->native->count)
		return jvm_walk_context(outer, w->frames, count, leaf);
	prefix = jvm_walk_prefix(outer, w->frames, count, leaf);
	if (gap)
		prefix = jvm_walk_prefix(prefix, NULL, 0, gap);
	return jvm_native_frames_context(w->native, prefix, w->is_idle && !gap);
}

static bool has_guess(const struct java_walk *w)
{
	bool ret = w->native->has_guess;

	for (size_t i = 0; i < w->between_count; i++)
		ret |= w->memory->between[i].native.has_guess;
	return ret;
}

/* The recording has the numbers however the process ends. */
static void count_sample(const struct java_walk *w, bool has_gap)
{
	struct wmk_header *header = wmrt_file_header();

	if (!header)
		return;
	header->sample_period_ns = period_ns;
	__atomic_fetch_add(&header->samples, 1, __ATOMIC_RELAXED);
	if (w->is_cut || has_gap || (!w->count && !w->is_idle))
		__atomic_fetch_add(&header->samples_cut, 1, __ATOMIC_RELAXED);
	if (has_guess(w))
		__atomic_fetch_add(&header->samples_guessed, 1, __ATOMIC_RELAXED);
}

static void on_tick(void *context, struct jvm_sampled_thread *thread)
{
	struct jvm_native_frames native;
	struct java_walk w = {.context = context,
			      .native = &native,
			      .memory = &thread->native,
			      .frames = thread->frames,
			      .max = JVM_SAMPLED_FRAMES};
	uint64_t now_ns = wmrt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	char label[TASK_NAME_BYTES + 2];
	const char *leaf, *gap;
	int saved = errno;

	if (!jvm_gate_enter())
		return;
	jvm_native_frames_walk(&thread->native, context, &native);
	walker->walk(&w);
	leaf = w.count ? w.leaf : describe(&w, label);
	gap = gap_of(&w);
	wmrt_event(wmrt_in_task(context_of(&w, leaf, gap)), "cpu", now_ns - thread->counted_ns);
	thread->counted_ns = now_ns;
	count_sample(&w, gap != NULL);
	jvm_gate_leave();
	errno = saved;
}

/* ---- events ---- */

static void JNICALL thread_starts(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	(void)jvmti, (void)thread;
	jvm_thread_name_here(env);
	jvm_sampled_threads_add();
}

static void JNICALL thread_ends(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	(void)jvmti, (void)env, (void)thread;
	jvm_sampled_threads_remove();
}

/* While nobody listens, AsyncGetCallTrace finds nothing. */
static void JNICALL class_loads(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)jvmti, (void)env, (void)thread, (void)class;
}

static void JNICALL class_is_prepared(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)jvmti, (void)thread;
	jvm_method_names_prepare(env, class);
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->ThreadStart = thread_starts;
	callbacks->ThreadEnd = thread_ends;
	callbacks->ClassLoad = class_loads;
	callbacks->ClassPrepare = class_is_prepared;
	jvm_code_ranges_listen(callbacks);
}

static bool load(jvmtiEnv *jvmti, int32_t number)
{
	(void)jvmti, (void)number;
	return jvm_code_ranges_init();
}

/* Those that were there before the events were enabled. */
static bool learn_loaded(jvmtiEnv *jvmti, JNIEnv *env)
{
	jclass *classes = NULL;
	jint count = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < count; i++) {
		jvm_method_names_prepare(env, classes[i]);
		(*env)->DeleteLocalRef(env, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	return true;
}

/* Java's names, of which the kernel has 15 bytes. */
static void name_threads(jvmtiEnv *jvmti, JNIEnv *env)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++) {
		uint32_t tid = jvm_thread_id(env, threads[i]);

		if (tid) {
			jvm_thread_name(env, threads[i], tid);
			jvm_sampled_threads_name(tid);
		}
		(*env)->DeleteLocalRef(env, threads[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

static bool run(jvmtiEnv *jvmti, JNIEnv *env, int32_t number)
{
	period_ns = SECOND_NS / (uint32_t)number;
	if ((*env)->GetJavaVM(env, &machine) != JNI_OK)
		return false;
	jvm_java_anchor_init(machine, env);
	jvm_native_frames_init(jvm_java_anchor_code());
	jvm_native_between_init(jvmti);
	if (!walker->init(machine) || !learn_loaded(jvmti, env) || !jvm_code_ranges_learn(jvmti) ||
	    !jvm_ticker_begin(&names, jvmti, env, NAMES_HZ) || !jvm_sampled_threads_begin(period_ns, on_tick))
		return false;
	jvm_thread_name_here(env);
	jvm_sampled_threads_add();
	name_threads(jvmti, env);
	return true;
}

static void end(void)
{
	JNIEnv *env = NULL;

	jvm_sampled_threads_end();
	jvm_ticker_end(&names);
	if (machine && (*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) == JNI_OK)
		jvm_method_names_complete(env);
}

const struct jvm_client jvm_client_cpu_walked = {
	.capabilities = {{{.can_generate_compiled_method_load_events = 1}, "can_generate_compiled_method_load_events"}},
	.events = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
		   JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		   JVMTI_EVENT_DYNAMIC_CODE_GENERATED},
	.listen = listen,
	.load = load,
	.run = run,
	.end = end,
};
