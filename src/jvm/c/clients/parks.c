/* parks.c - takes the context before a park, and the time around it. */
#include "jvm/c/clients/parks.h"

#include <jvmti.h>
#include <stdatomic.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/base/java.h"
#include "jvm/c/base/rebind.h"
#include "jvm/c/clients/event.h"
#include "recorder/clock.h"
#include "recorder/process.h"

typedef void(JNICALL *park_function)(JNIEnv *env, jobject unsafe, jboolean is_absolute, jlong time);

/* Written by begin, before the method is bound. */
static jvmtiEnv *tools;
static JavaVM *machine;
static jclass unsafe_class;
static jfieldID blocker_of;
static jclass lock_classes[3], latch_class;
static park_function own_park;
static _Atomic bool is_on;

/* ---- a park ---- */

/* A lock that others have; a latch, a condition or a future is none. */
static bool is_lock(JNIEnv *env, jobject blocker)
{
	if (!blocker || (*env)->IsInstanceOf(env, blocker, latch_class))
		return false;
	for (size_t i = 0; i < sizeof lock_classes / sizeof *lock_classes; i++)
		if ((*env)->IsInstanceOf(env, blocker, lock_classes[i]))
			return true;
	return false;
}

struct wait {
	wm_context context;
	const char *name;
	uint32_t generation; /* of the recording: what waits longer than that is in none */
};

/* False: it is no event. */
static bool begin_wait(JNIEnv *env, struct wait *ret)
{
	jthread thread = NULL;
	jobject blocker;
	jclass class;

	if (!atomic_load(&is_on) || !jvm_event_begin(env))
		return false;
	(*tools)->GetCurrentThread(tools, &thread);
	blocker = thread ? (*env)->GetObjectField(env, thread, blocker_of) : NULL;
	class = blocker ? (*env)->GetObjectClass(env, blocker) : NULL;
	ret->name = is_lock(env, blocker) ? "contention" : "parked";
	ret->context = jvm_event_context(env, thread, JVM_CHECK_NOT, class);
	ret->generation = wmrt_process.generation;
	(*env)->DeleteLocalRef(env, class);
	(*env)->DeleteLocalRef(env, blocker);
	(*env)->DeleteLocalRef(env, thread);
	jvm_event_end();
	return true;
}

/* The context is that of before the wait, which the time for making it is no part of. */
static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean is_absolute, jlong time)
{
	struct wait wait;
	bool is_event = begin_wait(env, &wait);
	uint64_t since_ns = is_event ? wmrt_now_ns() : 0;

	own_park(env, unsafe, is_absolute, time);
	if (!is_event || !jvm_gate_enter())
		return;
	if (wait.generation == wmrt_process.generation)
		wmrt_event(wait.context, wait.name, wmrt_now_ns() - since_ns);
	jvm_gate_leave();
}

/* ---- begin and end ---- */

static bool find_all(jvmtiEnv *jvmti, JNIEnv *env)
{
	static const char *const names[] = {"java/util/concurrent/locks/AbstractQueuedSynchronizer",
					    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
					    "java/util/concurrent/locks/StampedLock"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		lock_classes[i] = jvm_find_class(env, names[i]);
	latch_class = jvm_find_class(env, "java/util/concurrent/CountDownLatch$Sync");
	blocker_of = jvm_find_field(env, "java/lang/Thread", "parkBlocker", "Ljava/lang/Object;");
	unsafe_class = jvm_find_class(env, "jdk/internal/misc/Unsafe");
	return lock_classes[0] && lock_classes[1] && lock_classes[2] && latch_class && blocker_of && unsafe_class &&
	       (*env)->GetJavaVM(env, &machine) == JNI_OK &&
	       jvm_rebind_find(jvmti, env, unsafe_class, "park", "(ZJ)V", (void **)&own_park);
}

bool jvm_parks_begin(jvmtiEnv *jvmti, JNIEnv *env)
{
	static bool is_known;

	tools = jvmti;
	is_known = is_known || find_all(jvmti, env);
	if (!is_known)
		return false;
	atomic_store(&is_on, true);
	return jvm_rebind(env, unsafe_class, "park", "(ZJ)V", (void *)park);
}

void jvm_parks_end(void)
{
	JNIEnv *env = NULL;

	if (atomic_exchange(&is_on, false) && (*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) == JNI_OK)
		jvm_rebind(env, unsafe_class, "park", "(ZJ)V", (void *)own_park);
}
